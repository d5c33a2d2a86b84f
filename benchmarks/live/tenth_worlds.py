"""Environments of the tenth live campaign: its tasks, in the wrappers that the earlier lists plant their faults with.

A run has the wrapper of the list that its fault is of. As long as no fault is on, all of them pass everything on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import eighth_worlds
import fifth_worlds
import fourth_worlds
import gymnasium as gym
import ninth_worlds
import seventh_worlds
import sixth_worlds
import tenth_tasks
import third_worlds
import unseen_worlds
import worlds
from tenth_origins import enter_dose, list_of
from tenth_tasks import made
from worlds import Truth

from firstbreak.monitor.world import World, watched

SCALED = {"sixth": sixth_worlds, "seventh": seventh_worlds, "eighth": eighth_worlds, "ninth": ninth_worlds}
"""Lists whose wrappers come with one that normalises; it has faults of its own."""
OF_WORLDS: dict[str, tuple[str, ...]] = {
    "faults": worlds.IN_THE_WORLD,
    "unseen": unseen_worlds.FAULTS,
    "third": third_worlds.FAULTS,
    "fourth": fourth_worlds.FAULTS,
    "fifth": fifth_worlds.FAULTS,
    "sixth": sixth_worlds.FAULTS,
    "seventh": seventh_worlds.FAULTS,
    "eighth": eighth_worlds.FAULTS,
    "ninth": ninth_worlds.FAULTS,
}
"""Faults of the environment by list; all others are planted in the trainer."""
# What the earlier lists look up by the name of a task.
unseen_worlds.SPEEDS.update(tenth_tasks.SPEEDS)
seventh_worlds.SPEEDS.update(tenth_tasks.SPEEDS)
seventh_worlds.SPREAD.update(tenth_tasks.SPREAD)
ninth_worlds.GOAL.update(tenth_tasks.GOALS)
Make = Callable[[], gym.Env[Any, Any]]


def in_the_world(fault: str) -> bool:
    """Whether a fault is one of the environment."""
    return bool(fault) and fault in OF_WORLDS[list_of(fault)]


def common(origin: str, name: str, subject: str, seed: int, total: int) -> Any:
    """Return what copies have in common in the wrappers of a list; None where they have nothing."""
    size = made(name).observation_space.shape[0]
    if origin == "third":
        return third_worlds.Shared(total)
    if origin == "fourth":
        return fourth_worlds.Common(total)
    if origin == "fifth":
        return fifth_worlds.Steps(total, seed=seed)
    if origin == "sixth":
        return sixth_worlds.Common(seed, sixth_worlds.Normaliser(size))
    if origin == "ninth":
        return ninth_worlds.Common(name, subject, seed, ninth_worlds.Scale(size))
    if origin in SCALED:
        module = SCALED[origin]
        return module.Common(name, subject, seed, module.Normaliser(size))
    return None


def flawed(origin: str, env: Any, name: str, truth: Truth, shared: Any, place: tuple[int, int]) -> Any:
    """Return `env` in the wrapper of a list; `place` is the run's seed and the number of the copy."""
    seed, number = place
    if origin == "faults":
        return worlds.Faulty(env, truth, tenth_tasks.SPREAD[name], 1000 * seed + number)
    if origin == "unseen":
        return unseen_worlds.Changed(env, name, truth, 1000 * seed + number)
    if origin == "ninth":
        return ninth_worlds.Flawed(env, truth, shared)
    kinds = {
        "third": third_worlds.Altered, "fourth": fourth_worlds.Broken, "fifth": fifth_worlds.Creeping,
        "sixth": sixth_worlds.Flawed, "seventh": seventh_worlds.Flawed, "eighth": eighth_worlds.Flawed,
    }  # fmt: skip
    return kinds[origin](env, truth, shared, number)


def maker(
    name: str, subject: str, fault: str, truth: Truth, seed: int, total: int, world: World | None, scaled: bool
) -> Make:  # fmt: skip
    """Return a factory of copies of a task that share `truth`.

    Args:
        name: The task.
        subject: The subject, by which a dose is looked up.
        fault: The fault that the run is for; none in a twin.
        truth: Hears what really happens.
        seed: Of the wrapper's own draws.
        total: Environment steps of the run.
        world: The monitor's model of the world, which sees observations that are not scaled.
        scaled: Whether the trainer sees them on the scale of all that was seen.
    """
    enter_dose(fault, subject)
    origin = list_of(fault)
    shared, count = common(origin, name, subject, seed, total), [0]
    scale: Any = SCALED.get(origin)
    if scale is None:  # a list without normalisation: that of another, of whose faults none is on
        scale, within = eighth_worlds, common("eighth", name, subject, seed, total)
    else:
        within = shared

    def make() -> gym.Env[Any, Any]:
        env = flawed(origin, made(name), name, truth, shared, (seed, count[0]))
        count[0] += 1
        env = env if world is None else watched(env, world)
        return scale.Scaled(env, truth, within) if scaled else env

    return make
