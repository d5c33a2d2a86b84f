"""Healthy trainings that nobody has looked at, guarded live: on how many does the monitor raise an alarm?

    python benchmarks/live/healthy.py --draw NAME [--first 0] [--count 100] [--seconds S] --folder FOLDER
    python benchmarks/live/healthy.py --draw NAME --folder FOLDER --report [--again]

A hash of the draw's name says what is trained (healthy_settings.py). Every run's rows, alarms and true returns go to
FOLDER/<number>-<trainer>-<task>.json.xz; what is there is not run again. The monitor has its defaults and its own
clock: what else the machine does is seen, as a user's monitor sees it. `--again` asks the rules of today about the
rows. Run it from the root of the repository.
"""

from __future__ import annotations

import argparse
import json
import lzma
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from campaign import plain
from healthy_settings import Ordinary, ordinary
from judging import smoothed
from rejudge import rejudged, told
from worlds import Truth

from firstbreak.monitor.core import Monitor
from firstbreak.monitor.verdict import Verdict
from firstbreak.monitor.world import World

FELL = 0.2
"""Share of the gain from the first returns to the best that a healthy training may lose by its end."""
BEYOND_CHANCE = 2
"""Standard errors of the first returns' mean by which a gain is more than chance."""
LEVELS = 10
"""A return is averaged over a tenth of the episodes."""


class Kept(Monitor):
    """The monitor, and beside it every row it was given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(None, **options)
        self.given: list[tuple[float, dict[str, Any]]] = []
        self.cost_s = 0.0

    def _log(self, metrics: Mapping[str, Any], step: float | None, clock: str) -> Verdict:
        self.given.append((float(step or 0), dict(metrics)))
        start = time.perf_counter()
        verdict = super()._log(metrics, step, clock)
        self.cost_s += time.perf_counter() - start
        return verdict


def guarded(run: Ordinary) -> dict[str, Any]:
    """Train once with the monitor beside it."""
    from healthy_trainers import monitored, train

    start, used = time.monotonic(), time.process_time()
    truth, options = Truth(), monitored(run)
    monitor = Kept(**options)
    died = ""
    try:
        with monitor:
            train(run, monitor, World(monitor) if run.world else None, truth)
    except Exception as error:
        died = f"{type(error).__name__}: {error}"[:200]
    log = monitor.run_log()
    return {
        "subject": run.trainer, "fault": "", "drawn": asdict(run), "died": died, "began": float("nan"),
        "seconds": round(time.monotonic() - start, 1), "cpu_seconds": round(time.process_time() - used, 1),
        "monitor_seconds": round(monitor.cost_s, 3),
        "framework": log.framework, "algorithm": log.algorithm, "clock": log.clock,
        "config": {k: v for k, v in log.config.items() if isinstance(v, (int, float, str, bool))},
        "episodes": truth.episodes,
        "alarms": [told(a) for a in monitor.alarms],
        "faults": monitor.faults,
        "rows": [[step, plain(row)] for step, row in monitor.given],
    }  # fmt: skip


def window_of(run: Mapping[str, Any]) -> int:
    """Return over how many episodes returns are averaged."""
    return max(5, len(run["episodes"]) // LEVELS)


def levels(run: Mapping[str, Any]) -> np.ndarray:
    """Return the mean returns of as many episodes, from the first whole window on."""
    if len(run["episodes"]) < window_of(run):
        return np.empty(0)
    return smoothed(run["episodes"], window_of(run))[1][window_of(run) - 1 :]


def kept(run: Mapping[str, Any]) -> float:
    """Return what is left, at the end, of the gain from the first returns to the best; 1 where nothing was gained."""
    level = levels(run)
    most = float(level.max() - level[0]) if level.size > 1 else 0.0
    return 1.0 if most <= 0 else float(level[-1] - level[0]) / most


def gained(run: Mapping[str, Any]) -> float:
    """Return the best gain in standard errors of the first returns' mean."""
    level, window = levels(run), window_of(run)
    if level.size < 2:
        return 0.0
    error = float(np.std([e[1] for e in run["episodes"]][:window]) / np.sqrt(window))
    return float(level.max() - level[0]) / max(error, 1e-12)


