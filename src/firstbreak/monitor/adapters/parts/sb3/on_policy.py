"""Around one update of PPO or A2C in Stable-Baselines3: what is known before it, during it and after it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from gymnasium.spaces import Discrete
from stable_baselines3.common.buffers import RolloutBuffer
from torch import Tensor

from ....tensors.advantages import advantages, follow, gae_residual, return_correlation
from ....tensors.critic import value_fit, value_residual
from ....tensors.quantities import Quantities
from ....tensors.ratios import importance_ratios
from ..in_force import DISCOUNT, TRACE_DECAY
from ..weights.gradients import WeightChange
from ..weights.untouched import untouched

ROWS = 512
"""Rows of a rollout, evenly spread, on which the policy is looked at again. Engineering choice: 1 % of an update."""
GLANCE = 128
"""Rows for a glance between epochs. Engineering choice."""
LOGGED = {
    "train/policy_gradient_loss": "policy/loss",
    "train/policy_loss": "policy/loss",
    "train/value_loss": "critic/loss",
    "train/clip_fraction": "policy/clip_fraction",
    "train/clip_range": "policy/clip_range",
    "train/loss": "optim/loss_total",
    "train/n_updates": "optim/n_updates",
}
"""What the algorithms record, under the canonical names. `train/approx_kl` is left out: see `OnPolicy.now`."""


JUMPING = ("train/policy_gradient_loss", "train/policy_loss", "train/value_loss")


class OnPolicy:
    """Measures one model; every method leaves weights, modes and random generators as they were."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._obs: Any = None
        self._actions: Any = None
        self._old: Tensor | None = None
        self._values: Tensor | None = None
        self._better: Tensor | None = None
        self._change: WeightChange | None = None
        self._logged: dict[str, Any] = {}

    def note(self, logged: dict[str, Any]) -> None:
        """Take what `train` recorded."""
        self._logged = logged

    @property
    def minibatches(self) -> int:
        """Optimiser steps of one epoch."""
        size = getattr(self.model, "batch_size", None)
        rows = self.model.n_steps * self.model.n_envs
        return 1 if size is None else -(-rows // int(size))

    @property
    def optimiser_steps(self) -> int:
        """Optimiser steps of one update: 1 for A2C."""
        return self.minibatches * int(getattr(self.model, "n_epochs", 1))

    def before(self) -> dict[str, float]:
        """Look at a full rollout before it is used, and remember some of its rows."""
        buffer = self.model.rollout_buffer
        columns = {
            name: torch.as_tensor(np.ascontiguousarray(getattr(buffer, name)), device="cpu")
            for name in ("advantages", "values", "returns", "rewards")
        }
        self._remember(buffer)
        self._change = WeightChange([w for w in self.model.policy.parameters() if w.requires_grad])
        quantities = Quantities()
        quantities.add(advantages(columns["advantages"], self._normalised(columns["advantages"])))
        quantities.add(value_fit(columns["values"], columns["returns"]))
        quantities.add(return_correlation(columns["advantages"], columns["returns"], columns["values"]))
        quantities.add(self._summed(columns))
        rewards, returns = columns["rewards"], columns["returns"]
        quantities.add({"reward/step_mean": rewards.mean(), "reward/step_max": rewards.max()})
        quantities.add({"critic/target_mean": returns.mean(), "critic/target_max": returns.max()})
        quantities.add({"critic/target_min": returns.min()})
        row = {**quantities.numbers(), **self._saturation(buffer.actions)}
        # Not in the logger: what is in force, which settings at the start do not say.
        row |= {"policy/ent_coef": float(self.model.ent_coef), DISCOUNT: float(buffer.gamma)}
        row[TRACE_DECAY] = float(buffer.gae_lambda)
        return row | {"policy/ratio_first_minibatch": self.glance()[0], **self._valued()}

    def glance(self) -> tuple[float, float]:
        """Mean ratio and KL (k3) on some of the remembered rows: cheap enough for the end of an epoch."""
        if self._old is None:
            return math.nan, math.nan
        few = slice(None, None, max(1, len(self._old) // GLANCE))
        seen: Any = self._obs
        obs: Any = {name: rows[few] for name, rows in seen.items()} if isinstance(seen, dict) else seen[few]  # pyright: ignore[reportUnknownVariableType]
        with untouched(self.model.policy):
            log_ratio: Tensor = self.model.policy.evaluate_actions(obs, self._actions[few])[1] - self._old[few]
            ratio: Tensor = log_ratio.exp()
            found: list[float] = cast(Any, torch.stack((ratio.mean(), (ratio - 1 - log_ratio).mean()))).tolist()
        return found[0], found[1]

    def now(self) -> dict[str, float]:
        """How far the policy has moved from the one that acted, on the remembered rows.

        Unlike `train/approx_kl`, the mean over the last epoch's minibatches before each of their steps, this is the
        policy as it stands.
        """
        if self._old is None:
            return {}
        model, quantities = self.model, Quantities()
        with untouched(model.policy):
            _, log_prob, entropy = model.policy.evaluate_actions(self._obs, self._actions)
            quantities.add(importance_ratios(log_prob, self._old))
            if self._better is not None:
                quantities.add(follow(self._better, self._old, log_prob))
            quantities.add({"policy/entropy": -log_prob.mean() if entropy is None else entropy.mean()})
            std = getattr(model.policy, "log_std", None)
            if std is not None and not model.use_sde:
                spread = cast(Tensor, std).exp()
                quantities.add({"policy/action_std": spread.mean()})
                quantities.add({"policy/action_std_min": spread.min(), "policy/action_std_max": spread.max()})
            return quantities.numbers()

    def after(self) -> dict[str, float]:
        """Look at a finished update: what the algorithm recorded, the policy as it stands, how far weights moved."""
        row = self._under(LOGGED) | self.now()
        if self._change is not None:
            quantities = Quantities()
            moved, norm = self._change.take()
            quantities.add({"optim/weight_delta": moved / norm, "net/weight_norm": norm})
            row |= quantities.numbers()
            self._change = None
        return row

    def recorded(self) -> dict[str, float]:
        """What the algorithm itself recorded of its newest update that should not jump."""
        row = self._under({key: LOGGED[key] for key in JUMPING})
        entropy = self._logged.get("train/entropy_loss")
        return row if entropy is None else row | {"policy/entropy": -float(entropy)}

    def _under(self, names: Mapping[str, str]) -> dict[str, float]:
        return {name: float(self._logged[key]) for key, name in names.items() if key in self._logged}

    def _remember(self, buffer: Any) -> None:
        """Keep rows [<= 512] of a rollout [T, N]; `train` shuffles none of them, it reads copies."""
        steps, envs = buffer.actions.shape[:2]
        count = steps * envs
        flat = np.arange(min(ROWS, count)) * count // min(ROWS, count)
        where = np.divmod(flat, envs)
        device = self.model.device

        def rows(array: Any) -> Tensor:
            return torch.as_tensor(array[where], device=device)

        seen = buffer.observations
        self._obs = {k: rows(v) for k, v in seen.items()} if isinstance(seen, dict) else rows(seen)  # pyright: ignore[reportUnknownVariableType]
        actions = rows(buffer.actions)
        self._actions = actions.long().flatten() if isinstance(self.model.action_space, Discrete) else actions
        self._old = rows(buffer.log_probs).flatten()
        self._values = rows(buffer.values).flatten()
        better = rows(buffer.advantages).flatten()
        normalised = getattr(self.model, "normalize_advantage", False) and better.numel() > 1
        self._better = better - better.mean() if normalised else better

    def _summed(self, columns: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Advantages against the rewards and values beside them, where the library's own sum is what made them."""
        buffer = self.model.rollout_buffer
        stock, kind = cast(Any, RolloutBuffer), cast(Any, type(buffer))
        own = kind.compute_returns_and_advantage is not stock.compute_returns_and_advantage
        if own or buffer.buffer_size < 2:
            return {}
        follows = 1 - torch.as_tensor(buffer.episode_starts[1:], device="cpu")
        raw, reward, value = columns["advantages"], columns["rewards"], columns["values"]
        return gae_residual(raw, reward, value, follows, discount=buffer.gamma, decay=buffer.gae_lambda)

    def _normalised(self, raw: Tensor) -> Tensor | None:
        """The advantages as the loss sees them, over the rollout: minibatches are normalised one by one."""
        if not getattr(self.model, "normalize_advantage", False) or raw.numel() < 2:
            return None
        return (raw - raw.mean()) / (raw.std() + 1e-8)

    def _valued(self) -> dict[str, float]:
        """The values that were stored beside those of the critic, which has not moved since, on the remembered rows."""
        if self._values is None:
            return {}
        with untouched(self.model.policy):
            return value_residual(self._values, self.model.policy.predict_values(self._obs))

    def _saturation(self, actions: Any) -> dict[str, float]:
        """Share of action components at or beyond 1 % of the range from a bound."""
        space = self.model.action_space
        if not hasattr(space, "high"):
            return {}
        low, high = (-1.0, 1.0) if self.model.policy.squash_output else (space.low, space.high)
        edge = 0.01 * (cast(Any, np.asarray(high, np.float64)) - low)
        flat = actions.reshape(actions.shape[0] * actions.shape[1], *space.shape)
        beyond = (flat <= low + edge) | (flat >= high - edge)
        return {"policy/saturation_frac": float(beyond.mean())}


def batch_of(model: Any) -> dict[str, Any] | None:
    """Return the rollout that the update at hand is made of, None where the algorithm keeps a replay buffer instead."""
    buffer = getattr(model, "rollout_buffer", None)
    if buffer is None:
        return None
    names = ("observations", "actions", "rewards", "advantages", "returns", "episode_starts", "log_probs", "values")
    return {name: getattr(buffer, name) for name in names if getattr(buffer, name, None) is not None}
