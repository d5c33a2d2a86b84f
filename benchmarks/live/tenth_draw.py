"""Which known fault was tried in which subject for the tenth live list: nobody chose them.

    python benchmarks/live/tenth_draw.py [--write]

prints the draw; `--write` makes tenth.toml of it. All known faults that can be planted anywhere (tenth_pool.toml) come
in an order that a hash drew, so that kinds are about as frequent as in the nine lists together. Each goes to one
subject that has room: to one of a trainer that it was never recorded in, if there is one; among these a hash decides.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from drawn_list import drawn
from tenth_origins import dose_of, family, known, list_of, recorded

HERE = Path(__file__).resolve().parent
POOL, LIST = HERE / "tenth_pool.toml", HERE / "tenth.toml"
EACH = 7
"""Faults of a subject."""
SB3_ON, SB3_OFF = ("sb3_ppo_kiln", "sb3_a2c_raft"), ("sb3_sac_kiln", "sb3_dqn_raft")
REFERENCE_ON, REFERENCE_OFF = ("ppo_raft", "mmrkhs_raft"), ("sac_kiln", "dqn_raft")
TORCHRL = ("torchrl_ppo_raft", "torchrl_sac_kiln")
COPIES = ("sb3_ppo_kiln", "sb3_a2c_raft", "ppo_raft", "mmrkhs_raft")
"""Subjects with several copies, of which the first is played: TorchRL's SerialEnv makes one to look at before."""
RL = (*SB3_ON, *SB3_OFF, *REFERENCE_ON, *REFERENCE_OFF, *TORCHRL)
SUBJECTS = (*RL, "grpo_back")
GROUPS: dict[str, tuple[str, ...]] = {
    "rl": RL,
    "discrete": tuple(name for name in RL if name.endswith("raft")),
    "continuous": tuple(name for name in RL if name.endswith("kiln")),
    "copies": (*COPIES, "torchrl_ppo_raft"),
    "copies_counted": COPIES,
    "scaled": ("sb3_ppo_kiln", "sb3_sac_kiln", "sb3_dqn_raft", "ppo_raft", "torchrl_ppo_raft"),
    "raw": ("sb3_a2c_raft", "mmrkhs_raft", "sac_kiln", "dqn_raft", "torchrl_sac_kiln"),
    "dqn": ("sb3_dqn_raft", "dqn_raft"),
    "sb3": (*SB3_ON, *SB3_OFF),
    "sb3_on": SB3_ON,
    "sb3_off": SB3_OFF,
    "sb3_ppo": ("sb3_ppo_kiln",),
    "sb3_a2c": ("sb3_a2c_raft",),
    "sb3_sac": ("sb3_sac_kiln",),
    "sb3_dqn": ("sb3_dqn_raft",),
    "reference": (*REFERENCE_ON, *REFERENCE_OFF),
    "reference_on": REFERENCE_ON,
    "reference_off": REFERENCE_OFF,
    "reference_ppo": ("ppo_raft",),
    "reference_sac": ("sac_kiln",),
    "reference_dqn": ("dqn_raft",),
    "mmrkhs": ("mmrkhs_raft",),
    "torchrl": TORCHRL,
    "torchrl_ppo": ("torchrl_ppo_raft",),
    "torchrl_sac": ("torchrl_sac_kiln",),
    "grpo": ("grpo_back",),
}


def able() -> dict[str, set[str]]:
    """Return the subjects that each fault of the pool can be planted in."""
    pools = tomllib.loads(POOL.read_text("utf-8"))
    return {
        fault: {name for group in groups.split() for name in GROUPS[group]}
        for pool in pools.values()
        for fault, groups in pool.items()
    }


def draw() -> dict[str, list[str]]:
    """Return the faults of every subject."""
    can = able()
    chosen: dict[str, list[str]] = {subject: [] for subject in SUBJECTS}
    for fault in sorted(can, key=lambda fault: drawn("tenth fault", fault)):
        room = [subject for subject in sorted(can[fault]) if len(chosen[subject]) < EACH]
        if room:
            before = recorded(fault)
            first = min(room, key=lambda name: (family(name) in before, drawn("tenth subject", fault, name)))
            chosen[first].append(fault)
    return chosen


HEAD = """# Faults of the tenth live campaign (tenth.py): known ones, in subjects, seeds and instants that are new.
# Written by `python benchmarks/live/tenth_draw.py --write`: what it is, which links are right and how large it is are
# those of the list it is `of`; only where it is planted was drawn, by a hash. No trial chose among them, no monitor was
# asked. tenth_head.md says what this list can tell and what it cannot.
"""


def written(chosen: dict[str, list[str]]) -> str:
    """Return the list as TOML."""
    parts = [HEAD]
    for subject, faults in chosen.items():
        parts += [entry(fault, subject, known()[fault][1]) for fault in faults]
    return "\n".join(parts)


def entry(fault: str, subject: str, said: dict[str, Any]) -> str:
    """Return one fault of the list as TOML."""
    lines = [f'id = "{fault}"', f'of = "{list_of(fault)}"', f'what = "{said["what"]}"', f'link = "{said["link"]}"']
    if said.get("also_right"):
        lines.append("also_right = [" + ", ".join(f'"{link}"' for link in said["also_right"]) + "]")
    lines += [f'subjects = ["{subject}"]', f"dose = {{ {subject} = {dose_of(fault):g} }}"]
    return "[[fault]]\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = draw()
    if "--write" in sys.argv:
        LIST.write_text(written(found), "utf-8")
    for subject, faults in found.items():
        for fault in faults:
            again = " (recorded before)" if family(subject) in recorded(fault) else ""
            print(f"{subject:18} {known()[fault][1]['link']:20} {fault}{again}")
