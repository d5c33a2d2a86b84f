"""Steps of an environment as arrays: sums of a row, and what follows from what."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .predictor import MOST_INPUTS, TINY

Floats = NDArray[np.float64]
MOST_ENTRIES = 1024
"""Larger observations (images) are not looked at."""
MOST_ROWS = 4096
"""Steps of one row that are asked what follows from what."""
MOST_CROSSED = 10
"""Observations with more entries are not multiplied with one another."""
MOST_CHOICES = 18
"""Discrete actions that are told apart; an Atari joystick has as many. More are taken as numbers."""
LEAST_OWN = 0.1
"""Share of the actions' variance that must not follow from the observation, for their effect to be seen."""


class Moments:
    """Mean and spread of vectors [D]."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.total, self.squares = np.zeros(width), np.zeros(width)
        self._origin: Floats | None = None

    def add(self, value: Floats) -> None:
        """Count one vector; deviations are from the first, so that a large offset costs no precision."""
        if self._origin is None:
            self._origin = np.where(np.isfinite(value), value, 0.0)
        deviation = value - self._origin
        self.count += 1
        self.total += deviation
        self.squares += deviation * deviation

    def both(self) -> tuple[Floats, Floats]:
        """Return mean [D] and standard deviation [D]."""
        mean = self.total / self.count
        with np.errstate(all="ignore"):
            spread = np.sqrt(np.maximum(self.squares / self.count - mean * mean, 0.0))
        origin = self._origin if self._origin is not None else 0.0
        return origin + mean, spread


class Steps:
    """The steps of one row, for what follows from what: observation before [D], action [A], change [D], reward."""

    def __init__(self) -> None:
        self._rows: list[tuple[Floats, Floats, Floats, float]] = []

    def add(self, before: Floats, action: Floats, change: Floats, reward: float) -> bool:
        """Keep one step; return whether there was room."""
        if len(self._rows) >= MOST_ROWS:
            return False
        self._rows.append((before, action, change, reward))
        return True

    def __len__(self) -> int:
        """Steps that are kept."""
        return len(self._rows)

    def newest(self, count: int) -> Steps:
        """Return the `count` newest; they are kept here no longer."""
        taken = Steps()
        taken._rows, self._rows = self._rows[-count:], self._rows[:-count]
        return taken

    def arrays(self, newest: int = 0) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Return [m, D], [m, A], [m, D] and [m, 1]; None where actions differ in form or there is nothing.

        Args:
            newest: Steps to return; 0 for all.
        """
        rows = self._rows[-newest:]
        if not rows or len({row[1].size for row in rows}) != 1:
            return None
        before, action, change, reward = zip(*rows, strict=True)
        return np.array(before), np.array(action), np.array(change), np.array(reward, dtype=np.float64)[:, None]


class Response:
    """What actions do to the observation, against what they did before."""

    def __init__(self, memory: float) -> None:
        self._memory = memory
        self._usual: Floats | None = None

    def compared(self, slopes: Floats | None) -> dict[str, float]:
        """Return the cosine between slopes [A, D] and the usual ones, then follow them."""
        if slopes is None:
            return {}
        usual = self._usual
        if usual is None or usual.shape != slopes.shape:
            self._usual = slopes
            return {}
        size = float(np.linalg.norm(slopes) * np.linalg.norm(usual))
        self._usual = self._memory * usual + (1 - self._memory) * slopes
        return {"env/action_response": float(np.sum(slopes * usual)) / size} if size > TINY else {}


def slopes_of(before: Floats, action: Floats, change: Floats) -> Floats | None:
    """Return the slopes [A, D] of changes on action entries, in standard deviations of both; None if undefined.

    By least squares on observation and action together: a policy picks actions by the state, and the state changes the
    observation by itself. Undefined where actions follow so closely from the observation that the two cannot be told
    apart.
    """
    if not all(np.isfinite(part).all() for part in (before, action, change)):
        return None
    action, change, before = action - action.mean(0), change - change.mean(0), before - before.mean(0)
    usual = action.std(0)
    if usual.max() <= TINY:
        return None
    own = action - before @ cast(Floats, np.linalg.lstsq(before, action, rcond=None)[0])
    if np.square(own).sum() < LEAST_OWN * np.square(action).sum():
        return None
    fitted = cast(Floats, np.linalg.lstsq(np.concatenate([action, before], axis=1), change, rcond=None)[0])
    return fitted[: action.shape[1]] * usual[:, None] / np.maximum(change.std(0), TINY)[None, :]


def expanded(before: Floats, action: Floats) -> Floats:
    """Return what observation [m, D] and action [m, A] are given to the predictors as: themselves, squares, products.

    As many as fit: a swing needs products of its entries, and what effort costs goes by its square.
    """
    parts = [before, action]
    if action.shape[1] != MOST_CHOICES:  # a choice is its own square
        parts.append(action * action)
    rows, columns = pairs(before.shape[1])
    left = MOST_INPUTS - sum(part.shape[1] for part in parts)
    if before.shape[1] <= MOST_CROSSED and rows.size <= left:
        parts.append(before[:, rows] * before[:, columns])
    elif before.shape[1] <= left:
        parts.append(before * before)
    return np.concatenate(parts, axis=1)


@cache
def pairs(width: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the upper triangle of a square of `width`."""
    return np.triu_indices(width)


def acting(before: Floats, action: Floats) -> slice:
    """Return which of the inputs that `expanded` makes of observation [m, D] and action [m, A] are the action's."""
    first, many = before.shape[1], action.shape[1]
    return slice(first, first + (many if many == MOST_CHOICES else 2 * many))


def chosen(action: Any) -> Floats | None:
    """Return an action as numbers [A]; one whole number (a discrete action) as one of `MOST_CHOICES` places."""
    whole = np.asarray(action)
    if whole.size == 1 and whole.dtype.kind in "iu" and 0 <= int(whole.reshape(())) < MOST_CHOICES:
        found = np.zeros(MOST_CHOICES)
        found[int(whole.reshape(()))] = 1.0
        return found
    return entries(action)


def entries(value: Any) -> Floats | None:
    """Return `value` as a flat vector, or None where it is no small array of numbers."""
    if value is None or isinstance(value, (Mapping, str, bytes)) or (isinstance(value, tuple) and not value):
        return None
    try:
        flat = np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None
    return flat.copy() if 0 < flat.size <= MOST_ENTRIES else None


def scales(std: Floats) -> dict[str, float]:
    """Say how far the entries of an observation spread [D], and how far the widest leads the others."""
    spread = np.sort(std[np.isfinite(std) & (std > TINY)])
    if not spread.size:
        return {}
    found = {"obs/scale_median": float(np.median(spread))}
    return found if spread.size < 2 else found | {"obs/scale_lead": float(spread[-1] / np.median(spread[:-1]))}
