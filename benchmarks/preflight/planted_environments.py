"""Every planted environment bug (tests/preflight/planted/environment.toml) and every harmless twin, inspected.

    python benchmarks/preflight/planted_environments.py [--only TEXT] [--budget 3] [--jobs 2] [--json FILE]

A bug counts as *caught* when there is a finding at warning or above, as *named* when one of the checks that
tests/preflight/planted/expected.toml allows for it is among them and nothing unrelated comes first. A twin must have
nothing at warning or above.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.preflight.environment.api import inspect_environment
from firstbreak.preflight.policy.api import inspect_policy

ROOT = Path(__file__).resolve().parents[2]
PLANTED = ROOT / "tests" / "preflight" / "planted"
WHERE = "tests.preflight.planted.catalogue"
LIMITS = Limits(seconds=120.0, silence_s=5.0, memory_bytes=3 << 30)


def bugs() -> list[dict[str, Any]]:
    return tomllib.loads((PLANTED / "environment.toml").read_text("utf-8"))["bug"]


def expected() -> dict[str, list[str]]:
    return tomllib.loads((PLANTED / "expected.toml").read_text("utf-8"))["environment"]


def inspect(bug: dict[str, Any], kind: str, budget_s: float) -> list[Inspection]:
    """The inspections that a user of this bug (or of its twin) would make."""
    sys.path.insert(0, str(ROOT))
    from tests.preflight.planted.catalogue import load

    made, name = load(), bug["id"].replace("-", "_")
    env = f"{WHERE}:{kind}_{name}" if f"{kind}_{name}" in made else f"{WHERE}:env_{name}"
    policy = f"policy_{name}" if kind == "env" else f"twin_policy_{name}"
    expert = f"expert_{name}"
    if policy in made or expert in made:
        given = {"policy": f"{WHERE}:{policy}" if policy in made else None}
        given["expert"] = f"{WHERE}:{expert}" if expert in made else None
        return [inspect_policy(env, **given, limits=Limits(seconds=120.0, silence_s=120.0))]
    return [inspect_environment(env, budget_s=budget_s, limits=LIMITS)]


def judged(bug: dict[str, Any], kind: str, budget_s: float) -> dict[str, Any]:
    seen = inspect(bug, kind, budget_s)
    found = [f for one in seen for f in one.findings if f.severity.rank]
    errors = [e for one in seen for e in one.errors]
    first = next((f.name for f in found if f.severity.value == "error" and f.consequence_of is None), None)
    names = [f.name for f in found if f.consequence_of is None]
    right = expected().get(bug["id"], [])
    named = any(n in right for n in names) and (first is None or first in right)
    return {
        "id": bug["id"],
        "kind": kind,
        "caught": bool(found),
        "named": named,
        "found": names,
        "said": [f.message for f in found][:3],
        "errors": errors,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--no-twins", action="store_true")
    args = parser.parse_args()
    work = [(b, "env") for b in bugs() if args.only in b["id"]]
    if not args.no_twins:
        work += [(b, "twin") for b in bugs() if args.only in b["id"] and b.get("harmless_twin")]
    with ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(lambda w: judged(*w, args.budget), work))
    for row in rows:
        if row["kind"] == "env":
            mark = "named " if row["named"] else "caught" if row["caught"] else "MISSED"
        else:
            mark = "ALARM " if row["caught"] else "quiet "
        print(mark, row["kind"], row["id"], row["found"], row["said"][:1] if mark != "named " else "", *row["errors"])
    planted, twins = ([r for r in rows if r["kind"] == k] for k in ("env", "twin"))
    print(
        f"{sum(r['caught'] for r in planted)} of {len(planted)} bugs caught, {sum(r['named'] for r in planted)} named; "
        f"{sum(not r['caught'] for r in twins)} of {len(twins)} twins quiet"
    )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
