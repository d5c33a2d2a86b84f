"""Which faults of seventh_pool.toml were tried for the seventh live list, and in which subjects: nobody chose them.

    python benchmarks/live/seventh_draw.py

prints the draw. Of each link a share of its faults is drawn, at least one; each comes in one or two of the subjects
that it can be planted in. All by a hash of the name. What of these is in the list is what a trial made to collapse
(seventh_doses.toml).
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

from drawn_list import drawn

POOL = Path(__file__).resolve().parent / "seventh_pool.toml"
SHARE = 1.0
"""Of the faults of a link: all, as too few of those first drawn (0.6) ended in a collapse."""
TWICE = 0.6
"""Of the faults that can be planted in more than one subject: the share that comes in two."""
ON = ("ppo_beam", "mmrkhs_beam", "sb3_ppo_lane")
DQN = ("dqn_beam", "sb3_dqn_beam")
SAC = ("sac_lane", "sb3_sac_lane")
GROUPS: dict[str, tuple[str, ...]] = {
    "on": ON,
    "ppo": ("ppo_beam", "sb3_ppo_lane"),
    "sb3_ppo": ("sb3_ppo_lane",),
    "mmrkhs": ("mmrkhs_beam",),
    "dqn": DQN,
    "sac": SAC,
    "off": (*DQN, *SAC),
    "continuous": ("sb3_ppo_lane", *SAC),
    "rl": (*ON, *DQN, *SAC),
    "grpo": ("grpo_swap",),
}


def subjects_of(source: str, groups: str) -> list[str]:
    """Return the one or two subjects in which a fault is planted."""
    able = [name for group in groups.split() for name in GROUPS[group]]
    order = sorted(able, key=lambda name: drawn("seventh subject", source, name))
    return sorted(order[: 2 if drawn("seventh twice", source) < TWICE else 1])


def draw() -> dict[str, tuple[str, list[str]]]:
    """Return the link and the subjects of every source that is drawn."""
    found: dict[str, tuple[str, list[str]]] = {}
    for link, pool in tomllib.loads(POOL.read_text("utf-8")).items():
        order = sorted(pool, key=lambda source: drawn("seventh fault", source))
        for source in order[: math.ceil(SHARE * len(order))]:
            found[source] = (link, subjects_of(source, pool[source]))
    return found


if __name__ == "__main__":
    chosen = draw()
    for source, (link, subjects) in chosen.items():
        print(f"{link:18} {source:18} {' '.join(subjects)}")
    print(f"{len(chosen)} faults, {sum(len(subjects) for _, subjects in chosen.values())} runs")
