"""Short real runs: Stable-Baselines3's PPO on CartPole-v1, 24,064 steps each, five healthy and six with a fault."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.scoring.corpus import Run, read_run

RUNS = Path(__file__).parents[1] / "data" / "runs"


def recorded(name: str) -> Run:
    """Return a recorded run by the end of its id, such as `clean/0`."""
    return read_run(RUNS / f"sb3_ppo__CartPole-v1__{name.replace('/', '__')}.json.xz", "held")
