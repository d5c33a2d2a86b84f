"""What the trainers of `firstbreak.trainers` change by a plan: the trainer's own code beside what its config says."""

from __future__ import annotations

from typing import Any

from ....finding import Component, Link
from ..pieces import Schedule
from ..torch_types import load_torch
from .attributes import kept_numbers

STEPS = 1_000_000
"""A planned run, long enough for its first step to be its beginning."""
UPDATES = (0, 2, 8, 24)


def exploration(trainer: Any) -> Schedule:
    """The share of random actions of DQN, at the start and at the end of a run."""

    def used(done_frac: float) -> float:
        with kept_numbers(trainer):
            trainer.total_steps, trainer.env_steps = STEPS, round(done_frac * STEPS)
            return float(trainer.epsilon)

    config = trainer.config
    promised = {0.0: config.epsilon_start, 1.0: config.epsilon_end}
    return Schedule(used, promised, Component.SAMPLER, Link.EXPLORATION)


def eta(trainer: Any) -> Schedule:
    """The step size of MM-RKHS after so many updates, for advantages of 0: then nothing but the plan bounds it."""
    torch = load_torch()
    space = trainer.env.action_spec.space
    action = torch.zeros(1, 1, dtype=torch.long) if hasattr(space, "n") else torch.zeros(1, 1, space.low.shape[-1])

    def used(update: float) -> float:
        with kept_numbers(trainer):
            trainer.iteration = int(update)
            trainer.set_weights({"advantage": torch.zeros(1, 1), "action": action})
            return float(trainer.eta)

    config = trainer.config
    plan = {float(k): config.eta_initial * (1.0 + config.eta_growth * k) for k in UPDATES}
    return Schedule(used, {k: min(value, config.eta_ceiling) for k, value in plan.items()})
