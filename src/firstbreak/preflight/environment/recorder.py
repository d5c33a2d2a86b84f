"""Playing one environment step by step: every value is copied, judged against the contract, and noted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .budget import Purse
from .contract import Contract
from .shapes import is_array, is_mapping, is_tuple
from .spaces import Flattener
from .world import Array, Episode, Trouble

MOST_COLUMNS = 2048
"""Wider observations are thinned to this many columns; 1024 and more count as an image."""

Choose = Callable[[Array, Any], Any]
"""From the flat observation and info to an action."""


@dataclass
class Player:
    """Records episodes of environments that share their spaces."""

    observation_space: Any
    action_space: Any
    contract: Contract = field(init=False)
    flatten: Flattener = field(init=False)
    flatten_action: Flattener = field(init=False)

    def __post_init__(self) -> None:
        self.flatten = Flattener(self.observation_space, "observation", MOST_COLUMNS, one_hot=True)
        self.flatten_action = Flattener(self.action_space, "action")
        self.contract = Contract(self.observation_space)

    @property
    def row_bytes(self) -> int:
        """Bytes that one recorded observation takes."""
        return 8 * len(self.flatten.names)

    def episode(
        self,
        env: Any,
        seed: int | None,
        choose: Choose,
        most_steps: int,
        purse: Purse | None = None,
    ) -> Episode:
        """Play one episode; a broken contract is noted as a trouble, an exception too, and ends it.

        Raises:
            Exception: whatever `reset` raised, after it has been noted.
        """
        tape = Tape(self, seed)
        try:
            told = env.reset(seed=seed)
        except Exception as error:
            self.contract.trouble(Trouble("raised", "reset", _text(error), seed))
            raise
        self._complaints(env, seed, ())
        seen, info = self.contract.after_reset(told, seed)
        tape.start(seen)
        while len(tape.actions) < most_steps:
            if purse is not None and len(tape.actions) % 16 == 15 and purse.seconds > purse.budget.seconds:
                break
            action = choose(tape.rows[-1], info)
            info = self._step(env, tape, action)
            if info is None:
                break
        return tape.cut()

    def replay(self, env: Any, actions: Sequence[Any], seed: int | None) -> Episode:
        """Play `actions` from `reset(seed=seed)` without judging; ends early with the episode, or at a malformed step.

        Raises:
            Exception: whatever the environment raised.
        """
        tape = Tape(self, seed)
        tape.start(_first(env.reset(seed=seed)))
        for action in actions:
            told = env.step(copy_of(action))
            if not is_tuple(told, 5):  # a fault of its own, told by the contract; not an exception of the environment
                break
            seen, reward, terminated, truncated, _ = told
            if tape.add(action, seen, reward, _flag(terminated), _flag(truncated)):
                break
        return tape.cut(getattr(env, "resets_by_itself", False))

    def _step(self, env: Any, tape: Tape, action: Any) -> Any:
        """Take one step; return its info, None when the episode is over."""
        given = copy_of(action)
        try:
            told = env.step(given)
        except Exception as error:
            self.contract.trouble(Trouble("raised", "step", _text(error), tape.seed, (*tape.actions, action)))
            return None
        if getattr(env, "complaints", None):
            self._complaints(env, tape.seed, (*tape.actions, action))
        if not same_value(given, action):
            self.contract.trouble(
                Trouble("action-changed", "step", _difference(given, action), tape.seed, (*tape.actions, action))
            )
        answer = self.contract.after_step(told, tape.seed, tape.actions, action)
        if answer is None:
            return None
        over = tape.add(action, answer.seen, answer.reward, answer.terminated, answer.truncated)
        return None if over else answer.info

    def _complaints(self, env: Any, seed: int | None, actions: Sequence[Any]) -> None:
        """Take over what an adapter found wrong in what it was given."""
        complaints: list[tuple[str, str]] = getattr(env, "complaints", None) or []
        while complaints:
            kind, message = complaints.pop(0)
            self.contract.trouble(Trouble(kind, "step" if actions else "reset", message, seed, tuple(actions)))


class Tape:
    """The episode being recorded."""

    def __init__(self, player: Player, seed: int | None) -> None:
        self.player, self.seed = player, seed
        self.rows: list[Array] = []
        self.actions: list[Any] = []
        self.rewards: list[float] = []
        self.ends: list[tuple[bool, bool]] = []

    def start(self, seen: Any) -> None:
        """Keep the first observation."""
        self.rows.append(self.player.flatten(seen))

    def add(self, action: Any, seen: Any, reward: Any, terminated: bool, truncated: bool) -> bool:
        """Keep one step; return whether the episode is over."""
        self.actions.append(action)
        self.rows.append(self.player.flatten(seen))
        self.rewards.append(number(reward))
        self.ends.append((terminated, truncated))
        return terminated or truncated

    def cut(self, resets_by_itself: bool = False) -> Episode:
        """Return what was recorded."""
        ends = np.array(self.ends, bool).reshape(-1, 2)
        width = sum(self.player.flatten_action.widths)
        columns = np.array([self.player.flatten_action(a) for a in self.actions]).reshape(len(self.actions), width)
        return Episode(
            self.seed,
            np.array(self.rows),
            tuple(self.actions),
            columns,
            np.array(self.rewards, float),
            ends[:, 0],
            ends[:, 1],
            resets_by_itself,
        )


def number(reward: Any) -> float:
    """Return a reward as a number; 0 for what is none (which is a trouble of its own)."""
    try:
        return float(np.asarray(reward, dtype=np.float64).reshape(-1)[0])
    except (TypeError, ValueError, IndexError):
        return 0.0


def _flag(value: Any) -> bool:
    try:
        return bool(value)
    except (TypeError, ValueError):
        return False


def _first(told: Any) -> Any:
    return told[0] if is_tuple(told, 2) else told


def copy_of(action: Any) -> Any:
    """Return a copy of an action that the environment may do with as it likes."""
    if is_array(action):
        return action.copy()
    return copy.deepcopy(action) if is_mapping(action) or is_tuple(action) else action


def same_value(a: Any, b: Any) -> bool:
    """Whether two actions hold the same numbers."""
    if is_array(a):
        return a.shape == getattr(b, "shape", None) and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    if is_mapping(a):
        return set(a) == set(b) and all(same_value(a[k], b[k]) for k in a)
    if is_tuple(a):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    return a is b or bool(a == b)


def _difference(after: Any, before: Any) -> str:
    if is_array(after) and after.shape == np.shape(before):
        at = int(np.argmax(np.ravel(after != before)))
        return f"action[{at}] was {np.ravel(before)[at]:.4g} and is {np.ravel(after)[at]:.4g} after step"
    return "the action is not what it was before step"


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
