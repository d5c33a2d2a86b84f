"""Which faults of sixth_pool.toml are in the sixth live list, and in which subjects: nobody chose them.

    python benchmarks/live/sixth_draw.py

prints the draw. Of each link a share of its faults is drawn, at least one; each comes in one or two of the subjects
that it can be planted in. All by a hash of the name, so that everybody draws the same.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path

from drawn_list import drawn

POOL = Path(__file__).resolve().parent / "sixth_pool.toml"
SHARE = 1 / 3
"""Of the faults of a link, rounded up: about thirty in all."""
TWICE = 0.55
"""Of the faults that can be planted in more than one subject: the share that comes in two."""
ON = ("ppo_descend", "mmrkhs_descend", "sb3_ppo_arm")
DQN = ("dqn_descend", "sb3_dqn_descend")
SAC = ("sac_arm", "sb3_sac_arm")
GROUPS: dict[str, tuple[str, ...]] = {
    "on": ON,
    "ppo": ("ppo_descend", "sb3_ppo_arm"),
    "sb3_ppo": ("sb3_ppo_arm",),
    "mmrkhs": ("mmrkhs_descend",),
    "dqn": DQN,
    "sac": SAC,
    "off": (*DQN, *SAC),
    "actor": (*ON, *SAC),
    "continuous": ("sb3_ppo_arm", *SAC),
    "rl": (*ON, *DQN, *SAC),
    "grpo": ("grpo_mirror",),
}


def subjects_of(source: str, groups: str) -> list[str]:
    """Return the one or two subjects in which a fault is planted."""
    able = [name for group in groups.split() for name in GROUPS[group]]
    order = sorted(able, key=lambda name: drawn("sixth subject", source, name))
    return sorted(order[: 2 if drawn("sixth twice", source) < TWICE else 1])


def draw() -> dict[str, tuple[str, list[str]]]:
    """Return the link and the subjects of every source that is drawn."""
    found: dict[str, tuple[str, list[str]]] = {}
    for link, pool in tomllib.loads(POOL.read_text("utf-8")).items():
        order = sorted(pool, key=lambda source: drawn("sixth fault", source))
        for source in order[: math.ceil(SHARE * len(order))]:
            found[source] = (link, subjects_of(source, pool[source]))
    return found


if __name__ == "__main__":
    chosen = draw()
    for source, (link, subjects) in chosen.items():
        print(f"{link:18} {source:16} {' '.join(subjects)}")
    print(f"{len(chosen)} faults, {sum(len(subjects) for _, subjects in chosen.values())} runs")
