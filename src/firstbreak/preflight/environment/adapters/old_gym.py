"""Environments of gym before 0.26: reset() -> obs, step -> (obs, reward, done, info)."""

from __future__ import annotations

import inspect
from typing import Any

from ..shapes import is_mapping, is_tuple

LIMIT_KEY = "TimeLimit.truncated"


class OldGym:
    """Reads `done` as terminated, unless `info["TimeLimit.truncated"]` says that it was the time limit."""

    def __init__(self, env: Any) -> None:
        self.env = env
        self.observation_space, self.action_space = env.observation_space, env.action_space

    def reset(self, *, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Seed by `env.seed`, or by the argument of reset where it has one; then reset."""
        del options
        if seed is not None and "seed" in _parameters(self.env.reset):
            return self.env.reset(seed=seed), {}
        if seed is not None and callable(getattr(self.env, "seed", None)):
            self.env.seed(seed)
        return self.env.reset(), {}

    def step(self, action: Any) -> Any:
        """Step and split `done`."""
        told: Any = self.env.step(action)
        if not is_tuple(told, 4):
            return told
        seen, reward, done, info = told
        cut = bool(info.get(LIMIT_KEY, False)) if is_mapping(info) else False
        return seen, reward, done and not cut, done and cut, info

    def close(self) -> None:
        """Close it, where it can be closed."""
        closing = getattr(self.env, "close", None)
        if callable(closing):
            closing()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)


def _parameters(function: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ()


def adapt(env: Any) -> OldGym:
    """Return `env` behind the Gymnasium API."""
    return OldGym(env)
