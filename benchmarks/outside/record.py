"""Records the runs of a list, one after another; what is there already is left alone.

python -m benchmarks.outside.record             # what is missing; it can be stopped and taken up again
python -m benchmarks.outside.record --only sac  # those with this in their id
python -m benchmarks.outside.record --trial     # each way of being healthy, on a seed that is not recorded
python -m benchmarks.outside.record --list second  # those of the second list

A run is an archive of the files that its trainer wrote, `runs/<id>.tar.xz` (`second_runs` of the second list); how it
was made, and the true return, stand in `manifest.json` beside it, which nothing but the gate and the score reads.
"""

from __future__ import annotations

import argparse
import json
import tarfile
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.outside.gate import learned
from benchmarks.outside.plans import FIRST, FOURTH, LISTINGS, Base, Listing, Plan, bases, plans
from benchmarks.outside.switches import PlannedStop, Planted, Truth
from benchmarks.outside.worlds import maker

RUNS = FIRST.runs
NEVER = 10**12
"""Step of what is not planted."""
TRIAL_SEED = 50
KEPT_POINTS = 120
"""Episodes of the true return that the manifest keeps, spread over the run."""


def record(plan: Plan, folder: Path) -> dict[str, Any]:
    """Make one run, whose log lands in `folder`. Returns its row of the manifest."""
    began, truth = time.process_time(), Truth()
    name = plan.fault.planted if plan.fault else ""
    planted = Planted(name, plan.at if name else NEVER, truth)
    evaluated: list[tuple[int, float]] = []
    try:
        evaluated = train(plan, planted, folder)
    except PlannedStop:
        pass
    except Exception as error:  # the run of a user dies as well; its log ends there
        truth.died = type(error).__name__
        if not plan.fault:
            raise
    return {**row_of(plan), **told(truth), "evaluated": evaluated, "cpu_s": round(time.process_time() - began, 1)}


def train(plan: Plan, planted: Planted, folder: Path) -> list[tuple[int, float]]:
    """Hand the plan to its trainer."""
    import torch

    torch.set_num_threads(1)
    options = plan.healthy.options if plan.healthy else {}
    base, seed, settings = plan.base, plan.seed, plan.settings
    if base.trainer == "rsl_rl":
        from benchmarks.outside import rsl

        rsl.train(settings, seed, planted, folder)
        return []
    if base.trainer == "contrib" or base.trainer.startswith("script_"):
        return of_second(plan, planted, options, folder)
    if base.name in bases(FOURTH):
        return of_fourth(plan, planted, options, folder)
    if on_own_ground(base):
        return of_third(plan, planted, options, folder)
    make = maker(base.task, options, planted, seed)
    if base.trainer == "sb3":
        from benchmarks.outside import stable

        aside = maker(base.task, options, Planted("", NEVER, Truth()), seed)
        given = {"total": base.total, **settings}
        return stable.train(make, base.algorithm, given, seed, planted, folder, aside)
    loop_of(base.trainer).train(make, settings, seed, planted, folder)
    return []


def of_second(plan: Plan, planted: Planted, options: dict[str, Any], folder: Path) -> list[tuple[int, float]]:
    """Hand a plan of the second list to its trainer."""
    from benchmarks.outside import places

    base, seed = plan.base, plan.seed
    given = {"total": base.total, **plan.settings}
    limit = given.pop("eval_limit", None)
    make = places.maker(base.task, options, planted, seed)
    off = Planted("", NEVER, Truth())
    aside = places.maker(base.task, {**options, "max_episode_steps": limit} if limit else options, off, seed)
    if base.trainer == "contrib":
        from benchmarks.outside import contrib

        return contrib.train(make, base.algorithm, given, seed, planted, folder, aside)
    given.pop("total")
    module = loop_of(base.trainer)
    if base.trainer == "script_td3":
        return module.train(make, given, seed, planted, folder, aside)
    module.train(make, given, seed, planted, folder)
    return []


def on_own_ground(base: Base) -> bool:
    """Whether the tasks are those of the third list."""
    return base.trainer.startswith("single.") or base.task in ("Parking", "Steer", "Tank")


def of_third(plan: Plan, planted: Planted, options: dict[str, Any], folder: Path) -> list[tuple[int, float]]:
    """Hand a plan of the third list to its trainer."""
    from benchmarks.outside.single import grounds

    base, seed = plan.base, plan.seed
    make = grounds.maker(base.task, options, planted, seed)
    aside = grounds.maker(base.task, options, Planted("", NEVER, Truth()), seed)
    if base.trainer == "sb3":
        from benchmarks.outside import stable

        return stable.train(make, base.algorithm, {"total": base.total, **plan.settings}, seed, planted, folder, aside)
    return loop_of(base.trainer).train(make, plan.settings, seed, planted, folder, aside)


def of_fourth(plan: Plan, planted: Planted, options: dict[str, Any], folder: Path) -> list[tuple[int, float]]:
    """Hand a plan of the fourth list to its trainer."""
    from benchmarks.outside.fourth import between

    base, seed = plan.base, plan.seed
    make, aside = between.maker(base.task, options, planted, seed), between.aside(base.task, options, seed)
    if base.trainer == "sb3":
        from benchmarks.outside.fourth import stable

        return stable.train(make, base.algorithm, {"total": base.total, **plan.settings}, seed, planted, folder, aside)
    return loop_of(base.trainer).train(make, plan.settings, seed, planted, folder, aside)


