"""What lies between a task and a trainer, found by playing the trainer's own actions once more in the bare task.

Everything here is exact: a relation is told only where it holds of every step that was played again.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from .transitions import Floats, entries

RELATIVE, LEAST = 1e-4, 1e-6
"""How far two numbers may lie apart and be the same: observations are single precision, a gain is searched for."""
MOST_FRAMES = 10
MOST_LAG = 50
MOST_ORDERED = 4
"""Actions of which every order is tried; of more only the reverse."""
AHEAD = 5
"""Steps that a gain of the actions is fitted to."""
CHECKED = 40
"""Steps that any other way to play is held against: what is fitted drifts from what was played."""
LEAST_STEPS = 8
"""Fewer steps in all say too little."""
LEAST_VARIED = 50
"""Steps that the task pays differently for before one and the same reward for all of them is told."""
GAINS = np.linspace(-2.0, 2.0, 41)

Act = Callable[[Any], Any]


@dataclass
class Episode:
    """One episode as the trainer saw it, and the bare task as it stood after its reset."""

    start: Any
    offered: Any
    """The action space that the trainer has."""
    actions: list[Any] = field(default_factory=list[Any])
    seen: list[Floats] = field(default_factory=list[Floats])
    paid: list[float] = field(default_factory=list[float])
    ended: list[bool] = field(default_factory=list[bool])


@dataclass(frozen=True)
class Way:
    """A way in which the trainer's actions may reach the task: `act` on each, and each played `frames` times."""

    act: Act
    frames: int = 1
    gain: float = 1.0
    swaps: bool = False


@dataclass(frozen=True)
class Played:
    """What the bare task answered: observations [T, D], rewards [T], ends [T]; up to its own end."""

    seen: Floats
    paid: Floats
    ended: np.ndarray[Any, np.dtype[np.bool_]]


def _same_action(action: Any) -> Any:
    return action


PLAIN = Way(_same_action)


def between(episodes: Sequence[Episode]) -> dict[str, float]:
    """Say what the layers around the task change.

    Args:
        episodes: The first ones of one copy, none left out.

    Returns:
        Nothing where no relation explains the steps. Else the settings that `vocabulary/config.toml` describes:
        `layers_looked`, how many steps were played again, and what is not as in the bare task of `layers_frames`,
        `layers_action_reach`, `layers_action_swapped`, `layers_hidden`, `layers_repeated`, `layers_ends_hidden`,
        `layers_reward_gain`, `layers_reward_constant` and `layers_reward_lag`.
    """
    found: dict[str, float] = {}
    explained = [explanation(episode) for episode in episodes]
    known = [(e, way, played) for e, (way, played) in zip(episodes, explained, strict=True) if way and played]
    steps = sum(len(played.seen) for _, _, played in known)
    if steps < LEAST_STEPS:
        return {}
    found["layers_looked"] = float(steps)
    swapped = float(np.mean([way.swaps for _, way, _ in known]))
    frames = {way.frames for _, way, _ in known}
    found |= {"layers_action_swapped": swapped} if swapped else {}
    found |= {"layers_frames": float(frames.pop())} if len(frames) == 1 and frames != {1} else {}
    gains = [way.gain for _, way, _ in known]
    if max(gains) - min(gains) <= RELATIVE * max(np.abs(gains)) and gains[0] != 1:
        found |= {"layers_action_reach": reach(episodes[0], gains[0])}
    found |= shown([(e, played) for e, _, played in known])
    if len(known) == len(episodes) and "layers_repeated" not in found:
        found |= payment([(e, played) for e, _, played in known])
    return found


def explanation(episode: Episode) -> tuple[Way | None, Played | None]:
    """Return the way of playing that explains what was seen, the plain one first; None where none does."""
    plain = replay(episode, PLAIN, len(episode.actions))
    if len(plain.seen) == 0:
        return None, None
    if matches(episode, plain) or hidden(episode, plain) or repeated(episode, plain):
        return PLAIN, plain
    steps = min(len(episode.actions), CHECKED)
    for way in ways(episode):
        tried = replay(episode, way, steps)
        if len(tried.seen) == steps > 1 and matches(episode, tried):
            return way, tried
    return None, None


def ways(episode: Episode) -> Iterator[Way]:
    """Every other way to play that is tried, the simplest first."""
    for frames in range(2, MOST_FRAMES + 1):
        yield Way(_same_action, frames=frames)
    space = episode.start.action_space
    count = getattr(space, "n", None)
    if count is not None:
        orders = permutations(range(int(count))) if count <= MOST_ORDERED else [tuple(reversed(range(int(count))))]
        for order in orders:
            if order != tuple(range(int(count))):
                yield Way(_exchanged(order), swaps=True)
    elif getattr(space, "high", None) is not None:
        gain = fitted_gain(episode)
        yield Way(_multiplied(gain, space), gain=gain)


def _exchanged(order: tuple[int, ...]) -> Act:
    return lambda action: order[int(action)]


def _multiplied(gain: float, space: Any) -> Act:
    return lambda action: np.asarray(gain * np.asarray(action, dtype=np.float64)).astype(space.dtype)