def healthy(run: Mapping[str, Any]) -> bool:
    """Whether the training ended, and did not lose more than a fifth of what it had gained beyond chance."""
    return not run["died"] and (kept(run) >= 1 - FELL or gained(run) < BEYOND_CHANCE)


def read(folder: Path, draw: str) -> list[dict[str, Any]]:
    """Return the runs of a draw, in its order."""
    places = sorted(folder.glob(f"{draw}-*.json.xz"))
    return [{**json.loads(lzma.decompress(p.read_bytes())), "name": p.name[: -len(".json.xz")]} for p in places]


def report(runs: list[dict[str, Any]], again: bool) -> str:
    """Return the figures, and every run with an alarm."""
    found = [(run, rejudged(run) if again else run["alarms"]) for run in runs]
    sound = [(run, alarms) for run, alarms in found if healthy(run)]
    alarmed = [run for run, alarms in sound if alarms]
    rows = sum(len(run["rows"]) for run, _ in sound)
    number = sum(len(alarms) for _, alarms in sound)
    lines = [
        f"- {len(runs)} trainings, {sum(run['cpu_seconds'] for run in runs) / 60:.0f} minutes of processor; "
        f"{len(sound)} kept at least four fifths of what they had gained.",
        f"- **{len(alarmed)} of {len(sound)} healthy trainings alarmed** ({len(alarmed) / max(1, len(sound)):.1%}); "
        f"{1000 * number / max(1, rows):.2f} alarms per 1,000 rows ({rows} rows).",
        f"- Of those that learned and kept it: {share(sound, True)}; of those that gained nothing beyond chance: "
        f"{share(sound, False)}.",
        f"- {sum(bool(a) for r, a in found if not healthy(r))} of {len(runs) - len(sound)} others alarmed.",
        "",
    ]
    return "\n".join([*lines, *(f"- {run['name']}: {line(run, alarms)}" for run, alarms in found if alarms)])


def share(sound: list[tuple[dict[str, Any], list[dict[str, Any]]]], learned: bool) -> str:
    """Return how many alarmed of the healthy trainings that gained more than chance, or of those that did not."""
    alarmed = [bool(alarms) for run, alarms in sound if (gained(run) >= BEYOND_CHANCE) == learned]
    return f"{sum(alarmed)} of {len(alarmed)} ({sum(alarmed) / max(1, len(alarmed)):.1%})"


def line(run: Mapping[str, Any], alarms: list[dict[str, Any]]) -> str:
    """Return how a run ended and what was said of it."""
    said = ", ".join(f"`{a['name']}` ({a['severity']}, at {a['at']:.0f})" for a in alarms)
    state = run["died"] or f"kept {kept(run):.0%} of a gain of {gained(run):.1f} errors"
    return f"{state}: {said or 'no alarm'}"


def main() -> None:
    """Record what the command line asks for, or report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of the processor; then nothing is begun")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--again", action="store_true")
    args = parser.parse_args()
    if args.report:
        print(report(read(args.folder, args.draw), args.again))
        return
    import torch

    torch.set_num_threads(1)
    args.folder.mkdir(parents=True, exist_ok=True)
    for number in range(args.first, args.first + args.count):
        run = ordinary(args.draw, number)
        place = args.folder / f"{args.draw}-{run.name}.json.xz"
        if place.exists():
            continue
        if time.process_time() > args.seconds:
            break
        found = guarded(run)
        place.write_bytes(lzma.compress((json.dumps(found) + "\n").encode()))
        print(
            f"{run.name:34} {found['cpu_seconds']:6.1f} s {len(found['rows'])} rows {line(found, found['alarms'])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
