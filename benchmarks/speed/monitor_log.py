"""What `Monitor.log` costs beside `SummaryWriter.add_scalar` for the same 30 metrics, and beside a PPO update.

    python benchmarks/speed/monitor_log.py [--rows 10000] [--day]

One process; the loggers take turns every 100 rows, so all of them meet the same machine, and each has written what it
holds before the next begins. Compared is the processor's time of all threads (`SummaryWriter` writes in one of its
own), which other work on the machine touches least; the wall's stands beside it. Means, not medians: a mean holds the
looks of the rules, which come on few rows. `--day` adds 24 hours of rows at 10 Hz: memory and cost by quarter.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np

HEALTHY: dict[str, Callable[[np.random.Generator, float], float]] = {
    "policy/kl_old": lambda g, p: abs(float(g.normal(0.008, 0.002))),
    "policy/clip_fraction": lambda g, p: float(g.uniform(0.05, 0.15)),
    "policy/ratio_max": lambda g, p: float(g.uniform(1.2, 1.5)),
    "policy/loss": lambda g, p: float(g.normal(-0.01, 0.003)),
    "policy/entropy": lambda g, p: 0.65 - 0.2 * p + float(g.normal(0, 0.01)),
    "critic/explained_variance": lambda g, p: 1 - (1 - 0.9 * min(1.0, 5 * p)) * float(g.lognormal(0, 0.1)),
    "critic/loss": lambda g, p: (10.0 + 20 * (1 - p)) * float(g.lognormal(0, 0.1)),
    "optim/grad_norm": lambda g, p: float(g.lognormal(-1.0, 0.3)),
    "optim/lr": lambda g, p: 2.5e-4 * (1 - 0.999 * p),
    "advantage/std": lambda g, p: float(g.normal(3.0, 0.3)),
    "reward/episode_return_mean": lambda g, p: (20 + 180 * min(1.0, 2 * p)) * float(g.lognormal(0, 0.1)),
    "episode/length_mean": lambda g, p: (20 + 180 * min(1.0, 2 * p)) * float(g.lognormal(0, 0.1)),
    "time/fps": lambda g, p: float(g.normal(2000, 50)),
}
"""Canonical keys, each with a healthy course over the run's progress p; the others of the 30 are a user's own keys.
Noise is a factor where a quantity has a bound: an episode has no length below 0, explained variance ends at 1."""


def course(rows: int, seed: int = 0) -> list[dict[str, float]]:
    """Rows of a healthy run with 30 metrics."""
    generator = np.random.default_rng(seed)
    own = [f"own/metric_{i}" for i in range(30 - len(HEALTHY))]
    found: list[dict[str, float]] = []
    for i in range(rows):
        row = {name: draw(generator, i / rows) for name, draw in HEALTHY.items()}
        found.append(row | {name: float(generator.normal(1.0, 0.1)) for name in own})
    return found


BLOCK = 100
"""Rows of one logger before it is the next one's turn."""


def side_by_side(
    rows: list[dict[str, float]], logs: Mapping[str, tuple[Callable[[int, dict[str, float]], None], Callable[[], None]]]
) -> dict[str, np.ndarray]:
    """Mean seconds [2] a row of each logger, on the processor and the wall; `logs` are (log a row, write it all)."""
    spent = {name: np.zeros(2) for name in logs}
    names = list(logs)
    for first in range(0, len(rows), BLOCK):
        turn = first // BLOCK % len(names)
        for name in names[turn:] + names[:turn]:
            log, settle = logs[name]
            start = clocks()
            for i, row in enumerate(rows[first : first + BLOCK], first):
                log(i, row)
            settle()
            spent[name] += clocks() - start
    return {name: seconds / len(rows) for name, seconds in spent.items()}


def clocks() -> np.ndarray:
    """Seconds [2] on this process's processor clock and on the wall's."""
    return np.array([time.process_time(), time.perf_counter()])


