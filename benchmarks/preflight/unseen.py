"""Bugs that no detector was written for, and odd things that are right, put to preflight and to the ladder.

    python benchmarks/preflight/unseen.py [later-]environment|[later-]reward|[later-]trainers [--only TEXT] [--jobs 1]
                                          [--json FILE] [--ladder] [--ladder-only ID ...] [--budget 3] [--seed 0]

The lists stand in tests/preflight/unseen/*.toml and tests/probes/unseen_mutants.toml, the later ones in
tests/preflight/later/*.toml and tests/probes/later_mutants.toml; all were committed before a detector saw one of them.
A whole later list without `--json` is its first score: see first_score.py. *Caught*: a finding at warning or above.
*Named*: one of the names of the list fired and no error of another name stands before it; of a trainer, the first
finding's component is the list's. Something harmless must have no finding at warning or above. With `--ladder` trainers
in which the invariants find nothing are trained.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.preflight.first_score import AlreadyScoredError, FirstScore  # noqa: E402
from benchmarks.preflight.planted_environments import LIMITS  # noqa: E402
from benchmarks.preflight.planted_rewards import inspected, shaping_faults  # noqa: E402
from benchmarks.probes.mutants import by_invariants, by_probes, look  # noqa: E402
from firstbreak.isolation import Limits  # noqa: E402
from firstbreak.preflight.environment.api import inspect_environment  # noqa: E402
from firstbreak.preflight.policy.api import inspect_policy  # noqa: E402

LISTS = {
    "environment": ROOT / "tests" / "preflight" / "unseen" / "environment.toml",
    "reward": ROOT / "tests" / "preflight" / "unseen" / "reward.toml",
    "trainers": ROOT / "tests" / "probes" / "unseen_mutants.toml",
    "later-environment": ROOT / "tests" / "preflight" / "later" / "environment.toml",
    "later-reward": ROOT / "tests" / "preflight" / "later" / "reward.toml",
    "later-trainers": ROOT / "tests" / "probes" / "later_mutants.toml",
}
Entry = dict[str, Any]


def package(family: str) -> str:
    """The package that holds what the entries of a list stand for."""
    return f"tests.preflight.{'later' if family.startswith('later-') else 'unseen'}"


def entries(family: str) -> list[Entry]:
    """All entries of a list; `kind` says whether one is a bug or harmless."""
    tables = tomllib.loads(LISTS[family].read_text("utf-8"))
    return [e | {"kind": "harmless" if table == "harmless" else "bug"} for table, rows in tables.items() for e in rows]


def summed(entry: Entry, seen: list[Any]) -> Entry:
    """What inspections say of one entry, judged by its names."""
    found = [f for one in seen for f in one.findings if f.severity.rank and f.consequence_of is None]
    errors = [f.name for f in found if f.severity.value == "error"]
    told = [(f.name, f.message) for f in found]
    return named(entry, told, errors[:1], [e for one in seen for e in one.errors])


def named(entry: Entry, told: list[tuple[str, str]], first: list[str], errors: list[Any]) -> Entry:
    """One row of the results."""
    right, names = entry.get("names", []), [name for name, _ in told]
    return {
        "id": entry["id"],
        "kind": entry["kind"],
        "caught": bool(told),
        "named": any(n in right for n in names) and all(n in right for n in first),
        "expected": right,
        "found": names,
        "said": [message for _, message in told][:3],
        "errors": [str(e) for e in errors],
    }


def environment(entry: Entry, args: argparse.Namespace) -> Entry:
    """Inspect the environment, or the policy where the bug is there."""
    made = f"{package(args.family)}.catalogue"
    catalogue = import_module(made)
    name, policy = (catalogue.attribute(kind, entry["id"]) for kind in (entry["kind"], "policy"))
    if policy in catalogue.load():
        limits = Limits(seconds=120.0, silence_s=120.0)
        return summed(entry, [inspect_policy(f"{made}:{name}", policy=f"{made}:{policy}", limits=limits)])
    return summed(entry, [inspect_environment(f"{made}:{name}", budget_s=args.budget, limits=LIMITS)])


def reward(entry: Entry, args: argparse.Namespace) -> Entry:
    """Inspect what a user would hand over."""
    case = import_module(f"{package(args.family)}.reward_cases").load()[entry["id"], entry["kind"]]()
    if case.shaping is not None:
        return named(entry, shaping_faults(case.shaping, "twin" if entry["kind"] == "harmless" else "bug"), [], [])
    return summed(entry, inspected(case))


def trainer(entry: Entry, args: argparse.Namespace) -> Entry:
    """Put one trainer to the invariants and, where they say nothing and it is asked for, to the ladder."""
    module, name = entry.get("module", "unseen_harmless"), entry["id"].replace("-", "_")
    target = f"tests.probes.{module}:{name}"
    looks = [] if args.ladder_only else [look(("invariants", by_invariants), target, args.seed)]
    if args.ladder_only or (args.ladder and not looks[0]["fired"]):
        train = target if entry["subject"].startswith("sb3") else f"tests.probes.{module}:small_{name}"
        looks.append(look(("probes", by_probes), train, args.seed))
    fired = looks[-1]["fired"]
    right = [entry[k] for k in ("component",) if k in entry] + entry.get("also_right", [])
    return {
        "id": entry["id"],
        "kind": entry["kind"],
        "subject": entry["subject"],
        "caught": bool(fired),
        "named": bool(fired) and fired[0]["component"] in right,
        "by": looks[-1]["stage"] if fired else None,
        "expected": right,
        "found": [f"{f['name']} [{f['component']}]" for f in fired],
        "said": [f["message"] for f in fired][:3],
        "errors": [e for k in looks for e in k["errors"]] + [k["died"] for k in looks if k["died"]],
        "seconds": sum(k["seconds"] for k in looks),
    }


FAMILIES: Mapping[str, Callable[[Entry, argparse.Namespace], Entry]] = {
    "environment": environment,
    "reward": reward,
    "trainers": trainer,
    "later-environment": environment,
    "later-reward": reward,
    "later-trainers": trainer,
}


def told(row: Entry) -> str:
    """One row as a line."""
    if row["kind"] == "bug":
        mark = "named " if row["named"] else "caught" if row["caught"] else "MISSED"
    else:
        mark = "ALARM " if row["caught"] else "quiet "
    said = "" if mark in ("named ", "quiet ") else (row["said"][:1] or "")
    return " ".join(str(part) for part in (mark, row["kind"], row["id"], row["found"], said, *row["errors"]))


def scored(asked: list[Entry], args: argparse.Namespace, first: FirstScore | None) -> list[Entry]:
    """The rows of the entries asked for; those that a first score knows already are not scored again."""
    if first is not None:
        first.refuse_if_there()
    known = {(row["id"], row["kind"]) for row in first.rows()} if first is not None else set[tuple[str, str]]()
    left = [e for e in asked if (e["id"], e["kind"]) not in known]
    rows: list[Entry] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda e: FAMILIES[args.family](e, args), left):
            rows.append(row)
            print(told(row), flush=True)
            if first is not None:
                first.keep(row)
    return rows if first is None else first.close([(e["id"], e["kind"]) for e in asked])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=tuple(FAMILIES))
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--ladder-only", nargs="*", metavar="ID", help="these trainers, and the ladder alone")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    os.chdir(ROOT)
    asked = [e for e in entries(args.family) if args.only in e["id"] and e["id"] in (args.ladder_only or [e["id"]])]
    whole = not (args.only or args.json or args.ladder_only)
    first = FirstScore(args.family) if whole and args.family.startswith("later-") else None
    try:
        rows = scored(asked, args, first)
    except AlreadyScoredError as error:
        print(error, file=sys.stderr)
        return 1
    bugs, harmless = ([r for r in rows if r["kind"] == kind] for kind in ("bug", "harmless"))
    print(
        f"{sum(r['caught'] for r in bugs)} of {len(bugs)} bugs caught, {sum(r['named'] for r in bugs)} named; "
        f"{sum(not r['caught'] for r in harmless)} of {len(harmless)} harmless quiet"
    )
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
