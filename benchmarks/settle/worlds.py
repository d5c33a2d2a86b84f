"""The environments of recorded runs, by name: what was changed in the world is on, and the true reward is paid.

An experiment scores agents in the environment that it is given, so this one has to pay what is really wanted. A trainer
of this benchmark switches its own copies to what the run under suspicion was paid (`Copy.hire`). An experiment on the
environment itself is given it as it pays, under the same name in `paid`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.faulty_env import Faulty, Truth
from benchmarks.faults.tiny_worlds import made
from benchmarks.settle.places import Place, place_named


class Copy(Faulty):
    """One copy of a run's environment."""

    def __init__(self, place: Place) -> None:
        truth = Truth()
        if place.switch is not None:
            truth.change = planting.WORLD.get(place.what)
        super().__init__(made(place.entry.world or place.task), truth, seed=0)
        self.training = False
        self.earned = 0.0

    def hire(self, truth: Truth, seed: int, number: int) -> None:
        """Make it copy `number` of a training: paid as the run was, changed when `truth` says so."""
        Faulty.__init__(self, self.env, truth, seed, number)
        self.training = True

    def play(self, action: Any) -> Any:
        found = super().play(action)
        self.earned += found[1]
        return found

    def step(self, action: Any) -> Any:
        self.earned = 0.0
        obs, paid, terminated, truncated, info = super().step(action)
        return obs, paid if self.training else self.earned, terminated, truncated, info


def copy_within(env: Any) -> Copy:
    """Return the copy that an experiment has wrapped."""
    while not isinstance(env, Copy):
        env = env.env
    return env


def factory(name: str) -> Callable[[], Copy]:
    """Return what makes the environment of a place.

    Raises:
        AttributeError: there is no such place; modules say so of a name that they lack.
    """
    try:
        place = place_named(name)
    except (KeyError, ValueError) as error:
        raise AttributeError(name) from error
    planting.load(planting.FAMILY[place.subject])
    return lambda: Copy(place)


def __getattr__(name: str) -> Callable[[], Copy]:
    return factory(name)
