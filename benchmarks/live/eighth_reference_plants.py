"""Faults of the eighth live campaign that are planted in the reference trainers; what they are: eighth.toml.

Each is handed the trainer and how large it is to be.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
from eighth_optimisers import OF_OPTIMISERS, rate_below_nothing
from eighth_reference_replay import OF_REPLAY, Plant


def optimisers(trainer: Any) -> list[Any]:
    """Return the optimisers of a trainer."""
    return [value for value in vars(trainer).values() if isinstance(value, torch.optim.Optimizer)]


def of_optimisers(change: Callable[[Any, float], None]) -> Plant:
    """Return what plants a fault of optimisers in a trainer."""
    return lambda trainer, dose: change(optimisers(trainer), dose)


def rate_below(trainer: Any, dose: float) -> None:
    """The rate falls in a straight line until the end, where it is so many times itself below nothing."""
    began = trainer.env_steps
    rest = max(1, trainer.total - began)
    rate_below_nothing(optimisers(trainer), dose, lambda: (trainer.env_steps - began) / rest)


def of_rollouts(change: Callable[[Any], Any]) -> Plant:
    """Return what lets `change` do what it does to every rollout."""

    def plant(trainer: Any, dose: float) -> None:
        del dose
        usual = trainer.collect
        trainer.collect = lambda: change(usual())

    return plant


def action_row_before(rollout: Any) -> Any:
    """Each row has the action of the row before."""
    rollout["action"] = rollout["action"].roll(1, 1)
    return rollout


def value_row_off(rollout: Any) -> Any:
    """What follows is valued as what was."""
    rollout["next_value"] = rollout["value"].clone()
    return rollout


def base_plays(trainer: Any, dose: float) -> None:
    """Who plays has the weights with which the run began."""
    del dose
    played_by(trainer, lambda player: player.load_state_dict(trainer.first_actor.state_dict()))


def head_left_out(trainer: Any, dose: float) -> None:
    """Who plays has the weights of now, but the last layer with which the run began."""
    del dose
    played_by(trainer, lambda player: player.net[-1].load_state_dict(trainer.first_actor.net[-1].state_dict()))


def played_by(trainer: Any, change: Callable[[Any], Any]) -> None:
    """Let who plays be a copy that `change` does something to, every time; what it says of its actions is kept."""
    usual = trainer.collect

    def collect() -> Any:
        learner, trainer.actor = trainer.actor, deepcopy(trainer.actor)
        change(trainer.actor)
        rows = usual()
        trainer.actor = learner
        if hasattr(trainer, "old_actor"):
            trainer.old_actor.load_state_dict(learner.state_dict())
        return rows

    trainer.collect = collect


def row_left_over(trainer: Any, dose: float) -> None:
    """The last minibatch of an epoch has one row, and is normalised like any other."""
    del dose

    def minibatches(rollout: Any) -> Any:
        flat = rollout.reshape(-1)
        order = torch.randperm(len(flat))
        for rows in (*order[:-1].chunk(trainer.config.num_minibatches), order[-1:]):
            yield flat[rows]

    trainer.minibatches = minibatches
    trainer.normalised = lambda advantage: (advantage - advantage.mean()) / (advantage.std() + 1e-8)


def majoriser_of_itself(trainer: Any, dose: float) -> None:
    """The policy that a new one must stay near is the new one."""
    del dose
    trainer.old_actor = trainer.actor


PLANTS: dict[str, Plant] = OF_REPLAY | {
    **{name: of_optimisers(change) for name, change in OF_OPTIMISERS.items()},
    "rate-below-nothing": rate_below,
    "value-row-off": of_rollouts(value_row_off),
    "base-plays": base_plays,
    "head-left-out": head_left_out,
    "row-left-over": row_left_over,
    "majoriser-of-itself": majoriser_of_itself,
}


def action_row_before_of(trainer: Any, dose: float) -> None:
    """Each row has the action of the row before: in a rollout, or in what replay hands out."""
    (OF_REPLAY["action-row-before"] if hasattr(trainer, "buffer") else of_rollouts(action_row_before))(trainer, dose)


PLANTS["action-row-before"] = action_row_before_of