def fitted_gain(episode: Episode) -> float:
    """Return the factor on the actions under which the task comes closest to what was seen of the first steps."""
    space, steps = episode.start.action_space, min(AHEAD, len(episode.actions))
    target = np.array(episode.seen[:steps])

    def missed(gain: float) -> float:
        played = replay(episode, Way(_multiplied(gain, space)), steps).seen
        return float(np.sum((played - target[: len(played)]) ** 2)) if len(played) else np.inf

    errors = [missed(float(gain)) for gain in GAINS]
    best = int(np.argmin(errors))
    low, high = float(GAINS[max(best - 1, 0)]), float(GAINS[min(best + 1, len(GAINS) - 1)])
    golden = (np.sqrt(5) - 1) / 2  # golden-section search: Kiefer (1953)
    for _ in range(40):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if missed(left) < missed(right) else (left, high)
    return round(float(low + high) / 2, 5)


def replay(episode: Episode, way: Way, steps: int) -> Played:
    """Play the first `steps` actions of an episode in the bare task."""
    task = copy.deepcopy(episode.start)
    seen: list[Floats] = []
    paid: list[float] = []
    ended: list[bool] = []
    for action in episode.actions[:steps]:
        total, over, last = 0.0, False, None
        for _ in range(way.frames):
            obs, reward, terminated, _, _ = task.step(way.act(action))
            last, total, over = entries(obs), total + float(reward), bool(terminated)
            if over:
                break
        if last is None:
            break
        seen.append(last)
        paid.append(total)
        ended.append(over)
        if over:
            break
    return Played(np.array(seen), np.array(paid), np.array(ended, dtype=bool))


def alike(one: Floats, other: Floats) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which numbers are the same, up to what the column [T] or table [T, D] spreads."""
    size = np.abs(other).max(axis=0, initial=0.0)
    return np.abs(one - other) <= RELATIVE * size + LEAST


def matches(episode: Episode, played: Played) -> bool:
    """Whether every entry of every observation is the bare task's."""
    seen = np.array(episode.seen[: len(played.seen)])
    return seen.shape == played.seen.shape and bool(alike(seen, played.seen).all())


def hidden(episode: Episode, played: Played) -> int:
    """How many entries of the observation stand still though the task's move, where all others are the task's."""
    seen = np.array(episode.seen[: len(played.seen)])
    if seen.shape != played.seen.shape or len(seen) < LEAST_STEPS:
        return 0
    right = alike(seen, played.seen).all(axis=0)
    still = (np.ptp(seen, axis=0) == 0) & (np.ptp(played.seen, axis=0) > LEAST)
    return int(np.count_nonzero(still & ~right)) if right.any() and (right | still).all() else 0


def repeated(episode: Episode, played: Played) -> float:
    """Share of steps that show the observation before once more, where all others show the task's."""
    seen = np.array(episode.seen[: len(played.seen)])
    if seen.shape != played.seen.shape or len(seen) < LEAST_STEPS:
        return 0.0
    right = alike(seen, played.seen).all(axis=1)
    again = np.ones(len(seen), dtype=bool)  # the first may show what the reset did, which is not in the record
    again[1:] = (seen[1:] == seen[:-1]).all(axis=1)
    return float(np.mean(again & ~right)) if right.any() and (right | again).all() else 0.0


def shown(known: Sequence[tuple[Episode, Played]]) -> dict[str, float]:
    """Say what the trainer is not shown."""
    gone = max(hidden(*pair) for pair in known)
    old = float(np.mean([repeated(*pair) for pair in known]))
    silent = sum(bool(played.ended[-1]) and not e.ended[len(played.ended) - 1] for e, played in known)
    found: dict[str, float] = {"layers_hidden": gone} if gone else {}
    found |= {"layers_repeated": old} if old else {}
    return found | ({"layers_ends_hidden": float(silent)} if silent else {})


def payment(known: Sequence[tuple[Episode, Played]]) -> dict[str, float]:
    """Say what is done to rewards: a gain, or a delay, over all episodes."""
    paid = np.concatenate([np.array(e.paid[: len(played.paid)]) for e, played in known])
    bare = np.concatenate([played.paid for _, played in known])
    if len(bare) < LEAST_STEPS or alike(paid, bare).all() or not np.any(bare):
        return {}
    gain = float(np.dot(paid, bare) / np.dot(bare, bare))
    if gain != 0 and alike(paid, gain * bare).all():
        return {"layers_reward_gain": gain}
    if len(bare) >= LEAST_VARIED and paid[0] != 0 and np.all(paid == paid[0]) and np.ptp(bare) > LEAST:
        return {"layers_reward_constant": float(paid[0])}
    for lag in range(1, min(MOST_LAG, len(bare) // 2) + 1):
        late = np.concatenate([np.zeros(lag), bare[:-lag]])
        if np.any(late) and alike(paid, late).all():
            return {"layers_reward_lag": float(lag)}
    return {}


def reach(episode: Episode, gain: float) -> float:
    """Return the largest action that reaches the task over the largest that it takes, the sign that of `gain`."""
    takes = np.abs(np.asarray(episode.start.action_space.high, dtype=np.float64))
    gives = np.abs(np.asarray(episode.offered.high, dtype=np.float64))
    if takes.shape != gives.shape or not (np.isfinite(takes).all() and np.isfinite(gives).all()):
        return float(gain)
    return float(gain * np.max(gives / takes))
