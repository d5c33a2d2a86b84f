"""Steps as the environment took them, copied as they are, and tables of numbers made of many at once.

A step of a small environment costs less than a few calls of numpy, so what is worked out of steps waits for some of
them. What waits is a copy: environments write into their own arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .transitions import MOST_CHOICES, MOST_ENTRIES, Floats, entries

Held = NDArray[Any] | None
"""An observation as it was; None where it is no small array of numbers."""
Step = tuple[Held, NDArray[Any] | np.generic, float, bool, bool, Held]
"""Observation before, action, reward, whether it terminated, whether it was cut off, observation after."""
CHOICES = range(MOST_CHOICES)
NUMBERS, WHOLE = "fiub", "iu"
"""Kinds of types of numpy."""


def held(value: Any) -> Held:
    """Return a copy of an observation, in its own type and shape."""
    if type(value) is np.ndarray and value.dtype.kind in NUMBERS:
        return value.copy() if 0 < value.size <= MOST_ENTRIES else None
    return entries(value)


def held_action(action: Any) -> NDArray[Any] | np.generic:
    """Return a copy of an action; a number of numpy never changes."""
    return cast(Any, action) if isinstance(action, np.generic) else np.asarray(action).copy()


def tables(steps: Sequence[Step]) -> tuple[Floats, Floats, Floats] | None:
    """Return observations before, actions and observations after of steps of one form, as `seen` and `done` would.

    None where forms differ or one is not for tables: `runs` says more, and costs more.
    """
    befores, actions, _, _, _, afters = zip(*steps, strict=True)
    kinds = {action.dtype.kind for action in actions}
    shapes = {None if one is None else one.shape for one in (*befores, *afters)}
    if len(kinds) != 1 or len(shapes) != 1 or None in shapes or len({action.shape for action in actions}) != 1:
        return None
    first = actions[0]
    if first.dtype.kind not in NUMBERS or not 0 < first.size <= MOST_ENTRIES:
        return None
    given = np.array(actions)
    if first.size == 1 and first.dtype.kind in WHOLE:
        places = given.reshape(-1).tolist()
        choices = [place in CHOICES for place in places]
        if all(choices):
            action = np.zeros((len(places), MOST_CHOICES))
            action[range(len(places)), places] = 1.0
            return table(befores), action, table(afters)
        if any(choices):
            return None
    return table(befores), table(given), table(afters)


def runs(steps: Sequence[Step]) -> list[list[Step]]:
    """Split steps where the form of what they exchanged changes: in nearly every environment it never does."""
    return [list(run) for _, run in groupby(steps, _form)]


def _form(step: Step) -> tuple[Any, ...]:
    before, action, after = step[0], step[1], step[5]
    shapes = None if before is None else before.shape, action.shape, None if after is None else after.shape
    return *shapes, action.dtype.kind, is_choice(action)


def is_choice(action: NDArray[Any] | np.generic) -> bool:
    """Whether an action is one whole number that names one of `MOST_CHOICES` places."""
    return action.size == 1 and action.dtype.kind in WHOLE and action.item() in CHOICES


def seen(observations: Sequence[Held]) -> Floats | None:
    """Return observations of one shape as a table [m, D]; None where they are no small arrays of numbers."""
    return None if observations[0] is None else table(observations)


def done(actions: Sequence[NDArray[Any] | np.generic]) -> Floats | None:
    """Return actions of one form as a table [m, A]: a choice as one of `MOST_CHOICES` places, others as they are."""
    first = actions[0]
    if is_choice(first):
        found = np.zeros((len(actions), MOST_CHOICES))
        found[range(len(actions)), [action.item() for action in actions]] = 1.0
        return found
    if first.dtype.kind in NUMBERS:
        return table(actions) if 0 < first.size <= MOST_ENTRIES else None
    numbers = [entries(action) if first.dtype.kind == "O" else None for action in actions]
    alike = numbers[0] is not None and all(one is not None and one.size == numbers[0].size for one in numbers)
    return table(numbers) if alike else None


def table(parts: Sequence[Any] | NDArray[Any]) -> Floats:
    """Return arrays or numbers of one shape as a table [m, D]."""
    return np.array(parts, dtype=np.float64).reshape(len(parts), -1)