def loop_of(trainer: str) -> Any:
    """Return the module of a hand-written loop: its trainer is called by its name."""
    return import_module(f"benchmarks.outside.{trainer}")


def row_of(plan: Plan) -> dict[str, Any]:
    """Return what the manifest holds of a plan."""
    return {
        "id": plan.id, "base": plan.base.name, "algorithm": plan.base.algorithm, "task": plan.base.task,
        "kind": "fault" if plan.fault else "healthy", "name": plan.name, "seed": plan.seed, "at": plan.at,
    }  # fmt: skip


def told(truth: Truth) -> dict[str, Any]:
    """Return what is kept of the true return."""
    episodes = truth.episodes
    thin = episodes[:: max(1, len(episodes) // KEPT_POINTS)]
    late = [score for step, score in episodes if step > 0.8 * truth.steps]
    early = [score for _, score in episodes[: max(2, len(episodes) // 10)]]
    return {
        "steps": truth.steps, "episodes": len(episodes), "died": truth.died, "end": truth.end(),
        "early": summary(early), "late": summary(late), "truth": [[step, round(score, 3)] for step, score in thin],
    }  # fmt: skip


def summary(scores: list[float]) -> list[float]:
    """Return mean, variance and count."""
    n = len(scores)
    mean = sum(scores) / n if n else float("nan")
    return [mean, sum((s - mean) ** 2 for s in scores) / (n - 1) if n > 1 else 0.0, n]


def pack(folder: Path, path: Path) -> None:
    """Put the files of a log into one archive without names, owners or times of this machine."""
    with tarfile.open(path, "w:xz", preset=9) as archive:
        for file in sorted(folder.iterdir()):
            entry = archive.gettarinfo(str(file), arcname=plain(file.name))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            with file.open("rb") as content:
                archive.addfile(entry, content)


def plain(name: str) -> str:
    """Return a file's name without the host's: events.out.tfevents.TIME.HOST.PID.N."""
    parts = name.split(".")
    return ".".join([*parts[:4], "host", *parts[-2:]]) if name.startswith("events.out.tfevents") else name


def read_manifest(listing: Listing = FIRST) -> list[dict[str, Any]]:
    """Return the rows of every manifest: two processes write one each."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(listing.runs.glob("manifest*.json")):
        for row in json.loads(path.read_text("utf-8")):
            found.setdefault(row["id"], row)
    return list(found.values())


def write_manifest(rows: list[dict[str, Any]], path: Path, listing: Listing) -> None:
    """Write one row a line, in the order of the plans."""
    order = {plan.id: place for place, plan in enumerate(plans(listing))}
    rows = sorted(rows, key=lambda row: order[row["id"]])
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", "utf-8")


def missing(only: str, listing: Listing) -> Iterator[Plan]:
    """Yield the plans without a run, each looked for when its turn comes."""
    for plan in plans(listing):
        if only in plan.id and plan.id not in {row["id"] for row in read_manifest(listing)}:
            yield plan


def trials(only: str, listing: Listing) -> list[Plan]:
    """Return one plan of each way of being healthy on each base, with a seed that is not recorded."""
    healthy = {(plan.base.name, plan.name): replace(plan, seed=TRIAL_SEED) for plan in plans(listing) if plan.healthy}
    return [plan for plan in healthy.values() if only in plan.id]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=LISTINGS, default=FIRST.name, help="which list of runs")
    parser.add_argument("--only", default="")
    parser.add_argument("--healthy", action="store_true", help="healthy runs only")
    parser.add_argument("--manifest", default="manifest.json", help="its name, where two processes record")
    parser.add_argument("--trial", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    listing = LISTINGS[args.list]
    listing.runs.mkdir(exist_ok=True)
    if args.trial:
        for plan in trials(args.only, listing):
            with tempfile.TemporaryDirectory() as place:
                row = record(plan, Path(place))
            print(
                f"{plan.id}: {row['early'][0]:.1f} {row['end']:.1f} learned {learned(row)} ({row['cpu_s']} s)",
                flush=True,
            )
        return
    make_missing(listing, args.only, args.healthy, listing.runs / args.manifest)


def make_missing(listing: Listing, only: str, healthy: bool, own: Path) -> None:
    """Record what is missing; the manifest `own` is written after each run."""
    done: list[dict[str, Any]] = []
    before: list[dict[str, Any]] = json.loads(own.read_text("utf-8")) if own.exists() else []
    for plan in missing(only, listing):
        if healthy and plan.fault:
            continue
        with tempfile.TemporaryDirectory() as place:
            row = record(plan, Path(place))
            pack(Path(place), listing.runs / f"{plan.id}.tar.xz")
        done.append(row)
        write_manifest([*before, *done], own, listing)
        spent = sum(one["cpu_s"] for one in done)
        print(f"{len(done)} {plan.id}: {row['end']:.1f} {row['died']} ({row['cpu_s']} s, {spent:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
