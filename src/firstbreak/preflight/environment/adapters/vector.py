"""Vector environments of Gymnasium: the first copy's view; the other copies act at random."""

from __future__ import annotations

from typing import Any

from ..shapes import is_array, is_mapping, is_tuple

FINAL_KEYS = ("final_obs", "final_observation")
"""Names of the last observation of an episode in info, by version of Gymnasium."""


def declared_mode(env: Any) -> str:
    """Return what the metadata say of autoreset: next_step, same_step, disabled, or an empty text."""
    metadata: Any = getattr(env, "metadata", None) or {}
    mode: Any = metadata.get("autoreset_mode")
    return str(getattr(mode, "name", mode) or "").lower()


def row_of(values: Any, copy: int) -> Any:
    """Return one copy's part of a batch, which may be a dict or a tuple of batches."""
    if is_mapping(values):
        return {k: row_of(v, copy) for k, v in values.items()}
    if is_tuple(values):
        return tuple(row_of(v, copy) for v in values)
    row = values[copy]
    return row.copy() if is_array(row) else row


def final_of(info: Any, copy: int) -> Any:
    """Return the final observation of `copy` in `info`, None when it is not told."""
    for key in FINAL_KEYS:
        if is_mapping(info) and info.get(key) is not None:
            finals: Any = info[key]
            if is_mapping(finals):
                return row_of(finals, copy)
            return finals[copy]
    return None


class OneCopy:
    """The first copy of a vector environment as a single one.

    At an end the final observation is returned where info tells it; where it is not told and the copy has been reset
    in the same step, `resets_by_itself` says that the last observation is a start.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space
        self.spec = getattr(env, "spec", None)
        self.mode = declared_mode(env)
        self.resets_by_itself = False

    def reset(self, *, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Start all copies over."""
        del options
        self.env.action_space.seed(seed)
        seen, _ = self.env.reset(seed=seed)
        return row_of(seen, 0), {}

    def step(self, action: Any) -> tuple[Any, ...]:
        """Step all copies; the first takes `action`."""
        actions = self.env.action_space.sample()
        if is_array(actions):
            actions[0] = action
        else:
            actions = (action, *actions[1:])
        seen, reward, terminated, truncated, info = self.env.step(actions)
        over = bool(terminated[0] or truncated[0])
        final = final_of(info, 0) if over else None
        self.resets_by_itself = over and final is None and self.mode == "same_step"
        row = row_of(seen, 0) if final is None else final
        if self.mode == "disabled":
            self._reset_others(terminated, truncated)
        return row, reward[0], terminated[0], truncated[0], {}

    def _reset_others(self, terminated: Any, truncated: Any) -> None:
        """Start finished copies over, as their owner must where autoreset is disabled; the first is the caller's."""
        ended = terminated | truncated
        ended[0] = False
        if ended.any():
            self.env.reset(options={"reset_mask": ended})

    def close(self) -> None:
        """Close all copies."""
        self.env.close()


def adapt(env: Any) -> OneCopy:
    """Return the first copy of `env` behind the Gymnasium API."""
    return OneCopy(env)
