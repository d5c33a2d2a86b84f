"""Which settings of an optimiser in force, learning rates aside, are no longer those that a run began with.

What Adam forgets, what it adds to a divisor, weight decay: nobody schedules them in published recipes, and code that
writes into the groups of an optimiser leaves no other trace. A setting that goes on moving is a schedule, and is not
counted (OneCycle moves a beta with the rate).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import is_
from typing import Any, cast

import torch
from torch import Tensor

OF_GROUP = ("betas", "eps", "weight_decay", "momentum", "amsgrad", "maximize", "alpha", "nesterov")
"""Fields of an optimiser's group that are no learning rate."""
SCHEDULE = 3
"""Moves from which on a setting is taken to follow a schedule."""
REST = 8
"""Rows for which a setting must have stood still to be told of at once. Engineering choice, as in rules about settings
that are set anew."""
OF_POLICY, OF_CRITIC = "policy/settings_changed", "critic/settings_changed"
FIXED = (float, bool, int, type(None), str)
Place = tuple[int, int, str]
"""Number of an optimiser, number of a group, and name of a field."""


class OptimiserSettings:
    """Compares the settings of optimisers with those that they had at first.

    Args:
        optimisers: Public are their `param_groups`. What is no plain number is left out: reading a tensor of a graphics
            card would make the step wait.
        critic: Ids of the weights of the critic; an optimiser that holds nothing else counts as the critic's.
    """

    def __init__(self, optimisers: Iterable[torch.optim.Optimizer], critic: set[int]) -> None:
        self._optimisers, self._critic = tuple(optimisers), critic
        self._first = self._last = [_fields(optimiser) for optimiser in self._optimisers]
        self._seen: list[list[Any]] = [[] for _ in self._optimisers]
        """Of each optimiser the very objects that `_last` was read from; nothing where one may change within."""
        self._moves: dict[Place, int] = {}
        self._fresh: set[Place] = set()
        """What moved since the last row, and was not told of."""
        self._rows = 0

    def step(self, optimiser: Any) -> bool:
        """Look at an optimiser that is about to take a step; return whether a setting moved that had stood still."""
        number = next((i for i, one in enumerate(self._optimisers) if one is optimiser), None)
        if number is None:
            return False
        seen, known = _held(optimiser), self._seen[number]
        if len(seen) == len(known) and all(map(is_, seen, known)):
            return False
        self._seen[number] = seen if all(map(_fixed, seen)) else []
        if (now := _fields(optimiser)) == self._last[number]:
            return False
        moved = {place for place, value in _places(number, now) if value != self._before(place)}
        self._last = [now if i == number else fields for i, fields in enumerate(self._last)]
        self._moves |= {place: self._moves.get(place, 0) + 1 for place in moved}
        rested = {place for place in moved if self._rows >= REST and self._moves[place] == 1}
        self._fresh |= moved - rested
        return bool(rested)

    def now(self) -> dict[str, float]:
        """Return how many settings are not those of the beginning, and did not move since the last row."""
        found = {OF_CRITIC if self._of_critic(one) else OF_POLICY: 0.0 for one in self._optimisers}
        for number, one in enumerate(self._optimisers):
            name = OF_CRITIC if self._of_critic(one) else OF_POLICY
            first = dict(_places(number, self._first[number]))
            for place, value in _places(number, self._last[number]):
                known = value == first.get(place, value) or place in self._fresh
                found[name] += not known and self._moves.get(place, 0) < SCHEDULE
        return found

    def row(self) -> dict[str, float]:
        """Return the same for a row of the trainer."""
        for optimiser in self._optimisers:
            self.step(optimiser)
        found, self._fresh = self.now(), set()
        self._rows += 1
        return found

    def _before(self, place: Place) -> Any:
        return dict(_places(place[0], self._last[place[0]])).get(place)

    def _of_critic(self, optimiser: torch.optim.Optimizer) -> bool:
        held = [id(weight) for group in optimiser.param_groups for weight in group["params"]]
        return bool(held) and all(weight in self._critic for weight in held)


Fields = list[tuple[Any, ...]]


def _fields(optimiser: Any) -> Fields:
    """Return the settings of each group."""
    groups = cast("list[dict[str, Any]]", optimiser.param_groups)
    return [tuple(_plain(group.get(name)) for name in OF_GROUP) for group in groups]


def _held(optimiser: Any) -> list[Any]:
    """Return the settings of all groups as they are."""
    groups = cast("list[dict[str, Any]]", optimiser.param_groups)
    return [group.get(name) for group in groups for name in OF_GROUP]


def _fixed(value: Any) -> bool:
    """Whether a setting never changes within, so that the same object is the same setting."""
    if type(value) is tuple:
        return all(type(part) in FIXED for part in cast("tuple[Any, ...]", value))
    return type(value) in FIXED


def _plain(value: Any) -> Any:
    """Return a setting as it can be compared: what is no number equals itself, and tensors are left out."""
    if isinstance(value, Tensor):
        return None
    if isinstance(value, list | tuple):
        return tuple(_plain(part) for part in cast("list[Any]", value))
    return value if isinstance(value, int | float) and not math.isnan(value) else repr(value)


def _places(number: int, fields: Fields) -> list[tuple[Place, Any]]:
    return [
        ((number, group, name), value)
        for group, values in enumerate(fields)
        for name, value in zip(OF_GROUP, values, strict=True)
    ]
