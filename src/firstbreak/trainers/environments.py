"""Copies of a Gymnasium environment as one TorchRL environment, with the transitions that learning needs.

Inside every stored transition `next` holds what really followed: at the end of an episode the final observation, never
the first of the next episode. There are no rows in which an action was ignored.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from ..errors import InputError

MakeEnv = Callable[[], Any]
"""Returns a fresh Gymnasium environment."""
tensor: Callable[[Any], Tensor] = cast(Any, torch).from_numpy


def discrete(space: Any) -> bool:
    """Whether `space` holds single whole numbers; MultiBinary has an `n` as well, and a shape."""
    return hasattr(space, "n") and not space.shape


class Copies(EnvBase):
    """N copies of an environment, stepped one after the other; batch size [N].

    Observations are float32 vectors [N, D] (discrete ones as one-hot), discrete actions int64 [N], continuous ones
    float32 [N, A]. Copy i is seeded with seed + i, so that no two start alike.
    """

    def __init__(self, make_env: MakeEnv, n: int, seed: int) -> None:
        cast(Any, super()).__init__(device="cpu", batch_size=torch.Size([n]))
        self.copies: list[Any] = [make_env() for _ in range(n)]
        self.seeds: list[int | None] = [seed + i for i in range(n)]
        self._set_specs(self.copies[0].observation_space, self.copies[0].action_space)

    def _set_specs(self, observations: Any, actions: Any) -> None:
        if getattr(observations, "shape", None) is None:
            raise InputError(f"Observations of {observations} are not supported.", "Wrap it in FlattenObservation.")
        n = self.batch_size
        self.one_hot = int(observations.n) if discrete(observations) else 0
        self.first_obs = int(getattr(observations, "start", 0)) if self.one_hot else 0
        width = self.one_hot or math.prod(observations.shape)
        self.rows = np.zeros((*n, width), np.float32)
        row, flags = torch.Size([*n, width]), torch.Size([*n, 1])
        self.observation_spec = Composite(observation=Unbounded(row, dtype=torch.float32), shape=n)
        self.actions = actions
        self.first_action = int(getattr(actions, "start", 0)) if discrete(actions) else 0
        if discrete(actions):
            self.action_spec = Categorical(int(actions.n), shape=n, dtype=torch.int64)
        elif hasattr(actions, "low"):
            low, high = (
                torch.as_tensor(b, dtype=torch.float32).reshape(-1).expand(*n, -1) for b in (actions.low, actions.high)
            )
            self.action_spec = Bounded(low, high, shape=low.shape, dtype=torch.float32)
        else:
            raise InputError(f"Actions of {actions} are not supported.", "Discrete and Box actions are.")
        self.reward_spec = Unbounded(flags, dtype=torch.float32)
        flag = Categorical(2, shape=flags, dtype=torch.bool)
        self.done_spec = Composite(done=flag, terminated=flag.clone(), truncated=flag.clone(), shape=n)

    def _reset(self, tensordict: TensorDictBase | None = None, **options: Any) -> TensorDictBase:
        """Start the copies over that `_reset` names (all when it is absent); the others keep their observation."""
        asked = None if tensordict is None else cast(Any, tensordict).get("_reset", None)
        rows: Any = self.rows.copy()
        for i, copy in enumerate(self.copies):
            if asked is None or bool(asked[i]):
                rows[i] = self.vector(copy.reset(seed=self.seeds[i])[0])
                self.seeds[i] = None
        self.rows = rows
        off = torch.zeros(*self.batch_size, 1, dtype=torch.bool)
        flags = {name: off.clone() for name in ("done", "terminated", "truncated")}
        return TensorDict({"observation": tensor(rows), **flags}, batch_size=self.batch_size)

    def _step(self, tensordict: TensorDictBase) -> TensorDictBase:
        actions: Any = cast(Tensor, tensordict["action"]).numpy()
        rows, rewards = np.empty_like(self.rows), np.empty((len(self.copies), 1), np.float32)
        flags = np.empty((2, len(self.copies), 1), np.bool_)
        for i, (copy, action) in enumerate(zip(self.copies, actions, strict=True)):
            obs, rewards[i, 0], flags[0, i, 0], flags[1, i, 0], _ = copy.step(self.executable(action))
            rows[i] = self.vector(obs)
        self.rows = rows
        terminated, truncated = tensor(flags)
        after = {"reward": tensor(rewards), "terminated": terminated, "truncated": truncated}
        return TensorDict(
            {"observation": tensor(rows), **after, "done": terminated | truncated},
            batch_size=self.batch_size,
        )

    def _set_seed(self, seed: int | None) -> None:
        self.seeds = [None if seed is None else seed + i for i in range(len(self.copies))]

    def vector(self, obs: Any) -> Any:
        """Return one observation of the environment as the networks see it, float32 [D]."""
        if self.one_hot:
            row = np.zeros(self.one_hot, np.float32)
            row[int(obs) - self.first_obs] = 1.0
            return row
        return np.asarray(obs, np.float32).reshape(-1)

    def executable(self, action: Any) -> Any:
        """Return one action of the networks, a number or [A], as the environment takes it."""
        if discrete(self.actions):
            return int(action) + self.first_action
        return np.asarray(action, self.actions.dtype).reshape(self.actions.shape)

    def close(self, *, raise_if_closed: bool = True) -> None:
        """Close the copies."""
        for copy in self.copies:
            copy.close()
        super().close(raise_if_closed=raise_if_closed)


def make_envs(make_env: MakeEnv, n: int, seed: int) -> Copies:
    """Return `n` copies of what `make_env` returns, seeded apart."""
    return Copies(make_env, n, seed)


class Episodes:
    """Returns and lengths of the episodes that ended since they were last asked for."""

    def __init__(self, n: int) -> None:
        self.sums, self.lengths = torch.zeros(n), torch.zeros(n)
        self.ended: list[tuple[float, float, float]] = []

    def add(self, reward: Tensor, terminated: Tensor, truncated: Tensor) -> None:
        """Take in one step of all copies, each [N]."""
        self.sums += reward
        self.lengths += 1
        over: list[int] = cast(Any, torch.nonzero(terminated | truncated)).flatten().tolist()
        for i in over:
            self.ended.append((float(self.sums[i]), float(self.lengths[i]), float(truncated[i] and not terminated[i])))
            self.sums[i] = self.lengths[i] = 0

    def drain(self) -> dict[str, float]:
        """Return the metrics of the episodes that ended since the last call; nothing when none did."""
        if not self.ended:
            return {}
        returns, lengths, cut = (np.array(column) for column in zip(*self.ended, strict=True))
        self.ended = []
        return {
            "reward/episode_return_mean": float(returns.mean()),
            "reward/episode_return_max": float(returns.max()),
            "reward/episode_return_min": float(returns.min()),
            "episode/length_mean": float(lengths.mean()),
            "episode/count": float(len(returns)),
            "episode/truncated_frac": float(cut.mean()),
        }
