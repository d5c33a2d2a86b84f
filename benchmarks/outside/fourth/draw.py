"""Which faults of the pool the fourth list has, on which trainer, and whether from the first step: drawn with a seed.

python -m benchmarks.outside.fourth.draw   # print the draw that `fourth.toml` was written from
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

POOL = Path(__file__).parent / "pool.toml"
SEED = 20261126
DRAWN = 50
BASES: dict[str, tuple[str, ...]] = {
    "ppo": ("board_ppo_catch", "export_ppo_acrobot"), "ppoc": ("board_ppoc_arm",), "dqn": ("board_dqn_courier",),
    "c51": ("export_c51_catch",), "sac": ("board_sac_glide",), "td3": ("export_td3_arm",),
    "ddpg": ("board_ddpg_glide",), "sb3_ppo": ("sb3_ppo_courier",), "sb3_dqn": ("sb3_dqn_catch",),
    "sb3_sac": ("sb3_sac_arm",),
}  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """One fault of the list."""

    id: str
    base: str
    midway: bool


def pool() -> list[dict[str, Any]]:
    """Return the entries of the pool."""
    return tomllib.loads(POOL.read_text("utf-8"))["entry"]


def draw(entries: Sequence[Mapping[str, Any]], count: int = DRAWN, seed: int = SEED) -> list[Drawn]:
    """Draw entries; each goes to the trainer with the fewest so far, its beginning to where fewer are."""
    chance = random.Random(seed)
    taken: Counter[str] = Counter()
    late = Counter[bool]()
    found: list[Drawn] = []
    for entry in chance.sample(list(entries), count):
        bases = [base for family in entry["on"] for base in BASES[family]]
        base = min(chance.sample(bases, len(bases)), key=lambda name: taken[name])
        starts = chance.sample(list(entry["starts"]), len(entry["starts"]))
        start = min(starts, key=lambda name: late[name == "midway"])
        taken[base] += 1
        late[start == "midway"] += 1
        found.append(Drawn(str(entry["id"]), base, start == "midway"))
    return found


def main() -> None:
    for one in sorted(draw(pool()), key=lambda one: (one.base, one.id)):
        print(f"{one.base:20} {'midway' if one.midway else 'start':7} {one.id}")


if __name__ == "__main__":
    main()
