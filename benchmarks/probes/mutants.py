"""Every planted trainer bug (tests/probes/mutants.toml) put to the invariants and, where they say nothing, the probes.

    python benchmarks/probes/mutants.py [--only TEXT] [--subject NAME] [--jobs 1] [--json FILE]
                                        [--invariants-only | --probes-only] [--seed 0]
    python benchmarks/probes/mutants.py --healthy 3

A mutant counts as *caught* when there is a finding at warning or above that is not just its death, and its component
as *right* when the first such finding names the one of the list or one of those said to be fair too. Invariants that
cannot build the trainer, and trainings that raise, count as *died*, which is not caught. `--healthy N` puts the
unmutated trainers to both on N seeds and prints whatever fired. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "probes" / "mutants.toml"
DEATHS = ("trainer-fails",)
"""Findings that only say that a training did not end by itself."""
HEALTHY = {
    "PPO": ("firstbreak.trainers.ppo:PPO", "firstbreak.trainers.ppo:train"),
    "DQN": ("firstbreak.trainers.dqn:DQN", "firstbreak.trainers.dqn:train"),
    "SAC": ("firstbreak.trainers.sac:SAC", "firstbreak.trainers.sac:train"),
    "MM-RKHS": ("firstbreak.trainers.mmrkhs:MMRKHS", "firstbreak.trainers.mmrkhs:train"),
    "PPO, shared trunk, detached": (
        "tests.probes.mutants_ppo:healthy_trunk",
        "tests.probes.mutants_ppo:train_healthy_trunk",
    ),
    "MM-RKHS, sampled MMD": (
        "tests.probes.mutants_mmrkhs:healthy_sampled",
        "tests.probes.mutants_mmrkhs:train_healthy_sampled",
    ),
    **{f"SB3 {name}": (f"sb3:{name}", f"sb3:{name}") for name in ("PPO", "A2C", "DQN", "SAC")},
}
"""The targets of an unmutated trainer, for the invariants and for the probes."""
TWINS = {
    "ppo-trunk-leak-from-critic": "PPO, shared trunk, detached",
    "mmrkhs-mmd-samples-detached": "MM-RKHS, sampled MMD",
    "mmrkhs-mmd-clamped-at-zero": "MM-RKHS, sampled MMD",
}
"""Mutants whose set-up differs from the original's in more than the bug; what fires on that set-up proves nothing."""
Stage = tuple[str, Callable[[str, int], Any]]


def by_invariants(target: str, seed: int) -> Any:
    """Inspect the class `target`."""
    from firstbreak.preflight.invariants.api import inspect_trainer

    return inspect_trainer(target, seed=seed)


def by_probes(target: str, seed: int) -> Any:
    """Climb the ladder with the training function `target`."""
    from firstbreak.probes.api import probe

    return probe(target, seed=seed, jobs=1)


def targets(mutant: dict[str, Any]) -> tuple[str, str]:
    """Where the class and the training function of a mutant are; the ladder itself trains SB3 classes."""
    name, subject = mutant["id"].replace("-", "_"), mutant["subject"]
    if subject.startswith("sb3"):
        return (f"tests.probes.mutants_sb3:{name}",) * 2
    return f"tests.probes.mutants_{subject}:{name}", f"tests.probes.mutants_{subject}:train_{name}"


def not_planted() -> dict[str, str]:
    """Ids of the list that have no place in the reference trainers, and why."""
    from importlib import import_module

    found: dict[str, str] = {}
    for subject in ("ppo", "dqn", "sac", "mmrkhs"):
        found |= import_module(f"tests.probes.mutants_{subject}").NOT_PLANTED
    return found


def look(stage: Stage, target: str, seed: int) -> dict[str, Any]:
    """Put `target` to one stage; what fired at warning or above, the gravest first, and what failed."""
    start = time.monotonic()
    try:
        seen = stage[1](target, seed)
    except Exception as error:
        return {"stage": stage[0], "fired": [], "died": f"{type(error).__name__}: {error}"[:300], "errors": [],
                "seconds": round(time.monotonic() - start, 1)}  # fmt: skip
    ranked = [f for f in seen.findings if f.severity.rank and f.severity.value != "info"]
    ranked = sorted(ranked, key=lambda f: (f.consequence_of is not None, -f.severity.rank))
    death = next((f.message for f in ranked if f.name in DEATHS), None)
    fired = [
        {"name": f.name, "component": f.component.value, "severity": f.severity.value, "message": f.message}
        for f in ranked
        if f.name not in DEATHS
    ]
    early = next((note for note in seen.notes if "ended early" in note), None)
    return {
        "stage": stage[0],
        "fired": fired,
        "died": death or early,
        "errors": [f"{name}: {message}"[:300] for name, message in seen.errors],
        "seconds": round(time.monotonic() - start, 1),
    }


@cache
def false_alarms(name: str, stage: Stage, seed: int) -> frozenset[str]:
    """The findings on an unmutated trainer."""
    seen = look(stage, HEALTHY[name][stage[0] == "probes"], seed)
    return frozenset(f["name"] for f in seen["fired"])


