"""What `reset` and `step` must return, judged at every step; each kind of fault is kept with how to reach it."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .shapes import is_mapping, is_tuple
from .spaces import Judge
from .world import Trouble


@dataclass(frozen=True)
class Answered:
    """The five values of a step that could be used."""

    seen: Any
    reward: Any
    terminated: bool
    truncated: bool
    info: Any


class Contract:
    """Judges what an environment returns; keeps the first trouble of each kind and counts the rest."""

    def __init__(self, observation_space: Any) -> None:
        self.judge = Judge(observation_space, "observation")
        self.found: dict[tuple[str, str], Trouble] = {}
        self.counts: dict[tuple[str, str], int] = {}

    @property
    def troubles(self) -> tuple[Trouble, ...]:
        """Every kind of trouble met, the first of each, in the order they were met."""
        return tuple(self.found.values())

    def trouble(self, one: Trouble) -> None:
        """Keep `one` unless the like of it is known; a case with fewer actions replaces a longer one."""
        key = (one.kind, one.call if one.kind == "raised" else one.where)
        self.counts[key] = self.counts.get(key, 0) + 1
        known = self.found.get(key)
        if known is None or len(one.actions) < len(known.actions):
            self.found[key] = one
        worst = max(one.worst, known.worst if known is not None else 0.0)
        self.found[key] = replace(self.found[key], count=self.counts[key], worst=worst)

    def after_reset(self, told: Any, seed: int | None) -> tuple[Any, Any]:
        """Judge what `reset` returned; return the observation and the info."""
        if not is_tuple(told, 2):
            what = f"a tuple of {len(told)}" if is_tuple(told) else type(told).__name__
            self.trouble(Trouble("reset-return", "reset", f"{what}, expected (observation, info)", seed, where="reset"))
            return told, {}
        seen, info = told
        self._observation(seen, "reset", seed, ())
        if not is_mapping(info):
            self.trouble(Trouble("info", "reset", _kind(info), seed, where="info"))
            return seen, {}
        return seen, info

    def after_step(self, told: Any, seed: int | None, before: Sequence[Any], action: Any) -> Answered | None:
        """Judge what `step` returned after the actions `before` and `action`; None when it cannot be used."""
        if not is_tuple(told, 5):
            what = f"a tuple of {len(told)}" if is_tuple(told) else _kind(told)
            self._note("step-return", "step", f"{what}, expected 5 values", seed, before, action)
            return None
        seen, reward, terminated, truncated, info = told
        wrong = self.judge(seen)
        for one in wrong:
            kind = f"observation-{one.kind}"
            actions = (*before, action)
            self.trouble(Trouble(kind, "step", one.message, seed, actions, one.where, worst=one.excess_frac))
        if not is_scalar(reward):
            self._note("reward", "reward", _reward_text(reward), seed, before, action)
        for name, flag in (("terminated", terminated), ("truncated", truncated)):
            if not isinstance(flag, (bool, np.bool_)):
                self._note("flag", name, f"{name} is {_kind(flag)} ({flag!r})"[:80], seed, before, action)
        if not is_mapping(info):
            self._note("info", "info", _kind(info), seed, before, action)
            info = {}
        return Answered(seen, reward, _truth(terminated), _truth(truncated), info)

    def _observation(self, seen: Any, call: str, seed: int | None, actions: tuple[Any, ...]) -> None:
        for one in self.judge(seen):
            kind = f"observation-{one.kind}"
            self.trouble(Trouble(kind, call, one.message, seed, actions, one.where, worst=one.excess_frac))

    def _note(self, kind: str, where: str, message: str, seed: int | None, before: Sequence[Any], action: Any) -> None:
        self.trouble(Trouble(kind, "step", message, seed, (*before, action), where))


def is_scalar(reward: Any) -> bool:
    """Whether a reward is one number."""
    if isinstance(reward, (bool, np.bool_)):
        return True
    return isinstance(reward, (numbers.Real, np.integer, np.floating))


def _reward_text(reward: Any) -> str:
    shape = getattr(reward, "shape", None)
    if shape is not None:
        return f"an array of shape {tuple(shape)}"
    return _kind(reward)


def _truth(flag: Any) -> bool:
    if isinstance(flag, (bool, np.bool_)):
        return flag is True or flag == np.True_
    try:
        return bool(np.any(flag)) if flag is not None else False
    except (TypeError, ValueError):
        return False


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
