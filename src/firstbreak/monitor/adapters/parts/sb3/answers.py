"""Whether what decides on actions in Stable-Baselines3 computes what it computed when training began."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from torch import Tensor

from ..gaps import Gaps
from ..weights.twin import METRIC, ROWS, Twin, parameters_of, twin_of
from .acted import state_of

EVERY = {PPO: 128, A2C: 256, DQN: 64}
"""Environment steps of all copies from one look to the next. Engineering choices: a look is two forward passes, well
below 1 % of what so many steps and the updates that go with them take."""
EVERY_OTHER = 32
"""The same of trainers that take a gradient step of several networks at each step."""


class AnswersOfModel:
    """Asks one model while it plays, in the states that it plays in."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._every = next((every for kind, every in EVERY.items() if isinstance(model, kind)), EVERY_OTHER)
        self._due = self._every
        self._twin = _twin(model)
        self.gaps = Gaps(METRIC) if self._twin is None else self._twin.gaps

    def look(self, chosen: Mapping[str, Any]) -> dict[str, float]:
        """Look where it is time; return what is to be told at once.

        Args:
            chosen: The local variables of the library's loop.
        """
        if self._twin is None or self.model.num_timesteps < self._due:
            return {}
        self._due = int(self.model.num_timesteps) + self._every
        states: Any = chosen.get("obs_tensor")
        if states is None:
            states = state_of(self.model)
        return self._twin.tell(states[:ROWS]) if isinstance(states, Tensor) else {}


def _twin(model: Any) -> Twin | None:
    policy: Any = model.policy
    if isinstance(model, OnPolicyAlgorithm):
        return twin_of(policy, lambda asked, states: parameters_of(asked.get_distribution(states).distribution))
    if hasattr(policy, "q_net"):
        return twin_of(policy.q_net, lambda asked, states: asked(states))
    actor: Any = getattr(policy, "actor", None)
    if hasattr(actor, "get_action_dist_params"):
        return twin_of(actor, _parameters)
    return None if actor is None else twin_of(actor, lambda asked, states: asked(states))


def _parameters(actor: Any, states: Tensor) -> Tensor:
    """Return what a squashed policy says of states [N, K]: its means, and its spreads where they go with the state."""
    mean, log_std, _ = actor.get_action_dist_params(states)
    return torch.cat((mean, log_std), 1) if log_std.shape == mean.shape else mean  # gSDE: one matrix for all states
