"""What models of Stable-Baselines3 are trained on, beside what the environments under them gave and got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....exchange.exchanged import of
from ....exchange.glimpses import Glimpses
from ....exchange.handed_on import HandedOn, Stored, taking_turns
from ..obeying import harmless
from ..replay_chain import newest

if TYPE_CHECKING:
    from ....core import Monitor


class StepsOfModel:
    """Compares the newest stored steps of one model with those of the monitor's world."""

    def __init__(self, model: Any, monitor: Monitor) -> None:
        self.model, self.monitor = model, monitor
        self._handed = HandedOn()
        self._glimpses = Glimpses(self._handed)
        self._collects = hasattr(model, "rollout_buffer")

    def look(self) -> dict[str, float]:
        """Look at one step of a rollout that was just taken, before it is stored; return what is told at once."""
        shown: Any = self.model._last_obs
        if not self._collects or not hasattr(shown, "ndim"):  # several observations at once
            return {}
        exchanged = of(self.monitor)
        self._glimpses.show(shown, exchanged, taken=True)
        return self._glimpses.look(exchanged)

    def take(self) -> dict[str, float]:
        """Return what became of the steps since the last call; nothing where the world did not see them all."""
        self._glimpses.row()
        with harmless(self.monitor, "steps handed on"):
            exchanged = of(self.monitor)
            buffer = getattr(self.model, "rollout_buffer", None)
            held = self.model.replay_buffer if buffer is None else buffer
            count = self._handed.due(exchanged, int(self.model.num_timesteps), _held(held))
            count -= count % int(self.model.n_envs)
            if exchanged is not None and count and not isinstance(held.observations, dict):
                stored = self._replayed(held, count) if buffer is None else self._collected(buffer, count)
                return self._handed.numbers(exchanged.last(count), stored)
        return {}

    def _collected(self, buffer: Any, count: int) -> Stored:
        """The newest `count` steps of a full rollout [T, N]."""
        model, places = self.model, slice(-(count // self.model.n_envs), None)
        ends = np.concatenate([buffer.episode_starts[1:], np.asarray(model._last_episode_starts)[None]])
        actions = buffer.actions[places]
        if hasattr(model.action_space, "high"):
            squashed = model.policy.squash_output
            low, high = model.action_space.low, model.action_space.high
            actions = model.policy.unscale_action(actions) if squashed else np.clip(actions, low, high)
        return Stored(
            obs=_flat(buffer.observations[places], count),
            action=_flat(actions, count),
            reward=_flat(buffer.rewards[places], count),
            ended=_flat(ends[places], count),
            bootstrapped=True,
            copy=taking_turns(count, int(model.n_envs)),
        )

    def _replayed(self, buffer: Any, count: int) -> Stored:
        """The newest `count` steps of a replay buffer, as they are sampled."""
        rows = newest(count // self.model.n_envs, buffer.pos, buffer.buffer_size)
        seen = buffer._normalize_obs(buffer.observations[rows], self.model._vec_normalize_env)
        return Stored(
            obs=_flat(seen, count),
            action=_flat(buffer.actions[rows], count),
            reward=_flat(buffer.rewards[rows], count),
            ended=_flat(buffer.dones[rows], count),
            copy=taking_turns(count, int(self.model.n_envs)),
        )


def _held(buffer: Any) -> int:
    """Steps that a buffer holds, of all copies."""
    rows = buffer.buffer_size if buffer.full else buffer.pos
    return int(rows) * int(buffer.n_envs)


def _flat(table: NDArray[Any], count: int) -> NDArray[Any]:
    """[T, N, ...] as [T N, ...]."""
    return table.reshape(count, -1)
