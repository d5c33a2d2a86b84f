"""TorchRL in the eleventh live campaign: trainers and tasks; the rest is the tenth list's."""

from __future__ import annotations

from typing import Any

import eleventh_tasks
import ninth_torchrl
import tenth_torchrl
from eleventh_stand_in import standing_in
from worlds import Truth

from firstbreak.monitor.world import World

assert eleventh_tasks.OWN  # importing it makes the tasks known to the tenth list's worlds
SIZES = (48, 48)
SUBJECTS: dict[str, tuple[dict[str, Any], str, bool, int, int, int]] = {
    "torchrl_ppo_cartpole": ({"gamma": 0.98, "learning_rate": 1e-3}, "CartPole", False, 4, 14_336, 25),
    "torchrl_sac_locks": ({"gamma": 0.9, "learning_rate": 2e-3}, "Locks", True, 1, 2_200, 8),
}
"""Settings, task, whether it is normalised, copies, environment steps, episodes that a return is averaged over."""


def settings_of(subject: str) -> dict[str, Any]:
    """Return the settings, as a user would hand them to the monitor."""
    return SUBJECTS[subject][0]


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Any, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    with standing_in(tenth_torchrl, SUBJECTS=SUBJECTS), standing_in(ninth_torchrl, SIZES=SIZES):
        tenth_torchrl.train(subject, fault, seed, share, monitor, world, truth)
