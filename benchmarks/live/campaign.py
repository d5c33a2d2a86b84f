"""Real short trainings with a fault switched on half-way, guarded live: is the alarm there before the return falls?

    python benchmarks/live/campaign.py [--only TEXT] [--subject NAME] [--seed 0] [--twins N] --folder FOLDER

Every run's rows, alarms and true returns go to FOLDER/<subject>-<fault>-<seed>.json (a run that is there is not run
again); `publish.py` judges them. `--twins N` adds N unbroken runs of each subject, with other seeds. Run it from the
root of the repository.
"""

from __future__ import annotations

import argparse
import json
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rejudge import told
from worlds import Truth

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Verdict
from firstbreak.monitor.world import World

HERE = Path(__file__).resolve().parent


class Recorded(Monitor):
    """The monitor, and beside it every row it was given and what it cost."""

    def __init__(self, **options: Any) -> None:
        super().__init__(None, **options)
        self.given: list[dict[str, Any]] = []
        self.steps: list[float] = []
        self.cost_s = 0.0
        self._began_s = time.process_time()

    def _log(self, metrics: Mapping[str, Any], step: float | None, clock: str) -> Verdict:
        metrics = on_its_own(metrics, time.process_time() - self._began_s)
        self.steps.append(float(step or 0))
        self.given.append(dict(metrics))
        start = time.perf_counter()
        verdict = super()._log(metrics, step, clock)
        self.cost_s += time.perf_counter() - start
        return verdict


def on_its_own(metrics: Mapping[str, Any], cpu_s: float) -> Mapping[str, Any]:
    """Return a row whose times are the processor's: what else a shared machine does is no fault of this training."""
    if "time/elapsed_s" not in metrics:
        return metrics
    row = {**metrics, "time/elapsed_s": cpu_s}
    return row | {"time/fps": metrics["time/env_steps"] / max(cpu_s, 1e-9)} if "time/env_steps" in metrics else row


def guarded(subject: str, fault: str, seed: int) -> dict[str, Any]:
    """Train once with the monitor beside it. A training that dies of its fault is a result, too."""
    start = time.monotonic()
    truth, monitor = Truth(), monitor_of(subject)
    died = ""
    try:
        with monitor:
            train(subject, fault, seed, monitor, truth)
    except Exception as error:
        if not fault:
            raise
        died = f"{type(error).__name__}: {error}"[:200]
    return {
        "subject": subject,
        "fault": fault,
        "seed": seed,
        "began": truth.began,
        "died": died,
        "seconds": round(time.monotonic() - start, 1),
        "monitor_seconds": round(monitor.cost_s, 3),
        "algorithm": monitor.run_log().algorithm,
        "clock": monitor.run_log().clock,
        "config": {k: v for k, v in monitor.run_log().config.items() if isinstance(v, (int, float, str, bool))},
        "episodes": truth.episodes,
        "alarms": [told(a) for a in monitor.alarms],
        "faults": monitor.faults,
        "rows": [[step, plain(row)] for step, row in zip(monitor.steps, monitor.given, strict=True)],
    }  # fmt: skip


def monitor_of(subject: str) -> Recorded:
    """Return the monitor that a user would give to this trainer."""
    if subject == "grpo":
        return Recorded(framework="trl", algorithm="GRPO")
    if subject.startswith("sb3"):
        return Recorded()
    import reference

    algorithm, config = reference.settings_of(subject)
    return Recorded(algorithm=algorithm, config=config, clock="env_steps")


def train(subject: str, fault: str, seed: int, monitor: Recorded, truth: Truth) -> None:
    """Train, with the adapter of the framework."""
    if subject == "grpo":
        import language

        language.train(fault, seed, monitor, truth)
        return
    world = World(monitor)
    if subject.startswith("sb3"):
        import stable_baselines

        from firstbreak.monitor.adapters.sb3 import MonitorCallback

        stable_baselines.train(subject, fault, seed, lambda: MonitorCallback(monitor), world, truth)
    else:
        import reference

        reference.train(subject, fault, seed, monitor, world, truth)


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers to six digits; NaN and infinities as texts."""
    found: dict[str, Any] = {}
    for key, value in row.items():
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        found[key] = float(f"{number:.6g}") if abs(number) < float("inf") else str(number)
    return found


def orders(args: argparse.Namespace) -> list[tuple[str, str, int]]:
    """What is to be run: faults first, then twins on seeds that no fault is planted on."""
    faults = tomllib.loads((HERE / "faults.toml").read_text("utf-8"))["fault"]
    found = [(subject, fault["id"], args.seed) for fault in faults for subject in fault["subjects"]]
    subjects = sorted({subject for subject, _, _ in found})
    twins = [(subject, "", 100 + n) for n in range(args.twins) for subject in subjects]
    return [o for o in [*twins, *found] if args.only in o[1] and (not args.subject or o[0] in args.subject.split(","))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--subject", default="")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--twins", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    args = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    args.folder.mkdir(parents=True, exist_ok=True)
    for subject, fault, seed in orders(args):
        place = args.folder / f"{subject}-{fault or 'twin'}-{seed}.json"
        if place.exists():
            continue
        found = guarded(subject, fault, seed)
        place.write_text(json.dumps(found) + "\n", "utf-8")
        late = [a for a in found["alarms"] if a["at"] >= found["began"]]
        names = ", ".join(f"{a['name']}@{a['at'] - found['began']:+.0f}" for a in late[:4]) or "-"
        early = len(found["alarms"]) - len(late)
        print(f"{subject:8} {fault or 'twin':28} {found['seconds']:6.1f} s  early {early}  {names}", flush=True)


if __name__ == "__main__":
    main()
