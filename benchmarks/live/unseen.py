"""The second live campaign: faults of unseen.toml, on tasks that no rule was made with, switched on at a drawn instant.

    python benchmarks/live/unseen.py [--only TEXT] [--subject NAMES] [--part K/N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json.xz (a run that is there is not run
again); `publish.py` judges them. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import time
import tomllib
from pathlib import Path
from typing import Any

from campaign import Recorded, plain
from rejudge import told
from worlds import Truth

from firstbreak.monitor.world import World

HERE = Path(__file__).resolve().parent
SEED, TWINS = 0, (100, 101, 102)
EARLIEST, LATEST = 0.55, 0.8
"""Shares of a run between which the instant of a fault is drawn."""


def instant(subject: str, fault: str, seed: int) -> float:
    """Return the share of the run after which the fault is switched on: nobody chose it."""
    return EARLIEST + (LATEST - EARLIEST) * drawn(subject, fault, seed)


def guarded(subject: str, fault: str, seed: int) -> dict[str, Any]:
    """Train once with the monitor beside it. A training that dies of its fault is a result, too."""
    start = time.monotonic()
    truth, (monitor, window) = Truth(), monitor_of(subject)
    died = ""
    try:
        with monitor:
            train(subject, fault, seed, monitor, truth)
    except Exception as error:
        if not fault:
            raise
        died = f"{type(error).__name__}: {error}"[:200]
    log = monitor.run_log()
    return {
        "subject": subject, "fault": fault, "seed": seed, "began": truth.began, "died": died, "window": window,
        "seconds": round(time.monotonic() - start, 1), "monitor_seconds": round(monitor.cost_s, 3),
        "framework": log.framework, "algorithm": log.algorithm, "clock": log.clock,
        "config": {k: v for k, v in log.config.items() if isinstance(v, (int, float, str, bool))},
        "episodes": truth.episodes,
        "alarms": [told(a) for a in monitor.alarms],
        "faults": monitor.faults,
        "rows": [[step, plain(row)] for step, row in zip(monitor.steps, monitor.given, strict=True)],
    }  # fmt: skip


def monitor_of(subject: str) -> tuple[Recorded, int]:
    """Return the monitor that a user would give to this trainer, and over how many episodes returns are averaged."""
    if subject.startswith("grpo"):
        import unseen_language

        return Recorded(framework="trl", algorithm="GRPO"), unseen_language.WINDOW
    if subject.startswith("sb3"):
        import unseen_sb3

        return Recorded(), unseen_sb3.SUBJECTS[subject][-1]
    import unseen_reference

    algorithm, config = unseen_reference.settings_of(subject)
    monitor = Recorded(algorithm=algorithm, config=config, clock="env_steps")
    return monitor, unseen_reference.SUBJECTS[subject][-1]


def train(subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
    """Train, with the adapter of the framework."""
    share = instant(subject, fault, seed)
    if subject.startswith("grpo"):
        import unseen_language

        unseen_language.train(fault, seed, share, monitor, truth)
        return
    world = World(monitor)
    if subject.startswith("sb3"):
        import unseen_sb3

        from firstbreak.monitor.adapters.sb3 import MonitorCallback

        unseen_sb3.train(subject, fault, seed, share, lambda: MonitorCallback(monitor), world, truth)
    else:
        import unseen_reference

        unseen_reference.train(subject, fault, seed, share, monitor, world, truth)


def drawn(*words: object) -> float:
    """Return a number in [0, 1) that follows from `words`, and that nobody chose."""
    return int(hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()[:8], 16) / 2**32


def orders(args: argparse.Namespace) -> list[tuple[str, str, int]]:
    """What is to be run, twins (on seeds that no fault is planted on) and faults in a drawn order.

    So what is recorded by the time that one stops is no choice of anybody's either.
    """
    faults = tomllib.loads((HERE / "unseen.toml").read_text("utf-8"))["fault"]
    found = [(subject, fault["id"], SEED) for fault in faults for subject in fault["subjects"]]
    subjects = sorted({subject for subject, _, _ in found})
    twins = [(subject, "", seed) for seed in TWINS for subject in subjects]
    wanted = sorted([*twins, *found], key=lambda order: drawn("order", *order))
    return [o for o in wanted if args.only in o[1] and (not args.subject or o[0] in args.subject.split(","))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--subject", default="")
    parser.add_argument("--part", default="0/1", help="K/N: every Nth run, from number K on")
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    args.folder.mkdir(parents=True, exist_ok=True)
    first, step = map(int, args.part.split("/"))
    for subject, fault, seed in orders(args)[first::step]:
        place = args.folder / f"{subject}-{fault or 'twin'}-{seed}.json.xz"
        if place.exists():
            continue
        found = guarded(subject, fault, seed)
        place.write_bytes(lzma.compress((json.dumps(found) + "\n").encode()))
        print(f"{subject:18} {fault or 'twin':24} {found['seconds']:6.1f} s  {len(found['rows'])} rows", flush=True)


if __name__ == "__main__":
    main()
