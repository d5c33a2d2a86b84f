"""In which subjects each fault of eighth_pool.toml was tried for the eighth live list: nobody chose them.

    python benchmarks/live/eighth_draw.py

prints the draw. Each fault comes in one or two of the subjects that it can be planted in, by a hash of its name. What
of these is in the list is what a trial made to collapse (eighth_trials.jsonl).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from drawn_list import drawn

POOL = Path(__file__).resolve().parent / "eighth_pool.toml"
TWICE = 1.0
"""Of the faults that can be planted in more than one subject the share that comes in two: all, as fewer than half of
what was drawn first (0.6) ended in a collapse."""
ON = ("ppo_counters", "mmrkhs_counters", "sb3_ppo_buoy")
DQN = ("dqn_counters", "sb3_dqn_counters")
SAC = ("sac_buoy", "sb3_sac_buoy")
GROUPS: dict[str, tuple[str, ...]] = {
    "on": ON,
    "ref_ppo": ("ppo_counters",),
    "sb3_ppo": ("sb3_ppo_buoy",),
    "mmrkhs": ("mmrkhs_counters",),
    "dqn": DQN,
    "sac": SAC,
    "ref_sac": ("sac_buoy",),
    "off": (*DQN, *SAC),
    "discrete": ("ppo_counters", "mmrkhs_counters", *DQN),
    "continuous": ("sb3_ppo_buoy", *SAC),
    "rl": (*ON, *DQN, *SAC),
    "grpo": ("grpo_leap",),
}


def subjects_of(fault: str, groups: str) -> list[str]:
    """Return the one or two subjects in which a fault is planted."""
    able = [name for group in groups.split() for name in GROUPS[group]]
    order = sorted(able, key=lambda name: drawn("eighth subject", fault, name))
    return sorted(order[: 2 if drawn("eighth twice", fault) < TWICE else 1])


def draw() -> dict[str, tuple[str, list[str]]]:
    """Return the link and the subjects of every fault."""
    pools = tomllib.loads(POOL.read_text("utf-8"))
    return {fault: (link, subjects_of(fault, groups)) for link, pool in pools.items() for fault, groups in pool.items()}


if __name__ == "__main__":
    chosen = draw()
    for fault, (link, subjects) in chosen.items():
        print(f"{link:18} {fault:26} {' '.join(subjects)}")
    print(f"{len(chosen)} faults, {sum(len(subjects) for _, subjects in chosen.values())} runs")
