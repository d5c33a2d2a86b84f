"""Which known fault was tried in which subject for the eleventh live list: nobody chose them.

    python benchmarks/live/eleventh_draw.py [--write]

prints the draw; `--write` makes eleventh.toml of it. The faults are those of the tenth's pool. They come in an order
that a hash drew, those that the tenth list had last; each goes to one subject that has room, of a trainer that it was
not recorded in for the tenth list: to one of a trainer that it was never recorded in, if there is one; among these a
hash decides.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import tenth_draw
from drawn_list import drawn
from tenth_origins import dose_of, family, known, list_of
from tenth_origins import recorded as recorded_before_the_tenth

HERE = Path(__file__).resolve().parent
LIST = HERE / "eleventh.toml"
EACH = 9
"""Faults of a subject."""
SB3_ON, SB3_OFF = ("sb3_ppo_ferry", "sb3_a2c_locks"), ("sb3_sac_reacher", "sb3_dqn_ferry")
REFERENCE_ON, REFERENCE_OFF = ("ppo_ferry", "mmrkhs_ferry"), ("sac_locks", "dqn_ferry")
TORCHRL = ("torchrl_ppo_cartpole", "torchrl_sac_locks")
COPIES = ("sb3_ppo_ferry", "sb3_a2c_locks", "ppo_ferry", "mmrkhs_ferry")
"""Subjects with several copies, of which the first is played: TorchRL's SerialEnv makes one to look at before."""
RL = (*SB3_ON, *SB3_OFF, *REFERENCE_ON, *REFERENCE_OFF, *TORCHRL)
SUBJECTS = (*RL, "grpo_skip")
CONTINUOUS = ("sb3_a2c_locks", "sb3_sac_reacher", "sac_locks", "torchrl_sac_locks")
SCALED = ("sb3_a2c_locks", "dqn_ferry", "mmrkhs_ferry", "sac_locks", "torchrl_sac_locks")
GROUPS: dict[str, tuple[str, ...]] = {
    "rl": RL,
    "discrete": tuple(name for name in RL if name not in CONTINUOUS),
    "continuous": CONTINUOUS,
    "copies": (*COPIES, "torchrl_ppo_cartpole"),
    "copies_counted": COPIES,
    "scaled": SCALED,
    "raw": tuple(name for name in RL if name not in SCALED),
    "dqn": ("sb3_dqn_ferry", "dqn_ferry"),
    "sb3": (*SB3_ON, *SB3_OFF),
    "sb3_on": SB3_ON,
    "sb3_off": SB3_OFF,
    "sb3_ppo": ("sb3_ppo_ferry",),
    "sb3_a2c": ("sb3_a2c_locks",),
    "sb3_sac": ("sb3_sac_reacher",),
    "sb3_dqn": ("sb3_dqn_ferry",),
    "reference": (*REFERENCE_ON, *REFERENCE_OFF),
    "reference_on": REFERENCE_ON,
    "reference_off": REFERENCE_OFF,
    "reference_ppo": ("ppo_ferry",),
    "reference_sac": ("sac_locks",),
    "reference_dqn": ("dqn_ferry",),
    "mmrkhs": ("mmrkhs_ferry",),
    "torchrl": TORCHRL,
    "torchrl_ppo": ("torchrl_ppo_cartpole",),
    "torchrl_sac": ("torchrl_sac_locks",),
    "grpo": ("grpo_skip",),
}
ELSEWHERE = {
    "std-reset": "sb3_a2c",
    "spread-unbounded": "sb3_a2c",
    "log-of-probability": "mmrkhs",
    "logits-clamped": "torchrl_ppo sb3_ppo mmrkhs grpo",
    "resumed-half": "grpo",
    "resumed-bare": "",
}
"""Groups of faults of which the tenth's pool says otherwise: here Stable-Baselines3's PPO chooses among actions and its
A2C has a spread, and neither that PPO nor that DQN is normalised, of which what is lost would be a part."""
NOT_THERE = {
    "reward-constant": ("torchrl_ppo_cartpole",),
    "actuator-dead": ("torchrl_ppo_cartpole",),
    "chance-wider": ("torchrl_ppo_cartpole", "sb3_sac_reacher"),
    "loss-bound-tighter": ("sb3_sac_reacher",),
    "end-unseen": ("sb3_sac_reacher",),
    "ends-bootstrapped": ("sb3_sac_reacher",),
    "restarts-from-first": ("sb3_sac_reacher",),
}
"""What Gymnasium's tasks have no counterpart of: CartPole pays one in every step and has no action that does nothing;
nothing in its steps is chance, nor in Reacher's, which never ends. Weights that are put back between the two losses of
Stable-Baselines3's SAC stop it with an error of PyTorch's: that would be the planting, not the fault."""


def able() -> dict[str, set[str]]:
    """Return the subjects that each fault of the pool can be planted in."""
    pools = tomllib.loads(tenth_draw.POOL.read_text("utf-8"))
    groups = {fault: of for pool in pools.values() for fault, of in pool.items()} | ELSEWHERE
    return {
        fault: {name for group in of.split() for name in GROUPS[group]} - set(NOT_THERE.get(fault, ()))
        for fault, of in groups.items()
    }


@cache
def tenth() -> dict[str, str]:
    """Return the trainer that the tenth list had a fault in, by fault."""
    listed = tomllib.loads(tenth_draw.LIST.read_text("utf-8"))["fault"]
    return {fault["id"]: family(fault["subjects"][0]) for fault in listed}


def recorded(fault: str) -> set[str]:
    """Return the trainers that a fault was recorded in before."""
    return recorded_before_the_tenth(fault) | ({tenth()[fault]} if fault in tenth() else set())


def draw() -> dict[str, list[str]]:
    """Return the faults of every subject."""
    can = able()
    chosen: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for fault in sorted(can, key=lambda fault: (fault in tenth(), drawn("eleventh fault", fault))):
        free = (name for name in sorted(can[fault]) if len(chosen[name]) < EACH)
        room = [name for name in free if family(name) != tenth().get(fault)]
        if room:
            before = recorded(fault)
            first = min(room, key=lambda name: (family(name) in before, drawn("eleventh subject", fault, name)))
            chosen[first].append(fault)
    return chosen


HEAD = """# Faults of the eleventh live campaign (eleventh.py): known ones; subjects, seeds and instants are new.
# Written by `python benchmarks/live/eleventh_draw.py --write`: what it is, which links are right and how large it is
# are those of the list it is `of`; only where it is planted was drawn, by a hash. No trial chose among them, no monitor
# was asked. eleventh_head.md says what this list can tell and what it cannot.
"""


def written(chosen: dict[str, list[str]]) -> str:
    """Return the list as TOML."""
    entries = [tenth_draw.entry(fault, name, known()[fault][1]) for name, faults in chosen.items() for fault in faults]
    return "\n".join([HEAD, *entries])


def summary(chosen: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return what is to be shown of every pair."""
    return [
        {
            "subject": name, "fault": fault, "link": known()[fault][1]["link"], "of": list_of(fault),
            "dose": dose_of(fault), "known_there": family(name) in recorded(fault), "of_the_tenth": fault in tenth(),
        }
        for name, faults in chosen.items()
        for fault in faults
    ]  # fmt: skip


if __name__ == "__main__":
    found = draw()
    if "--write" in sys.argv:
        LIST.write_text(written(found), "utf-8")
    for one in summary(found):
        print(*one.values(), sep="\t")
