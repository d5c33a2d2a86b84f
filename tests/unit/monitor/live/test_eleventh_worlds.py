"""The wrappers of all nine lists pass the eleventh list's tasks on, until a fault is on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth_doses
from eleventh import ELEVENTH
from eleventh_draw import SCALED
from eleventh_tasks import CARTPOLE_STEPS, FERRY_STEPS, OWN, made
from tenth_origins import LISTS
from tenth_worlds import OF_WORLDS, in_the_world, maker
from worlds import Truth

TASKS = {"ferry": "Ferry", "locks": "Locks", "cartpole": "CartPole", "reacher": "Reacher"}
STEPS = 90
"""Enough for some episodes."""
COPIES = 3
OF_TIME = ("steps-slow", "pauses", "machine-behind")


def needing(*given: str) -> Any:
    """Return a case of a test; one of Reacher's is for where MuJoCo is."""
    of_mujoco = any("reacher" in one.lower() for one in given)
    return pytest.param(*given, marks=[pytest.mark.full] if of_mujoco else [])


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
            drawn = int(generator.integers(space.n)) if hasattr(space, "n") else generator.uniform(-1, 1, space.shape)
            obs, reward, terminated, truncated, _ = env.step(drawn)
            shown.append((obs, reward, terminated, truncated))
            if terminated or truncated:
                shown.append((env.reset()[0],))
    return shown


def alike(one: list[tuple[Any, ...]], other: list[tuple[Any, ...]]) -> bool:
    return len(one) == len(other) and all(
        len(a) == len(b) and np.array_equal(a[0], b[0], equal_nan=True) and tuple(a[1:]) == tuple(b[1:])
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize("task", [needing(name) for name in OWN])
@pytest.mark.parametrize("origin", LISTS)
def test_everything_is_passed_on_while_no_fault_is_on(origin: str, task: str) -> None:
    fault = next(fault for fault in OF_WORLDS[origin] if in_the_world(fault)) if origin != "ninth" else ""
    truth = Truth()
    factory = maker(task, "none", fault, truth, 5, 1000, None, scaled=False)
    assert alike(played([factory() for _ in range(COPIES)]), played([made(task) for _ in range(COPIES)]))
    assert truth.steps == STEPS * COPIES
    assert len(truth.episodes) >= COPIES


@pytest.mark.parametrize("name", [needing("CartPole-v1"), needing("Reacher-v5")])
def test_gymnasiums_tasks_are_gymnasiums_until_a_fault_changes_them(name: str) -> None:
    import gymnasium as gym

    ours, theirs = made(name.partition("-")[0]), gym.make(name).unwrapped
    generator = np.random.default_rng(1)
    assert np.allclose(ours.reset(seed=4)[0], theirs.reset(seed=4)[0])
    for step in range(40):
        action: Any = step % 2 if name.startswith("Cart") else generator.uniform(-1, 1, 2)
        one, other = ours.step(action), theirs.step(action)
        assert np.allclose(one[0], other[0], atol=1e-5)
        assert one[1:3] == (pytest.approx(float(other[1])), other[2])
        if one[2]:
            break
    ours.load = 5.0
    before = ours.reset(seed=4)[0]
    heavy = np.array([ours.step(1 if name.startswith("Cart") else np.ones(2))[0] for _ in range(5)])[-1]
    ours.load = 1.0
    assert np.array_equal(ours.reset(seed=4)[0], before)
    light = np.array([ours.step(1 if name.startswith("Cart") else np.ones(2))[0] for _ in range(5)])[-1]
    assert not np.allclose(heavy, light, atol=1e-3)


def test_tasks_pay_and_end_as_they_say() -> None:
    ferry = made("Ferry")
    ferry.reset(seed=0)
    ferry.at, ferry.speed, ferry.berth, ferry.tide, ferry.chance = 0.1, 0.0, 0.1, 0.0, 0.0
    assert ferry.step(1)[1:4] == (3.0, False, False)  # a call: it drifts where it should be
    assert abs(ferry.berth - 0.1) > 0.5  # and there is another berth
    assert ferry.step(3)[1] == pytest.approx(-0.06)  # fuel
    ferry.at = 1.2
    assert ferry.step(1)[1:3] == (-6.0, True)
    ferry.reset(seed=0)
    ends = [ferry.step(1)[2:4] for _ in range(FERRY_STEPS) if abs(ferry.at) < 0.9]
    assert ends[-1] == (False, True) or ends[-1][0]
    locks = made("Locks")
    locks.reset(seed=0)
    locks.levels = locks.marks = np.zeros(3)
    locks.chance = 0.0
    assert locks.step(np.zeros(3))[1] == 0.0
    locks.levels = np.array([0.0, 0.0, -1.5])
    _, paid, lost, _, info = locks.step(np.zeros(3))
    assert lost
    assert paid == pytest.approx(-9.0 - info["off"])


@pytest.mark.parametrize(
    ("name", "steps"), [("CartPole", CARTPOLE_STEPS), pytest.param("Reacher", 50, marks=pytest.mark.full)]
)
def test_gymnasiums_tasks_end_at_a_limit_of_their_own(name: str, steps: int) -> None:
    env = made(name)
    env.reset(seed=0)
    env.count = steps - 1
    assert env.limit == steps
    assert env.step(0 if name == "CartPole" else np.zeros(2))[2:4] == (False, True)


PAIRS = [
    needing(subject, fault["id"])
    for fault in ELEVENTH.faults().values()
    for subject in fault["subjects"]
    if in_the_world(fault["id"]) and fault["id"] not in OF_TIME
]


@pytest.mark.parametrize(("subject", "fault"), PAIRS)
def test_a_fault_of_the_list_changes_what_is_seen_or_paid_or_done(
    subject: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, truth, steps = TASKS[subject.rpartition("_")[2]], Truth(), 4 * STEPS
    scaled = subject in SCALED
    if fault == "reading-missing":  # one reading in three thousand
        monkeypatch.setitem(eighth_doses.CHOSEN, (fault, subject), 0.1)

    def begin() -> None:
        truth.fault, truth.began = fault, float(truth.steps)

    whole = maker(task, subject, fault, Truth(), 5, 400, None, scaled)
    factory = maker(task, subject, fault, truth, 5, 400, None, scaled)
    envs, others = [[make() for _ in range(COPIES)] for make in (factory, whole)]
    changed, healthy = played(envs, begin, steps), played(others, None, steps)
    assert not alike(changed, healthy), (subject, fault)
    first = steps // 3 * COPIES // 2
    assert alike(changed[:first], healthy[:first])
