"""The whole state of a Stable-Baselines3 algorithm as one part, for checkpoints to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

_COUNTERS = (
    "num_timesteps",
    "_n_updates",
    "_episode_num",
    "_n_calls",
    "_current_progress_remaining",
    "exploration_rate",
)
_BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")


class SB3State:
    """Wraps a Stable-Baselines3 algorithm: networks, optimisers, temperature, counters and `VecNormalize`.

    The environments themselves go on from where they are: they cannot be put back.

    Args:
        model: The algorithm.
        replay: Whether the replay buffer is kept, too. It can be large.
    """

    def __init__(self, model: Any, *, replay: bool = False) -> None:
        self._model = model
        self._replay = replay

    def state_dict(self) -> dict[str, Any]:
        """Return networks, variables, counters and statistics; tensors are not copied."""
        model = self._model
        modules, variables = model._get_torch_save_params()
        state: dict[str, Any] = {name: _attribute(model, name).state_dict() for name in modules}
        state |= {name: _attribute(model, name).detach() for name in variables or ()}
        state |= {name: getattr(model, name) for name in _COUNTERS if hasattr(model, name)}
        normaliser = model.get_vec_normalize_env()
        if normaliser is not None:
            state["obs_rms"] = _statistics(getattr(normaliser, "obs_rms", None))
            state["ret_rms"] = _statistics(normaliser.ret_rms)
        buffer = getattr(model, "replay_buffer", None)
        if self._replay and buffer is not None:
            state["replay_buffer"] = _filled(buffer)
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Put everything back in place."""
        model = self._model
        modules, variables = model._get_torch_save_params()
        for name in modules:
            _attribute(model, name).load_state_dict(state[name])
        for name in variables or ():
            _attribute(model, name).detach().copy_(state[name])
        for name in _COUNTERS:
            if name in state:
                setattr(model, name, state[name])
        normaliser = model.get_vec_normalize_env()
        if normaliser is not None and "ret_rms" in state:
            _set_statistics(getattr(normaliser, "obs_rms", None), state["obs_rms"])
            _set_statistics(normaliser.ret_rms, state["ret_rms"])
        if self._replay and "replay_buffer" in state:
            _refill(model.replay_buffer, state["replay_buffer"])


def _attribute(model: Any, name: str) -> Any:
    found = model
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _statistics(running: Any) -> Any:
    if running is None:
        return None
    if isinstance(running, Mapping):
        return {key: _statistics(one) for key, one in cast("Mapping[Any, Any]", running).items()}
    return {"mean": np.copy(running.mean), "var": np.copy(running.var), "count": running.count}


def _set_statistics(running: Any, state: Any) -> None:
    if running is None or state is None:
        return
    if isinstance(running, Mapping):
        for key, one in cast("Mapping[Any, Any]", running).items():
            _set_statistics(one, state[key])
        return
    running.mean, running.var, running.count = np.copy(state["mean"]), np.copy(state["var"]), state["count"]


def _filled(buffer: Any) -> dict[str, Any]:
    """Return the filled part of a replay buffer."""
    end = buffer.buffer_size if buffer.full else buffer.pos
    arrays = {name: getattr(buffer, name, None) for name in _BUFFER}
    return {"pos": buffer.pos, "full": buffer.full, **{name: _part(array, end) for name, array in arrays.items()}}


def _part(array: Any, end: int) -> Any:
    if isinstance(array, Mapping):
        return {key: one[:end] for key, one in cast("Mapping[Any, Any]", array).items()}
    return None if array is None else array[:end]


def _refill(buffer: Any, state: Mapping[str, Any]) -> None:
    buffer.pos, buffer.full = state["pos"], state["full"]
    for name in _BUFFER:
        _refill_part(getattr(buffer, name, None), state[name])


def _refill_part(here: Any, saved: Any) -> None:
    if here is None or saved is None:
        return
    if isinstance(saved, Mapping):
        for key, one in cast("Mapping[Any, Any]", saved).items():
            _refill_part(here[key], one)
        return
    here[: len(saved)] = saved
