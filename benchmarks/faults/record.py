"""Record the runs of the fault benchmark.

    python benchmarks/faults/record.py --folder F [--only TEXT] [--jobs 2] [--seeds N] [--budget-s N]
        [--twins] [--screen] [--gate] [--healthy] [--ray ADDRESS] [--manifest]

Without a stage (`--twins --screen --gate --healthy`) all are made in this order. A run whose file is there is not made
again, so a recording that is broken off goes on where it was. `--only` takes the ids that hold the text. The manifest,
`gate.json` and `gate.md` (which faults count), and `collapsed.json` (healthy runs that were none) are written at the
end, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# This folder is no place to import from: its modules have the names of packages.
HERE = Path(__file__).resolve().parent
if sys.path[0] == str(HERE):
    sys.path[0] = str(HERE.parents[1])

from benchmarks.faults import gate, health, one_run, plans  # noqa: E402
from benchmarks.faults.catalogue import faults, task_of, tasks  # noqa: E402
from benchmarks.faults.executors import Executor, executor_of  # noqa: E402
from benchmarks.faults.plans import Plan  # noqa: E402
from benchmarks.faults.recording import file_name, read_run, runs_in, write_run  # noqa: E402

STAGES = ("twins", "screen", "gate", "healthy")


def made_or_told(plan: Plan) -> dict[str, Any]:
    """Make one run, perhaps on another machine. What goes wrong here is told, and costs one run."""
    try:
        return {"error": "", **one_run.made(plan)}
    except Exception as error:
        return {"id": plan.id, "error": f"{type(error).__name__}: {error}"[:300], "cpu_s": 0.0, "died": ""}


def stage_plans(stage: str, folder: Path, seeds: int) -> Iterator[Plan]:
    """The runs of a stage. Those of the gate depend on what the screen has left behind."""
    if stage == "twins":
        yield from plans.twins(seeds)
    elif stage == "screen":
        yield from plans.screening()
    elif stage == "gate":
        worth = screened_in(folder)
        for fault in faults().values():
            for place in fault.subjects:
                for runs in (plans.gate(fault, place, seeds), plans.gate_midway(fault, place, seeds)):
                    yield from (p for p in runs if (fault.id, task_of(place).key, bool(p.start_frac)) in worth)
    else:
        yield from plans.healthy_plans()


def screened_in(folder: Path) -> set[tuple[str, str, bool]]:
    """(fault, task, whether midway) whose screened runs differ from the clean ones."""
    clean: dict[str, list[Any]] = defaultdict(list)
    broken: dict[tuple[str, str, bool], list[Any]] = defaultdict(list)
    for run in map(gate.slim, runs_in(folder)):
        key = f"{run['subject']}:{run['task']}"
        if run["fault"] is not None and run["seed"] % plans.MIDWAY_TOO in plans.SCREEN_SEEDS:
            broken[run["fault"], key, bool(run["start_frac"])].append(run)
        elif "/clean/" in run["id"]:
            clean[key].append(run)
    return {found for found, runs in broken.items() if gate.promising(clean[found[1]], runs)}


def record(folder: Path, wanted: Iterable[Plan], executor: Executor, budget_s: float) -> float:
    """Make the runs that are not there, until the budget of CPU seconds is used up; return what was used."""
    missing = [plan for plan in dict.fromkeys(wanted) if not (folder / file_name(plan.id)).exists()]
    spent, done, began = 0.0, 0, time.monotonic()

    def until_spent() -> Iterator[Plan]:
        for plan in missing:
            if spent >= budget_s:
                return
            yield plan

    for _, told in executor.results(made_or_told, until_spent()):
        error = told.pop("error")
        if not error:
            write_run(folder, told)
        done, spent = done + 1, spent + told["cpu_s"]
        left = (time.monotonic() - began) / done * (len(missing) - done)
        ended = error or told["died"]
        print(
            f"{done}/{len(missing)}  {told['id']}  {told['cpu_s']:.1f} s{'  ' + ended if ended else ''}"
            f"  (spent {spent:.0f} s, about {left / 60:.0f} min left)",
            flush=True,
        )
    return spent


def write_manifest(folder: Path) -> None:
    """List the runs of a folder."""
    rows: list[dict[str, Any]] = []
    for path in runs_in(folder):
        run = read_run(path)
        task = tasks()[f"{run['subject']}:{run['task']}"]
        half = faults()[run["fault"]].half if run["fault"] is not None else task.half
        names = ("id", "subject", "task", "fault", "kind", "seed", "start_frac")
        rows.append({"file": path.name, "half": half, **{name: run[name] for name in names}})
    part = folder / ".manifest.part"
    part.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    part.replace(folder / "manifest.json")


def asked(arguments: list[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the runs go")
    parser.add_argument("--only", default="", help="only runs whose id holds this text")
    parser.add_argument("--jobs", type=int, default=2, help="runs made at a time")
    parser.add_argument("--seeds", type=int, default=plans.GATE_SEEDS, help="seeds of the gate")
    parser.add_argument("--budget-s", type=float, default=float("inf"), help="stop after so many CPU seconds")
    parser.add_argument("--ray", metavar="ADDRESS", help="make the runs on this Ray cluster")
    for stage in STAGES:
        parser.add_argument(f"--{stage}", action="store_true", help=f"only this stage: {stage}")
    parser.add_argument("--manifest", action="store_true", help="make no run; write manifest and gate anew")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Record."""
    options = asked(arguments)
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    stages = [stage for stage in STAGES if getattr(options, stage)] or list(STAGES)
    code, budget_s = 0, float(options.budget_s)
    try:
        executor = executor_of(options.jobs, options.ray)
        for stage in [] if options.manifest else stages:
            wanted = [p for p in stage_plans(stage, folder, options.seeds) if options.only in p.id]
            budget_s -= record(folder, wanted, executor, budget_s)
    except KeyboardInterrupt:
        print("stopped; what is recorded stays, and the same command goes on from here", file=sys.stderr)
        code = 130
    write_manifest(folder)
    gate.write_gate(folder)
    health.write_collapsed(folder, map(gate.slim, runs_in(folder)))
    return code


if __name__ == "__main__":
    sys.exit(main())
