"""From a recorded run to the `Subject` of an experiment: the run's trainer, its environment, and what its owner knows.

The owner of a run knows the settings it was made with, how long it was, what a healthy run of the task earns (from
the benchmark's unbroken twins), after how many steps learning starts, and how the task is played well.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from benchmarks.faults.gate import score_of
from benchmarks.faults.planting import FAMILY, PLAYS
from benchmarks.settle.experts import EXPERTS
from benchmarks.settle.places import place_of
from benchmarks.settle.trainers import Course
from firstbreak.experiments.subject import Subject

TRAINER = "benchmarks.settle.trainers:train"
FIRST_UPDATES_STEPS = 50
"""Steps after which an off-policy trainer that has begun to learn has made an update. All of the benchmark's have."""
SHORT = ("zero-learning-rate",)
"""Experiments for which an off-policy trainer need not fill its replay buffer before it learns, in either arm."""
ON_THE_REWARD = ("oracle-against-random",)
"""Experiments that judge the reward; all others judge agents, by the reward that is really wanted."""


def makeable(subject: str) -> bool:
    """Whether a subject of the benchmark can be put into an experiment: those that act in an environment can."""
    return FAMILY[subject] in PLAYS


def subject_of(run: Mapping[str, Any], twins: list[Mapping[str, Any]], experiment: str = "") -> Subject:
    """Return what is experimented on.

    Args:
        run: As it was recorded.
        twins: Unbroken runs of the same task.
        experiment: What is to be made of it: one on the reward is given the environment as it pays.
    """
    place = place_of(run)
    course = Course(place, 0, int(run["seed"]), lambda: None, {})
    settings, _ = course.planned()
    known = {**defaults(place.subject), **settings}
    if "copies" in known:
        known["n_envs"] = known.pop("copies")
    plain = {k: v for k, v in known.items() if is_plain(v)}
    world = place.entry.world or place.task
    given: dict[str, Any] = {"expert": f"benchmarks.settle.experts:{EXPERTS[world]}"} if world in EXPERTS else {}
    if twins:
        given["expect"] = expected(twins)
    if "learning_starts" in plain:
        if experiment in SHORT:
            plain["learning_starts"] = int(plain["batch_size"])
        given["short_steps"] = int(plain["learning_starts"]) + FIRST_UPDATES_STEPS
    return Subject(
        trainer=TRAINER,
        env=f"benchmarks.settle.{'paid' if experiment in ON_THE_REWARD else 'worlds'}:{place.name}",
        steps=course.whole,
        settings={**plain, "place": place.name},
        given=given,
    )


def is_plain(value: Any) -> bool:
    """Whether a setting can be written down."""
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    return value is None or isinstance(value, bool | int | float | str)


def expected(twins: list[Mapping[str, Any]]) -> float:
    """What a healthy run earns at its end: the mean of its twins' true scores."""
    scores = [score for twin in twins if (score := score_of(twin)) is not None]
    return round(fmean(scores), 4)


def defaults(subject: str) -> dict[str, Any]:
    """The settings that a subject has by itself."""
    if FAMILY[subject] == "sb3":
        from benchmarks.settle.sb3 import defaults as found
    else:
        from benchmarks.settle.reference import defaults as found
    return found(subject)
