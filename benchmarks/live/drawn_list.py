"""Campaigns on a list of faults that nobody has seen: which runs, at which instants, and one of them.

A list is a name: `NAME.toml` holds the faults, `NAME_sb3.py`, `NAME_reference.py` and `NAME_language.py` the subjects
and what is planted in them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from campaign import Recorded, plain
from rejudge import told
from worlds import Truth

from firstbreak.monitor.world import World

HERE = Path(__file__).resolve().parent
SEED = 0
EARLIEST, LATEST = 0.55, 0.8
"""Shares of a run between which the instant of a fault is drawn."""


@dataclass(frozen=True)
class DrawnList:
    """A list of faults, and the seeds of the twins (no fault is planted on these)."""

    name: str
    twins: Sequence[int]

    def faults(self) -> dict[str, dict[str, Any]]:
        """Return the faults of the list by id."""
        return {f["id"]: f for f in tomllib.loads((HERE / f"{self.name}.toml").read_text("utf-8"))["fault"]}

    def orders(self, only: str = "", subject: str = "") -> list[tuple[str, str, int]]:
        """What is to be run, twins and faults in a drawn order.

        So what is recorded by the time that one stops is no choice of anybody's either.
        """
        found = [(name, fault["id"], SEED) for fault in self.faults().values() for name in fault["subjects"]]
        twins = [(name, "", seed) for seed in self.twins for name in sorted({name for name, _, _ in found})]
        wanted = sorted([*twins, *found], key=lambda order: drawn("order", *order))
        return [o for o in wanted if only in o[1] and (not subject or o[0] in subject.split(","))]

    def part(self, subject: str) -> Any:
        """Return the module that trains `subject`."""
        kind = subject.partition("_")[0]
        return import_module(f"{self.name}_{ {'sb3': 'sb3', 'grpo': 'language'}.get(kind, 'reference') }")

    def monitor_of(self, subject: str) -> tuple[Recorded, int]:
        """Return the monitor that a user would give this trainer, and over how many episodes returns are averaged."""
        part = self.part(subject)
        if subject.startswith("grpo"):
            return Recorded(framework="trl", algorithm="GRPO"), part.WINDOW
        window = part.SUBJECTS[subject][-1]
        if subject.startswith("sb3"):
            return Recorded(), window
        algorithm, config = part.settings_of(subject)
        return Recorded(algorithm=algorithm, config=config, clock="env_steps"), window

    def train(self, subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
        """Train, with the adapter of the framework."""
        share, part = instant(subject, fault, seed), self.part(subject)
        if subject.startswith("grpo"):
            part.train(fault, seed, share, monitor, truth)
            return
        world = World(monitor)
        if subject.startswith("sb3"):
            from firstbreak.monitor.adapters.sb3 import MonitorCallback

            part.train(subject, fault, seed, share, lambda: MonitorCallback(monitor), world, truth)
        else:
            part.train(subject, fault, seed, share, monitor, world, truth)

    def guarded(self, subject: str, fault: str, seed: int) -> dict[str, Any]:
        """Train once with the monitor beside it. A training that dies of its fault is a result, too."""
        start = time.monotonic()
        truth, (monitor, window) = Truth(), self.monitor_of(subject)
        died = ""
        try:
            with monitor:
                self.train(subject, fault, seed, monitor, truth)
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

    def record(self, doc: str) -> None:
        """Run what the command line asks for, and is not there yet."""
        args = asked(doc)
        import torch

        torch.set_num_threads(1)
        args.folder.mkdir(parents=True, exist_ok=True)
        first, step = map(int, args.part.split("/"))
        for subject, fault, seed in self.orders(args.only, args.subject)[first::step]:
            place = args.folder / f"{subject}-{fault or 'twin'}-{seed}.json.xz"
            if place.exists():
                continue
            found = self.guarded(subject, fault, seed)
            place.write_bytes(lzma.compress((json.dumps(found) + "\n").encode()))
            print(f"{subject:18} {fault or 'twin':24} {found['seconds']:6.1f} s  {len(found['rows'])} rows", flush=True)


def asked(doc: str) -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--subject", default="")
    parser.add_argument("--part", default="0/1", help="K/N: every Nth run, from number K on")
    parser.add_argument("--folder", type=Path, required=True)
    return parser.parse_args()


def instant(subject: str, fault: str, seed: int) -> float:
    """Return the share of the run after which the fault is switched on: nobody chose it."""
    return EARLIEST + (LATEST - EARLIEST) * drawn(subject, fault, seed)


def drawn(*words: object) -> float:
    """Return a number in [0, 1) that follows from `words`, and that nobody chose."""
    return int(hashlib.sha256(" ".join(map(str, words)).encode()).hexdigest()[:8], 16) / 2**32
