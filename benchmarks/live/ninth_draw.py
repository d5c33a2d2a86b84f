"""In which subjects each fault of ninth_pool.toml was tried for the ninth live list: nobody chose them.

    python benchmarks/live/ninth_draw.py

prints the draw. Each fault comes in one or two of the subjects that it can be planted in, by a hash of its name. What
of these is in the list is what a trial made to collapse (ninth_trials.jsonl).
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from drawn_list import drawn

POOL = Path(__file__).resolve().parent / "ninth_pool.toml"
TWICE = 1.0
"""Of the faults that can be planted in more than one subject the share that comes in two: all, as in the eighth."""
ON = ("torchrl_ppo_plates", "sb3_a2c_plates", "sb3_ppo_reactor", "mmrkhs_plates")
SB3_CONTINUOUS_OFF = ("sb3_sac_reactor", "sb3_td3_reactor")
CONTINUOUS_OFF = ("torchrl_sac_reactor", *SB3_CONTINUOUS_OFF)
OFF = (*CONTINUOUS_OFF, "sb3_dqn_plates")
DISCRETE = ("torchrl_ppo_plates", "sb3_a2c_plates", "mmrkhs_plates", "sb3_dqn_plates")
GROUPS: dict[str, tuple[str, ...]] = {
    "on": ON,
    "off": OFF,
    "rl": (*ON, *OFF),
    "discrete": DISCRETE,
    "continuous": ("sb3_ppo_reactor", *CONTINUOUS_OFF),
    "continuous_off": CONTINUOUS_OFF,
    "sb3_continuous_off": SB3_CONTINUOUS_OFF,
    "sb3_off": (*SB3_CONTINUOUS_OFF, "sb3_dqn_plates"),
    "sb3_dqn": ("sb3_dqn_plates",),
    "target": ("sb3_a2c_plates", "sb3_ppo_reactor", *OFF),
    "gaussian": ("sb3_ppo_reactor", "torchrl_sac_reactor", "sb3_sac_reactor"),
    "ratio": ("torchrl_ppo_plates", "sb3_ppo_reactor", "mmrkhs_plates"),
    "softmax": ("torchrl_ppo_plates", "sb3_a2c_plates", "mmrkhs_plates", "grpo_across"),
    "grpo": ("grpo_across",),
}


def subjects_of(fault: str, groups: str) -> list[str]:
    """Return the one or two subjects in which a fault is planted."""
    able = [name for group in groups.split() for name in GROUPS[group]]
    order = sorted(able, key=lambda name: drawn("ninth subject", fault, name))
    return sorted(order[: 2 if drawn("ninth twice", fault) < TWICE else 1])


def draw() -> dict[str, tuple[str, list[str]]]:
    """Return the link and the subjects of every fault."""
    pools = tomllib.loads(POOL.read_text("utf-8"))
    return {fault: (link, subjects_of(fault, groups)) for link, pool in pools.items() for fault, groups in pool.items()}


if __name__ == "__main__":
    chosen = draw()
    for fault, (link, subjects) in chosen.items():
        print(f"{link:18} {fault:26} {' '.join(subjects)}")
    print(f"{len(chosen)} faults, {sum(len(subjects) for _, subjects in chosen.values())} runs")
