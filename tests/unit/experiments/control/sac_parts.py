"""SAC of `firstbreak.trainers` whose actor is cut off from its critic, or goes away from where it is sent."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

from firstbreak.preflight.invariants.pieces import Pieces
from firstbreak.preflight.invariants.subjects import subjects
from firstbreak.trainers.sac import SAC, SACConfig

SMALL = SACConfig(hidden_sizes=(32, 32), batch_size=96)


class Detached(SAC):
    """The actor drifts by its entropy alone; the critic's gradient does not reach it."""

    def actor_loss(self, sample: Any, draw: tuple[Tensor, Tensor] | None = None) -> Tensor:
        action, log_prob = self.actor.sample(sample["obs"]) if draw is None else draw
        return super().actor_loss(sample, (action.detach(), log_prob))


class Away(SAC):
    """The actor goes where its critic says that least is earned."""

    def actor_loss(self, sample: Any, draw: tuple[Tensor, Tensor] | None = None) -> Tensor:
        return -super().actor_loss(sample, draw)


def blind() -> Any:
    """Pendulum of which every observation is 0."""
    import gymnasium
    import numpy as np

    env = gymnasium.make("Pendulum-v1")
    return gymnasium.wrappers.TransformObservation(env, np.zeros_like, env.observation_space)


def _train(kind: type[SAC], make_env: Any, total_steps: int, seed: int) -> SAC:
    torch.set_num_threads(1)
    trainer = kind(make_env, seed=seed, config=SMALL)
    trainer.learn(total_steps)
    return trainer


def healthy(make_env: Any, *, total_steps: int, seed: int) -> SAC:
    """As it should be."""
    return _train(SAC, make_env, total_steps, seed)


def detached(make_env: Any, *, total_steps: int, seed: int) -> SAC:
    """See `Detached`."""
    return _train(Detached, make_env, total_steps, seed)


def away(make_env: Any, *, total_steps: int, seed: int) -> SAC:
    """See `Away`."""
    return _train(Away, make_env, total_steps, seed)


@cache
def the_same_parts() -> Pieces:
    """The parts of one trainer, whoever asks."""
    import gymnasium

    return subjects(healthy(lambda: gymnasium.make("Pendulum-v1"), total_steps=0, seed=0), 0)[0]
