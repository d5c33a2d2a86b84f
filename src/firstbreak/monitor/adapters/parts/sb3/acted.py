"""What an off-policy model of Stable-Baselines3 does, beside what its network would do in the same state.

DQN's actions are the greedy ones but for a share that epsilon sets; those of TD3 and DDPG are the actor's and noise of
a known spread; those of SAC are draws of its policy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.noise import NormalActionNoise, VectorizedActionNoise
from torch import Tensor

from ....normal_draws import NormalDraws
from ....odds import Odds
from ..standardised import METRIC as UNLIKE_DRAWS
from ..standardised import Draws, noise, squashed

UNLIKE = "exploration/unlike_greedy_excess"
BEYOND = "exploration/unlike_greedy_nats"
NOISE_MEAN, NOISE_STD = "exploration/noise_mean", "exploration/noise_std"
EVERY = {True: 8, False: 4}
"""Environment steps from one look at DQN (True), at an actor (False) to the next: a look is one forward pass of a
network, which costs a tenth of a gradient step. Engineering choice."""
INSIDE = 0.8
"""Actions of the actor, as a share of the bound, whose noise is looked at: farther out it is cut off."""
KEPT = 1024
"""Looks that are kept until the next row, the newest."""
LEAST = 8
"""Numbers of which a row's mean and spread are taken at least. Engineering choice."""


class Acted:
    """Compares some of the actions of one model with those of its network; draws no random number."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._seen: deque[tuple[Tensor, NDArray[np.float64], float]] = deque(maxlen=KEPT)
        """Of each look: what the network says [N, K], what was done, and the share of random actions to expect."""
        self._odds = Odds()
        self._steps = 0
        self._discrete = isinstance(model.action_space, Discrete)
        self._every = EVERY[self._discrete]
        self._draws, self._squashed = NormalDraws(), _squashed(model)
        self._known = _usual_dqn(model) if self._discrete else _deterministic(model) or self._squashed

    def look(self, chosen: Mapping[str, Any]) -> dict[str, float]:
        """Look at one step of the environment, before its observation is replaced; return what is told at once.

        Args:
            chosen: The local variables of the library's loop.
        """
        self._steps += 1
        model = self.model
        drawn = model.num_timesteps >= model.learning_starts + model.n_envs  # before that all is random
        due = self._odds.near or self._draws.near or not self._steps % self._every
        if not self._known or not drawn or not due or "buffer_actions" not in chosen:
            return {}
        self._known = False  # a look that fails is the last one
        done: NDArray[np.float64] = np.array(chosen["buffer_actions"])
        if self._squashed:
            found = self._drawn(done)
            self._known = True
            return found
        with torch.no_grad():
            network = model.policy.q_net if self._discrete else model.policy.actor
            meant: Tensor = network(state_of(model))
        beyond, told = None, dict[str, float]()
        if self._discrete:
            odds = float(model.exploration_rate) * (1 - 1 / int(model.action_space.n))
            best, done = meant.argmax(1), done.reshape(len(meant))
            self._seen.append((best, done, odds))
            if best.device.type == "cpu":  # else reading it would make each look wait
                # One coin decides for all copies, so that only one of them is an event.
                beyond = self._odds.add(bool(best[0] != done[0]), odds)
        elif _gaussian(model.action_noise):
            self._seen.append((meant, done.reshape(meant.shape), 0.0))
            base: Any = _base(model.action_noise)
            if meant.device.type == "cpu" and type(base).__call__ is NormalActionNoise.__call__:
                told = self._told(noise(done.reshape(meant.shape), meant, base._mu, base._sigma))
        self._known = True
        return told if beyond is None else {BEYOND: beyond}

    def _drawn(self, done: NDArray[np.float64]) -> dict[str, float]:
        """Take actions that a squashed policy drew; return what is told at once."""
        model = self.model
        if model.device.type != "cpu" or model.action_noise is not None:
            return {}
        with torch.no_grad():
            mean, log_std, _ = model.policy.actor.get_action_dist_params(state_of(model))
        return self._told(squashed(done.reshape(mean.shape), mean, log_std.exp()))

    def _told(self, draws: Draws) -> dict[str, float]:
        beyond = self._draws.add(*draws)
        return {} if beyond is None else {UNLIKE_DRAWS: beyond}

    def take(self) -> dict[str, float]:
        """Return what was seen, once it is enough, and forget it; what networks said is brought over at once."""
        most = self._draws.take()
        return ({} if most is None else {UNLIKE_DRAWS: most}) | self._counted()

    def _counted(self) -> dict[str, float]:
        """Shares of actions that are not the network's, or mean and spread of noise, over the kept looks."""
        if not self._seen:
            return {}
        meant: NDArray[np.float64] = torch.stack([one for one, _, _ in self._seen]).cpu().numpy()
        done: NDArray[np.float64] = np.stack([one for _, one, _ in self._seen])
        odds = np.array([one for _, _, one in self._seen])
        apart = (done - meant)[np.abs(meant) < INSIDE]
        if (len(done) if self._discrete else len(apart)) < LEAST:
            return {}
        self._seen.clear()
        if self._discrete:
            most = self._odds.take()
            known = {} if most is None else {BEYOND: most}
            return known | {UNLIKE: float((meant != done).mean() - odds.mean())}
        return {NOISE_MEAN: float(apart.mean()), NOISE_STD: float(apart.std())}


def state_of(model: Any) -> Tensor:
    """Return the newest observations where the networks are, without waiting until they are there."""
    seen, device = model._last_obs, model.policy.device
    if not isinstance(seen, np.ndarray) or device.type == "cpu":
        return model.policy.obs_to_tensor(seen)[0]
    shaped = cast("NDArray[Any]", seen).reshape(-1, *model.observation_space.shape)
    return cast(Any, torch).from_numpy(shaped).to(device, non_blocking=True)


def _usual_dqn(model: Any) -> bool:
    """Whether a model explores as the library's own DQN does."""
    return isinstance(model, DQN) and type(model).predict is DQN.predict


def _deterministic(model: Any) -> bool:
    """Whether a model's actor is one of actions, not of distributions, within bounds of -1 and 1 once scaled."""
    actor = getattr(model.policy, "actor", None)
    return actor is not None and not hasattr(actor, "action_log_prob") and hasattr(model.action_space, "high")


def _squashed(model: Any) -> bool:
    """Whether actions are drawn anew at each step by a policy of Gaussians that are squashed by tanh."""
    actor = getattr(model.policy, "actor", None)
    return hasattr(actor, "get_action_dist_params") and not getattr(model, "use_sde", False)


def _gaussian(action_noise: Any) -> bool:
    """Whether noise is drawn anew at each step: that of Ornstein and Uhlenbeck wanders, and its mean says nothing."""
    return isinstance(_base(action_noise), NormalActionNoise)


def _base(action_noise: Any) -> Any:
    """The noise of one copy of the environment."""
    return action_noise.base_noise if isinstance(action_noise, VectorizedActionNoise) else action_noise
