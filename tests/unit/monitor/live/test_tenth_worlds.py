"""The wrappers of all nine lists pass the tenth list's tasks on, until a fault is on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth_doses
from tenth import TENTH
from tenth_draw import GROUPS
from tenth_origins import LISTS
from tenth_tasks import made
from tenth_worlds import OF_WORLDS, in_the_world, maker
from worlds import Truth

TASKS = {"raft": "Raft", "kiln": "Kiln"}
STEPS = 90
"""Enough for some episodes."""
COPIES = 3
RARE, MANY = ("rays-missed",), 600
"""One reward in three hundred, and steps that are enough for it."""
OF_TIME = ("steps-slow", "pauses", "machine-behind")


def played(envs: list[Any], begin: Any = None, steps: int = STEPS) -> list[tuple[Any, ...]]:
    """Return what is shown and paid while fixed actions are played in every copy; `begin` is called a third through."""
    generator, shown = np.random.default_rng(0), list[tuple[Any, ...]]()
    for number, env in enumerate(envs):
        shown.append((env.reset(seed=number)[0],))
    for step in range(steps):
        if step == steps // 3 and begin is not None:
            begin()
        for env in envs:
            space = env.unwrapped.action_space
            action = int(generator.integers(space.n)) if hasattr(space, "n") else generator.uniform(-1, 1, 2)
            obs, reward, terminated, truncated, _ = env.step(action)
            shown.append((obs, reward, terminated, truncated))
            if terminated or truncated:
                shown.append((env.reset()[0],))
    return shown


def alike(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return len(one) == len(other) and all(
        len(a) == len(b) and np.array_equal(a[0], b[0], equal_nan=True) and tuple(a[1:]) == tuple(b[1:])
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("task", TASKS.values())
@pytest.mark.parametrize("origin", LISTS)
def test_everything_is_passed_on_while_no_fault_is_on(origin: str, task: str) -> None:
    fault = next(fault for fault in OF_WORLDS[origin] if in_the_world(fault)) if origin != "ninth" else ""
    truth = Truth()
    factory = maker(task, "none", fault, truth, 5, 1000, None, scaled=False)
    bare = [made(task) for _ in range(COPIES)]
    assert alike(played([factory() for _ in range(COPIES)]), played(bare))
    assert truth.steps == STEPS * COPIES
    assert len(truth.episodes) >= COPIES


def test_normalised_observations_are_the_same_whichever_list_the_wrapper_is_of() -> None:
    faults = [OF_WORLDS[origin][0] for origin in ("third", "sixth", "seventh", "eighth", "ninth")]
    found = [
        played([maker("Kiln", "none", fault, Truth(), 5, 1000, None, scaled=True)() for _ in range(1)])
        for fault in faults
        if fault
    ]
    assert all(alike(one, found[0]) for one in found)
    spreads = np.std([row[0] for row in found[0]], axis=0)
    assert spreads.min() > 0.3


PAIRS = [
    (subject, fault["id"])
    for fault in TENTH.faults().values()
    for subject in fault["subjects"]
    if in_the_world(fault["id"]) and fault["id"] not in OF_TIME
]


@pytest.mark.parametrize(("subject", "fault"), PAIRS)
def test_a_fault_of_the_list_changes_what_is_seen_or_paid_or_done(
    subject: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, truth, steps = TASKS[subject.rpartition("_")[2]], Truth(), MANY if fault in RARE else STEPS
    scaled = subject in GROUPS["scaled"]
    factory = maker(task, subject, fault, truth, 5, 400, None, scaled)
    if fault == "reading-missing":  # one reading in three thousand
        monkeypatch.setitem(eighth_doses.CHOSEN, (fault, subject), 0.1)

    def begin() -> None:
        truth.fault, truth.began = fault, float(truth.steps)

    whole = maker(task, subject, fault, Truth(), 5, 400, None, scaled)
    envs, others = [[make() for _ in range(COPIES)] for make in (factory, whole)]
    changed, healthy = played(envs, begin, steps), played(others, None, steps)
    assert not alike(changed, healthy), (subject, fault)
    first = steps // 3 * COPIES // 2
    assert alike(changed[:first], healthy[:first])