def judged(mutant: dict[str, Any], stages: Sequence[Stage], seed: int) -> dict[str, Any]:
    """Put one mutant to the stages until one of them catches it."""
    looks: list[dict[str, Any]] = []
    for stage in stages:
        looks.append(look(stage, targets(mutant)[stage[0] == "probes"], seed))
        if looks[-1]["fired"] and mutant["id"] in TWINS:
            alarms = false_alarms(TWINS[mutant["id"]], stage, seed)
            looks[-1]["fired"] = [f for f in looks[-1]["fired"] if f["name"] not in alarms]
        if looks[-1]["fired"]:
            break
    last = looks[-1]
    first = last["fired"][0] if last["fired"] else None
    right = [mutant["component"], *mutant["also_right"]]
    return {
        "id": mutant["id"],
        "subject": mutant["subject"],
        "caught": first is not None,
        "by": last["stage"] if first else None,
        "finding": first and first["name"],
        "message": first and first["message"],
        "component": first and first["component"],
        "expected": right,
        "right": first is not None and first["component"] in right,
        "died": next((k["died"] for k in looks if k["died"]), None),
        "errors": [e for k in looks for e in k["errors"]],
        "seconds": round(sum(k["seconds"] for k in looks), 1),
        "looks": looks,
    }


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    mark = "right " if row["right"] else "caught" if row["caught"] else "DIED  " if row["died"] else "MISSED"
    named = f"{row['finding']} [{row['component']}]" if row["caught"] else (row["died"] or "")
    expected = "" if row["right"] else f" (expected {'/'.join(row['expected'])})"
    errors = f" !{len(row['errors'])} checks failed" if row["errors"] else ""
    return f"{mark} {row['id']:42} {row['by'] or '-':10} {row['seconds']:6.1f} s  {named}{expected}{errors}"


def total(name: str, rows: Sequence[dict[str, Any]]) -> str:
    """One row of the totals."""
    n = max(len(rows), 1)
    caught, right = sum(r["caught"] for r in rows), sum(r["right"] for r in rows)
    by = ", ".join(f"{stage} {sum(r['by'] == stage for r in rows)}" for stage in ("invariants", "probes"))
    died = sum(bool(r["died"]) and not r["caught"] for r in rows)
    share = f"caught {caught}/{len(rows)} ({caught / n:.0%}), component right {right}/{len(rows)} ({right / n:.0%})"
    seconds = sum(r["seconds"] for r in rows)
    return f"{name:9} {share}; by {by}; died {died}; {seconds:.0f} s"


def campaign(args: argparse.Namespace, stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """All mutants that were asked for; each inspection is a process of its own, so threads are enough here."""
    left_out = not_planted()
    asked = [
        m
        for m in tomllib.loads(LIST.read_text("utf-8"))["mutant"]
        if args.only in m["id"] and args.subject in ("", m["subject"])
    ]
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda m: judged(m, stages, args.seed), [m for m in asked if m["id"] not in left_out]):
            rows.append(row)
            print(line(row), flush=True)
    for mutant in asked:
        if mutant["id"] in left_out:
            print(f"absent {mutant['id']:42} {left_out[mutant['id']]}")
    print()
    for subject in dict.fromkeys(r["subject"] for r in rows):
        print(total(subject, [r for r in rows if r["subject"] == subject]))
    print(total("all", rows))
    return rows


def healthy(args: argparse.Namespace, stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """The unmutated trainers on several seeds; whatever fires is a false alarm."""
    work = [
        (name, stage, args.seed + i)
        for name in HEALTHY
        if args.only.lower() in name.lower()
        for i in range(args.healthy)
        for stage in stages
    ]
    rows: list[dict[str, Any]] = []

    def one(name: str, stage: Stage, seed: int) -> dict[str, Any]:
        return {"trainer": name, "seed": seed, **look(stage, HEALTHY[name][stage[0] == "probes"], seed)}

    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda w: one(*w), work):
            rows.append(row)
            fired = [f"{f['severity']} {f['name']}: {f['message']}" for f in row["fired"]]
            said = "; ".join([*fired, *([f"died: {row['died']}"] if row["died"] else []), *row["errors"]])
            mark = "ALARM" if fired else "DIED " if row["died"] else "quiet"
            print(f"{mark} {row['trainer']:27} seed {row['seed']} {row['stage']:10} {row['seconds']:6.1f} s  {said}")
    print(f"\n{sum(not r['fired'] and not r['died'] for r in rows)} of {len(rows)} quiet")
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants (or healthy trainers) whose name contains this")
    parser.add_argument("--subject", default="", help="ppo, sac, dqn, mmrkhs, sb3_ppo, sb3_a2c, sb3_dqn or sb3_sac")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--healthy", type=int, metavar="N", default=0, help="seeds of the unmutated trainers instead")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--invariants-only", action="store_true")
    only.add_argument("--probes-only", action="store_true")
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    stages: list[Stage] = []
    if not args.probes_only:
        stages.append(("invariants", by_invariants))
    if not args.invariants_only:
        stages.append(("probes", by_probes))
    rows = (healthy if args.healthy else campaign)(args, stages)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
