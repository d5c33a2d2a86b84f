"""TorchRL in the tenth live campaign: trainers, tasks, and when a known fault begins in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ninth_torchrl
import ninth_torchrl_plants
import tenth_worlds
import torch
from eighth_optimisers import OF_OPTIMISERS
from fifth_doses import doses
from fifth_reference import GROWTH
from fifth_weights import truncated, warming
from fourth_weights import bit_flips, gradients_kept, gradients_late
from tenth_origins import dose_of, list_of
from third_weights import coarse
from torchrl.envs import Compose, GymWrapper, RewardSum, SerialEnv, StepCounter, TransformedEnv
from worlds import Truth

from firstbreak.monitor.world import World

SUBJECTS: dict[str, tuple[dict[str, Any], str, bool, int, int, int]] = {
    "torchrl_ppo_raft": ({"gamma": 0.95, "learning_rate": 1.5e-3}, "Raft", True, 4, 14_336, 30),
    "torchrl_sac_kiln": ({"gamma": 0.94, "learning_rate": 1.5e-3}, "Kiln", False, 1, 2_200, 7),
}
"""Settings, task, whether it is normalised, copies, environment steps, episodes that a return is averaged over."""


class Switch(ninth_torchrl.Switch):
    """As in the ninth list: passes on what faults of a batch are planted in. Any list's fault may be switched on."""

    def __init__(self, subject: str, truth: Truth, fault: str, share: float) -> None:
        total = SUBJECTS[subject][4]
        # The ninth list's looks the length of a run up by subject.
        settings, name, _, copies, _, window = SUBJECTS[subject]
        ninth_torchrl.SUBJECTS.setdefault(subject, (settings, name, copies, total, window))
        super().__init__(subject, truth, fault, share)
        self.at, self.total = share * total, total

    def begin(self) -> None:
        """Switch the fault on."""
        fault = self.fault
        if not fault:
            return
        if tenth_worlds.in_the_world(fault):
            self.truth.fault = fault
        elif list_of(fault) == "ninth":
            ninth_torchrl_plants.plant(self, fault, dose_of(fault))
        else:
            dose = doses(self.truth, self.total)
            for optimiser in self.pieces.optimisers:
                OF_OPTIMISER[fault](optimiser, dose)


OF_OPTIMISER: dict[str, Callable[[Any, Callable[[], float]], None]] = {
    "moments-swapped": lambda optimiser, dose: OF_OPTIMISERS["moments-swapped"]([optimiser], 1.0),
    "weights-cut": truncated,
    "rate-warms": lambda optimiser, dose: warming(optimiser, GROWTH, dose),
    "bit-flips": lambda optimiser, dose: bit_flips(optimiser),
    "gradients-late": lambda optimiser, dose: gradients_late(optimiser),
    "gradients-kept": lambda optimiser, dose: gradients_kept(optimiser),
    "weights-coarse": lambda optimiser, dose: coarse(optimiser),
}
"""Faults of earlier lists that are planted in an optimiser, whoever owns it."""


def settings_of(subject: str) -> dict[str, Any]:
    """Return the settings, as a user would hand them to the monitor."""
    return SUBJECTS[subject][0]


def built(subject: str, fault: str, seed: int, world: World | None, truth: Truth, switch: Switch) -> Any:
    """Return the trainer of `subject`, `switch` being in it, in the world of the list that `fault` is of."""
    torch.manual_seed(seed)
    settings, name, scaled, copies, frames, _ = SUBJECTS[subject]
    factory = tenth_worlds.maker(name, subject, fault, truth, seed, frames, world, scaled)
    inner = SerialEnv(copies, lambda: GymWrapper(factory())) if copies > 1 else GymWrapper(factory())
    env = TransformedEnv(inner, Compose(RewardSum(), StepCounter()))
    env.set_seed(seed)
    make = ninth_torchrl.on_policy if "_ppo_" in subject else ninth_torchrl.off_policy
    switch.trainer, switch.pieces = make(env, settings, frames, switch)
    switch.trainer.register_op("post_steps", switch.look)
    return switch.trainer


def train(
    subject: str, fault: str, seed: int, share: float, monitor: Any, world: World, truth: Truth
) -> None:  # fmt: skip
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    from firstbreak.monitor.adapters.torchrl import MonitorHook

    trainer = built(subject, fault, seed, world, truth, Switch(subject, truth, fault, share))
    MonitorHook(monitor).register(trainer)
    trainer.train()