def against_tensorboard(count: int, folder: Path) -> None:
    """Write the same rows three times. Looks take a share of the processor's time: on the wall's, a machine that has
    other work to do would allow the monitor more of them."""
    import torch
    from torch.utils.tensorboard import SummaryWriter

    from firstbreak.monitor.core import Monitor

    torch.set_num_threads(1)
    writer = SummaryWriter(str(folder / "tensorboard"))
    recorded = Monitor(folder / "run", algorithm="PPO", config={"gamma": 0.99}, timer=time.process_time)
    silent = Monitor(None, algorithm="PPO", config={"gamma": 0.99}, timer=time.process_time)

    def scalars(i: int, row: dict[str, float]) -> None:
        for key, value in row.items():
            writer.add_scalar(key, value, i)

    spent = side_by_side(
        course(count),
        {
            "SummaryWriter.add_scalar": (scalars, writer.flush),
            "Monitor.log, with a record": (
                lambda i, row: recorded.log(row, step=512 * (i + 1)) and None,
                recorded.flush,
            ),
            "Monitor.log, in memory": (lambda i, row: silent.log(row, step=512 * (i + 1)) and None, silent.flush),
        },
    )
    base = spent["SummaryWriter.add_scalar"]
    print(f"{count} rows of 30 metrics, side by side     processor us   of add_scalar   wall: us   of add_scalar")
    for name, (cpu, wall) in spent.items():
        print(f"  {name:38} {1e6 * cpu:12.1f} {cpu / base[0]:14.2f} {1e6 * wall:10.1f} {wall / base[1]:14.2f}")
    print(f"  alarms: {[a.finding.name for a in recorded.alarms]}, faults: {recorded.faults}")
    recorded.close()
    silent.close()
    writer.close()


def against_an_update(updates: int) -> None:
    """A PPO update of CleanRL's size (512 rows, 4 epochs of 4 minibatches, two networks of 64 x 64) and its rollout."""
    import gymnasium as gym
    import torch

    from firstbreak.monitor.core import Monitor
    from firstbreak.trainers.ppo import PPO

    torch.set_num_threads(1)
    trainer = PPO(lambda: gym.make("CartPole-v1"), seed=0)
    monitor = Monitor(None, algorithm="PPO", config={"gamma": 0.99}, timer=time.process_time)
    rows = course(updates)
    update, log = np.empty((updates, 2)), np.empty((updates, 2))
    for i in range(updates):
        start = clocks()
        trainer.update(trainer.advantages(trainer.collect()))
        middle = clocks()
        monitor.log(rows[i], step=512 * (i + 1))
        update[i], log[i] = middle - start, clocks() - middle
    for name, took, spent in zip(("processor", "wall"), update.T, log.T, strict=True):
        each = f"{1e3 * took.mean():.1f} ms each; the monitor {1e3 * spent.mean():.2f} ms"
        print(f"{updates} PPO updates with their rollouts, {name}: {each}, {spent.sum() / took.sum():.2%}")


def a_day(hertz: int = 10) -> None:
    """24 hours of rows at 10 Hz, as fast as they go."""
    from firstbreak.monitor.core import Monitor

    quarter = 6 * 3600 * hertz
    monitor = Monitor(None, algorithm="PPO", config={"gamma": 0.99}, timer=time.process_time)
    pieces = course(10_000)
    print("24 h at 10 Hz      rows      RSS MiB   processor us a row")
    for part in range(4):
        start = time.process_time()
        for i in range(quarter):
            monitor.log(pieces[i % 10_000], step=512 * (part * quarter + i + 1))
        seconds = time.process_time() - start
        print(
            f"  quarter {part + 1}    {monitor.rows:9}   {rss_mib():8.1f}   {1e6 * seconds / quarter:8.1f}", flush=True
        )


def rss_mib() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--day", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        against_tensorboard(args.rows, Path(folder))
    against_an_update(args.updates)
    if args.day:
        a_day()


if __name__ == "__main__":
    main()
