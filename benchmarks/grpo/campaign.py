"""Run GRPO of TRL on tiny tasks with one fault each, and healthy, and record what TRL logs.

    python -m benchmarks.grpo.campaign [--unseen | --second | --third | --fourth] [--folder F] [--only ID] [--minutes M]

Runs that lie in the folder are not run again. `faults.toml` and `healthy.toml` say what is run; seeds come in order.
With `--unseen` the lists are `unseen_faults.toml` and `unseen_healthy.toml`, and so on with the other names, each on
other tasks.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import lzma
import random
import time
import tomllib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.grpo.fourth_planting import FOURTH_SETTINGS, FourthPlanted
from benchmarks.grpo.fourth_sampling import FourthVerifier
from benchmarks.grpo.fourth_tasks import FOURTH_TASKS
from benchmarks.grpo.recording import KIT, UPDATES, Kit, Plan, record
from benchmarks.grpo.second_planting import SECOND_SETTINGS, SecondPlanted, SecondVerifier
from benchmarks.grpo.second_tasks import SECOND_TASKS
from benchmarks.grpo.third_planting import THIRD_SETTINGS, ThirdPlanted
from benchmarks.grpo.third_sampling import ThirdVerifier
from benchmarks.grpo.third_tasks import THIRD_TASKS
from benchmarks.grpo.unseen_planting import UNSEEN_SETTINGS, UnseenPlanted, UnseenVerifier
from benchmarks.grpo.unseen_tasks import UNSEEN_TASKS

HERE = Path(__file__).resolve().parent
UNSEEN = Kit(UNSEEN_TASKS, UNSEEN_SETTINGS, UnseenPlanted, UnseenVerifier)
SECOND = Kit(SECOND_TASKS, SECOND_SETTINGS, SecondPlanted, SecondVerifier)
THIRD = Kit(THIRD_TASKS, THIRD_SETTINGS, ThirdPlanted, ThirdVerifier)
FOURTH = Kit(FOURTH_TASKS, FOURTH_SETTINGS, FourthPlanted, FourthVerifier)
KITS = {"unseen": UNSEEN, "second": SECOND, "third": THIRD, "fourth": FOURTH}
"""What is planted with, by the name with which the files of a list begin that nobody had seen."""
SEEDS = (0, 1, 2)
EARLIEST, LATEST = 0.3, 0.6
"""Shares of the run between which a fault is switched on mid-run."""


def read(name: str) -> list[dict[str, Any]]:
    """Return the entries of `faults.toml`, `healthy.toml`, or of those that begin with a name in `KITS`."""
    table = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    return table["fault" if name.endswith("faults") else "kind"]


def fault_plans(name: str = "faults", kit: Kit = KIT) -> list[Plan]:
    """Return every broken run: tasks take turns, half of the faults begin mid-run."""
    found: list[Plan] = []
    for seed in SEEDS:
        for place, fault in enumerate(read(name)):
            tasks = fault.get("tasks") or list(kit.tasks)
            task = tasks[(place + seed) % len(tasks)]
            mid = fault.get("when") == "mid" or (place + seed) % 2 == 1
            share = random.Random(f"{fault['id']}/{seed}").uniform(EARLIEST, LATEST) if mid else 0.0
            found.append(
                Plan(
                    id=f"trl_grpo/{task}/{fault['id']}/{seed}", task=task, kind="fault", seed=seed, fault=fault["id"],
                    start=round(share * UPDATES), needs=fault.get("needs", ""),
                )
            )  # fmt: skip
    return found


def healthy_plans(source: str = "healthy") -> list[Plan]:
    """Return every healthy run, one of each kind first."""
    found: list[tuple[int, Plan]] = []
    for kind in read(source):
        fields = {k: v for k, v in kind.items() if k not in ("name", "id", "what", "tasks", "seeds")}
        name = kind.get("id", kind["name"].split(":")[-1])
        for turn, seed in enumerate(kind["seeds"]):
            for place, task in enumerate(kind["tasks"]):
                plan = Plan(f"trl_grpo/{task}/{name}/{seed}", task=task, kind=kind["name"], seed=seed, **fields)
                found.append((turn * len(kind["tasks"]) + place, plan))
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def plans() -> list[Plan]:
    """Return all runs: the first seed of every fault, healthy runs, then the others, so that a part is of use."""
    broken, healthy = fault_plans(), healthy_plans()
    first = [plan for plan in broken if plan.seed == SEEDS[0]]
    rest = [plan for plan in broken if plan.seed != SEEDS[0]]
    return [*first, *healthy[:16], *rest[: len(rest) // 2], *healthy[16:], *rest[len(rest) // 2 :]]


def unseen_plans(name: str = "unseen") -> list[Plan]:
    """Return all runs of a list that nobody had seen."""
    return [*fault_plans(f"{name}_faults", KITS[name]), *healthy_plans(f"{name}_healthy")]


def half(plan: Plan) -> str:
    """Return `dev` for a fault or kind of healthy run on which rules may be mended, `held` for the others, by hash."""
    name = plan.fault or plan.id.split("/")[2] + str(plan.seed)
    return "dev" if int(hashlib.sha256(f"grpo/{name}".encode()).hexdigest(), 16) % 2 else "held"


def file_of(plan: Plan) -> str:
    """Return the name of the record."""
    return plan.id.removeprefix("trl_grpo/").replace("/", "_") + ".json.xz"


def write_manifest(folder: Path, planned: Sequence[Plan]) -> None:
    """List the records of what was `planned` that are there."""
    rows = [
        {"id": plan.id, "file": file_of(plan), "subject": "trl_grpo", "task": plan.task, "fault": plan.fault or None,
         "kind": plan.kind, "seed": plan.seed, "start_frac": plan.start / plan.updates if plan.fault else None,
         "half": half(plan)}
        for plan in planned if (folder / file_of(plan)).exists()
    ]  # fmt: skip
    text = "[\n" + ",\n".join(json.dumps(row) for row in sorted(rows, key=lambda row: row["id"])) + "\n]\n"
    (folder / "manifest.json").write_text(text, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lists = parser.add_mutually_exclusive_group()
    for name in KITS:
        words = "the faults that nobody had seen" if name == "unseen" else f"the {name} list of such faults"
        lists.add_argument(f"--{name}", dest="list", action="store_const", const=name, help=f"{words}, on their tasks")
    parser.add_argument("--folder", type=Path, help="where records go; runs or NAME_runs beside this file")
    parser.add_argument(
        "--models", type=Path, default=Path("runs/grpo-models"), help="where pretrained models are kept"
    )
    parser.add_argument("--only", default="", help="part of the id of the runs")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no run after that")
    args = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    planned, kit = (unseen_plans(args.list), KITS[args.list]) if args.list else (plans(), KIT)
    folder: Path = args.folder or HERE / (f"{args.list}_runs" if args.list else "runs")
    folder.mkdir(parents=True, exist_ok=True)
    gc.freeze()  # what was imported stays: TRL collects garbage after each run
    began = time.monotonic()
    for plan in planned:
        path = folder / file_of(plan)
        if args.only not in plan.id or path.exists():
            continue
        if time.monotonic() - began > 60 * args.minutes:
            break
        run = record(plan, args.models, kit)
        path.write_bytes(lzma.compress(json.dumps(run, separators=(",", ":")).encode(), preset=9))
        write_manifest(folder, planned)
        score = run["truth"]["score"]
        print(
            f"{plan.id} at {plan.start}: {score[0]:.2f} to {score[-1]:.2f}, {run['cpu_s']} s {run['died']}", flush=True
        )


if __name__ == "__main__":
    main()
