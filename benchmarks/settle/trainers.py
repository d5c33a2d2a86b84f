"""`train`: the subjects of the fault benchmark as trainers that an experiment can be made with.

What was planted in a run is planted here by the same code (`benchmarks.faults.planting`). In a training as long as the
run it is switched on where it was. A shorter one, or none at all, asks about the trainer as it has become, so there it
is on from the first step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.faulty_env import Truth
from benchmarks.settle.places import Place, place_named
from benchmarks.settle.worlds import copy_within


@dataclass
class Course:
    """One training: what is trained, for how long, with which seed and settings."""

    place: Place
    total: int
    seed: int
    make_env: Callable[[], Any]
    settings: dict[str, Any]
    """In the words of the framework, `n_envs` for copies of the environment; laid over what was planted in them."""
    truth: Truth = field(default_factory=Truth)
    copies: int = 0

    @property
    def whole(self) -> int:
        """Steps of the run under suspicion."""
        _, options = self.planned()
        return int(options.get("total", self.place.entry.total))

    @property
    def at(self) -> float | None:
        """The step at which the change is switched on."""
        if self.place.switch is None:
            return None
        return self.place.switch * self.total if self.total >= self.whole else 0.0

    def planned(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings and options of the run, as planted."""
        from copy import deepcopy

        task = self.place.entry
        settings, options = deepcopy(task.settings), deepcopy(task.options)
        planting.change_settings(self.place.what, self.place.subject, settings, options, task.total)
        return settings, options

    def world(self) -> Any:
        """One more copy of the environment, hired for this training."""
        if self.at == 0.0 and not self.copies:  # the first observation belongs to the run, too
            self.truth.change = planting.WORLD.get(self.place.what)
        self.copies += 1
        env = self.make_env()
        copy_within(env).hire(self.truth, self.seed, self.copies)
        return env


def train(
    make_env: Callable[[], Any], *, total_steps: int, seed: int, gamma: float | None = None, place: str = "",
    **settings: Any,
) -> Any:  # fmt: skip
    """Train the subject of `place` and return its agent."""
    found = place_named(place)
    family = planting.FAMILY[found.subject]
    planting.load(family)
    given = settings if gamma is None else {**settings, "gamma": gamma}
    course = Course(found, total_steps, seed, make_env, given)
    if family == "sb3":
        from benchmarks.settle.sb3 import trained
    else:
        from benchmarks.settle.reference import trained
    return trained(course)
