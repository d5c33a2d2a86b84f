"""Every planted reward, shaping and task bug (tests/preflight/planted/reward.toml) put to preflight, and every twin.

    python benchmarks/preflight/planted_rewards.py [--only TEXT] [--jobs 1] [--json FILE] [--no-twins]

A bug counts as *caught* when there is a finding at warning or above (of a shaping term: any fault), as *named* when one
of the names that tests/preflight/planted/expected.toml allows for it is among them and nothing unrelated comes first. A
twin must have nothing at warning or above. Tables are written to a file and read back; environments are played in this
process, because these do no harm. Terms are checked with their potential, and static twins without it as well.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from firstbreak.inspection import Inspection
from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.shaping import check_term
from firstbreak.preflight.task.api import inspect_task

ROOT = Path(__file__).resolve().parents[2]
PLANTED = ROOT / "tests" / "preflight" / "planted"


def bugs() -> list[dict[str, Any]]:
    return tomllib.loads((PLANTED / "reward.toml").read_text("utf-8"))["bug"]


def expected() -> dict[str, list[str]]:
    return tomllib.loads((PLANTED / "expected.toml").read_text("utf-8")).get("reward", {})


def case_of(identifier: str, kind: str) -> Any:
    sys.path.insert(0, str(ROOT))
    from tests.preflight.planted.reward_cases import load

    return load()[identifier, kind]()


def from_table(columns: Mapping[str, Any], case: Any) -> Inspection:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            write = csv.writer(file)
            write.writerow(columns)
            write.writerows(zip(*(list(v) for v in columns.values()), strict=True))
        return inspect_reward(path, components=case.components, gamma=case.gamma)


def inspected(case: Any) -> list[Inspection]:
    """The inspections that a user would make with what this case gives."""
    if case.table is not None:
        return [from_table(case.table, case)]
    if case.returns:
        return [inspect_task(**case.returns)]
    seen = []
    if case.env is not None and case.reward:
        given = {"components": case.components, "metric": case.metric, "gamma": case.gamma}
        seen.append(inspect_reward(case.env, isolate=False, **given))
    if case.env is not None and case.task:
        given = {"expert": case.expert, "goal": case.goal, "episodes": case.episodes}
        seen.append(inspect_task(case.env, isolate=False, **given))
    return seen


def shaping_faults(term: Any, kind: str) -> list[tuple[str, str]]:
    ask = partial(check_term, term.term, term.steps, term.gamma)
    found = [ask(potential=term.potential, dynamic=term.dynamic)]
    if kind == "twin" and not term.dynamic:
        found.append(ask())
    return [(f.name, f.message) for one in found for f in one.faults]


def judged(identifier: str, kind: str) -> dict[str, Any]:
    case = case_of(identifier, kind)
    right = expected().get(identifier, [])
    if case.shaping is not None:
        told = shaping_faults(case.shaping, kind)
        first, errors, noted = None, [], []
    else:
        seen = inspected(case)
        found = [f for one in seen for f in one.findings]
        told = [(f.name, f.message) for f in found if f.severity.rank and f.consequence_of is None]
        noted = [f.name for f in found if not f.severity.rank]
        errors = [e for one in seen for e in one.errors]
        first = next((f.name for f in found if f.severity.value == "error" and f.consequence_of is None), None)
    names = [name for name, _ in told]
    return {
        "id": identifier,
        "kind": kind,
        "caught": bool(told),
        "named": any(n in right for n in names) and (first is None or first in right),
        "found": names,
        "noted": noted,
        "said": [message for _, message in told][:3],
        "errors": errors,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-twins", action="store_true")
    args = parser.parse_args()
    chosen = [b for b in bugs() if args.only in b["id"]]
    work = [(b["id"], "bug") for b in chosen]
    work += [] if args.no_twins else [(b["id"], "twin") for b in chosen if b.get("harmless_twin")]
    with ProcessPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(judged, *zip(*work, strict=True))) if work else []
    for row in rows:
        if row["kind"] == "bug":
            mark = "named " if row["named"] else "caught" if row["caught"] else "MISSED"
        else:
            mark = "ALARM " if row["caught"] else "quiet "
        said = "" if mark == "named " else row["said"][:1] or ""
        print(mark, row["kind"], row["id"], row["found"], said, *row["errors"])
    planted, twins = ([r for r in rows if r["kind"] == k] for k in ("bug", "twin"))
    print(
        f"{sum(r['caught'] for r in planted)} of {len(planted)} bugs caught, {sum(r['named'] for r in planted)} named; "
        f"{sum(not r['caught'] for r in twins)} of {len(twins)} twins quiet"
    )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
