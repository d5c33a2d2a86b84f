"""Steps of an environment as arrays: sums of a row, and what follows from what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .columns import finite, mean, middle, spread
from .predictor import MOST_INPUTS, TINY

Floats = NDArray[np.float64]
MOST_ENTRIES = 1024
"""Larger observations (images) are not looked at."""
MOST_ROWS = 4096
"""Steps of one row that are asked what follows from what."""
MOST_WAITING = 16
"""Tables that wait to be summed up. Engineering choice: a row has fewer."""
MOST_CROSSED = 10
"""Observations with more entries are not multiplied with one another."""
MOST_CHOICES = 18
"""Discrete actions that are told apart; an Atari joystick has as many. More are taken as numbers."""
LEAST_OWN = 0.1
"""Share of the actions' variance that must not follow from the observation, for their effect to be seen."""


class Moments:
    """Mean and spread of vectors [D]."""

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self._sums = np.zeros(2 * width)
        """Of deviations and of their squares [2 D]."""
        self._origin: Floats | None = None
        self._waiting: list[Floats] = []
        """Vectors that are counted, but not in the sums yet."""

    def add(self, values: Floats) -> None:
        """Count some vectors [m, D], which nobody writes into; deviations are from the first, so that a large offset
        costs no precision."""
        self._waiting.append(values)
        self.count += len(values)
        if len(self._waiting) >= MOST_WAITING:
            self._sum_up()

    def _sum_up(self) -> None:
        if not self._waiting:
            return
        values, self._waiting = np.concatenate(self._waiting), []
        if self._origin is None:
            self._origin = np.where(np.isfinite(values[0]), values[0], 0.0)
        with np.errstate(all="ignore"):
            deviation = values - self._origin
            sums = np.concatenate((deviation, deviation * deviation), axis=1)
            sums[0] += self._sums
            self._sums = np.add.accumulate(sums)[-1]  # one after the other, however many come at a time

    def both(self) -> tuple[Floats, Floats]:
        """Return mean [D] and standard deviation [D]."""
        self._sum_up()
        with np.errstate(all="ignore"):
            middle, square = self._sums.reshape(2, -1) / self.count
            width = np.sqrt(np.maximum(square - middle * middle, 0.0))
        return (middle if self._origin is None else self._origin + middle), width


class Paid:
    """Rewards of the steps of one row."""

    def __init__(self) -> None:
        self.count = 0
        """Of them finite."""
        self._origin = self._total = self._squares = 0.0
        self.least, self.most = math.inf, -math.inf

    def add(self, rewards: Sequence[float]) -> None:
        """Count some that are finite; as in `Moments`, but a number alone costs a tenth of an array."""
        if not rewards:
            return
        if not self.count:
            self._origin = rewards[0]
        origin, total, squares = self._origin, self._total, self._squares
        for reward in rewards:
            deviation = reward - origin
            total += deviation
            squares += deviation * deviation
        self.count += len(rewards)
        self._total, self._squares = total, squares
        self.least, self.most = min(self.least, *rewards), max(self.most, *rewards)

    def numbers(self) -> dict[str, float]:
        """Return mean, spread and extremes under canonical names; nothing where none was finite."""
        if not self.count:
            return {}
        middling = self._total / self.count
        variance = self._squares / self.count - middling * middling
        return {
            "reward/env_mean": self._origin + middling,
            "reward/env_std": math.nan if math.isnan(variance) else math.sqrt(max(variance, 0.0)),
            "reward/env_min": self.least,
            "reward/env_max": self.most,
        }


class Steps:
    """The steps of one row, for what follows from what: observation before [D], action [A], change [D], reward."""

    def __init__(self) -> None:
        self._parts: list[tuple[Floats, Floats, Floats, Floats]] = []
        self._count = 0

    def add(self, before: Floats, action: Floats, change: Floats, reward: Floats) -> bool:
        """Keep some steps [m, D], [m, A], [m, D] and [m, 1]; return whether there was room for the last."""
        room = MOST_ROWS - self._count
        taken = min(room, len(before))
        if taken:
            self._parts.append((before[:taken], action[:taken], change[:taken], reward[:taken]))
            self._count += taken
        return taken == len(before)

    def __len__(self) -> int:
        """Steps that are kept."""
        return self._count

    def newest(self, count: int) -> Steps:
        """Return the `count` newest; they are kept here no longer."""
        taken, left = Steps(), count
        while left > 0 and self._parts:
            part = self._parts.pop()
            few = min(left, len(part[0]))
            left, self._count, taken._count = left - few, self._count - few, taken._count + few
            taken._parts.insert(0, _rows(part, slice(-few, None)))
            if few < len(part[0]):
                self._parts.append(_rows(part, slice(None, -few)))
        return taken

    def arrays(self, newest: int = 0) -> tuple[Floats, Floats, Floats, Floats] | None:
        """Return [m, D], [m, A], [m, D] and [m, 1]; None where actions differ in form or there is nothing.

        Args:
            newest: Steps to return; 0 for all.
        """
        first, many = len(self._parts), 0
        while first > 0 and (not newest or many < newest):
            first -= 1
            many += len(self._parts[first][0])
        parts = self._parts[first:]
        if not parts or len({part[1].shape[1] for part in parts}) != 1:
            return None
        kept = slice(-newest if newest else None, None)
        if len(parts) == 1:
            return _rows(parts[0], kept)
        before, action, change, reward = (np.concatenate(one)[kept] for one in zip(*parts, strict=True))
        return before, action, change, reward


def _rows(part: tuple[Floats, Floats, Floats, Floats], kept: slice) -> tuple[Floats, Floats, Floats, Floats]:
    before, action, change, reward = part
    return before[kept], action[kept], change[kept], reward[kept]


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
    if not finite(before, action, change):
        return None
    action, change, before = action - mean(action), change - mean(change), before - mean(before)
    usual = spread(action)
    if usual.max() <= TINY:
        return None
    own = action - before @ cast(Floats, np.linalg.lstsq(before, action, rcond=None)[0])
    if np.add.reduce(own * own, axis=None) < LEAST_OWN * np.add.reduce(action * action, axis=None):
        return None
    fitted = cast(Floats, np.linalg.lstsq(np.concatenate([action, before], axis=1), change, rcond=None)[0])
    return fitted[: action.shape[1]] * usual[:, None] / np.maximum(spread(change), TINY)[None, :]


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


def entries(value: Any) -> Floats | None:
    """Return `value` as a flat vector, or None where it is no small array of numbers."""
    if value is None or isinstance(value, (Mapping, str, bytes)) or (isinstance(value, tuple) and not value):
        return None
    try:
        flat = np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None
    return flat.copy() if 0 < flat.size <= MOST_ENTRIES else None


def of_entries(mean: Floats, std: Floats) -> dict[str, float]:
    """Say by their mean and spread [D] how an observation's entries spread, which stood still, which held no number."""
    return scales(std) | {
        "obs/constant_frac": int(np.count_nonzero(std <= TINY)) / std.size,
        "obs/nonfinite_frac": 1 - int(np.count_nonzero(np.isfinite(mean))) / mean.size,
    }


def scales(std: Floats) -> dict[str, float]:
    """Say how far the entries of an observation spread [D], and how far the widest leads the others."""
    wide = np.sort(std[np.isfinite(std) & (std > TINY)])
    if not wide.size:
        return {}
    found = {"obs/scale_median": middle(wide)}
    return found if wide.size < 2 else found | {"obs/scale_lead": float(wide[-1]) / middle(wide[:-1])}
