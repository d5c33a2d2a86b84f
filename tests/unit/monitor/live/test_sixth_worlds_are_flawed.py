"""The sixth list is what its draw says, and every fault of its environments does what sixth.toml says."""

from __future__ import annotations

import math
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import sixth_reference
import sixth_sb3_plants
from sixth import SIXTH
from sixth_draw import draw
from sixth_tasks import Arm, Descend, made
from sixth_worlds import BOUND, FAULTS, LATE, LOOP, MANGLED, MISSED_EVERY, REPEATED, SCALE, Flawed, Normaliser, maker
from worlds import Truth

LIVE = Path(__file__).resolve().parents[4] / "benchmarks" / "live"
LANGUAGE = {
    "question-dropped", "tokens-paid", "cut-unpaid", "loss-turned", "groups-half-off", "sampler-cold",
    "kept-renormalised", "resumed-half",
}  # fmt: skip


def pair(name: str, fault: str) -> tuple[Truth, Any, Any]:
    """Return one copy, not scaled, in which `fault` is on, and one that is as it was, alike otherwise."""
    truth = Truth()
    broken, whole = maker(name, truth, 0, None)().env, maker(name, Truth(), 0, None)().env
    for env in (broken, whole):
        env.reset(seed=0)
        for _ in range(3):
            env.step(env.action_space.sample() * 0)
    truth.fault, truth.began = fault, truth.steps
    return truth, broken, whole


def test_the_sixth_list_is_what_was_drawn() -> None:
    listed = {f["source"]: (f["link"], sorted(f["subjects"])) for f in SIXTH.faults().values()}
    assert listed == draw()
    assert len({link for link, _ in listed.values()}) == 8
    assert 40 <= sum(len(subjects) for _, subjects in listed.values()) <= 46


def test_the_sixth_list_has_a_place_for_every_fault() -> None:
    for fault in SIXTH.faults().values():
        for subject in fault["subjects"]:
            kind = subject.split("_")[0]
            plants = {"sb3": sixth_sb3_plants.PLANTS, "grpo": LANGUAGE}.get(kind, sixth_reference.PLANTS)
            assert fault["id"] in FAULTS or fault["id"] in plants, (fault["id"], subject)
    twins = [order for order in SIXTH.orders() if not order[1]]
    assert len(twins) >= 30
    assert len({subject for subject, _, _ in twins}) == 8


def test_no_subject_of_the_sixth_list_is_in_the_lists_before() -> None:
    names = ("faults", "unseen", "third", "fourth", "fifth")
    before = [f for name in names for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(SIXTH.faults())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in SIXTH.orders()}


@pytest.mark.parametrize("name", ["Descend", "Arm"])
def test_without_a_fault_all_is_passed_on(name: str) -> None:
    truth = Truth()
    env, bare = maker(name, truth, 0, None)().env, made(name)
    assert np.array_equal(env.reset(seed=5)[0], bare.reset(seed=5)[0])
    total, over = 0.0, False
    while not over:
        action = bare.action_space.sample()
        found, right = env.step(action), bare.step(action)
        assert np.array_equal(found[0], right[0])
        assert found[1:4] == right[1:4]
        total, over = total + right[1], right[2] or right[3]
    assert truth.episodes == [(truth.steps, pytest.approx(total))]


def test_what_is_seen_is_scaled() -> None:
    scale, generator = Normaliser(2), np.random.default_rng(0)
    rows = generator.normal([3.0, -1.0], [10.0, 0.1], (2000, 2))
    found = np.array([scale(row) for row in rows])
    assert np.allclose(found[1000:].mean(axis=0), 0, atol=0.1)
    assert np.allclose(found[1000:].std(axis=0), 1, atol=0.1)
    assert scale(np.array([1e9, -1.0]))[0] <= BOUND


def test_statistics_begin_anew_once_for_all_copies() -> None:
    truth = Truth()
    make = maker("Descend", truth, 0, None)
    one, other = make(), make()
    for env in (one, other):
        env.reset(seed=0)
        for _ in range(20):
            env.step(0)
    assert one.shared.normaliser.count > 40
    truth.fault = "normaliser-anew"
    one.step(0)
    assert one.shared.normaliser.count == pytest.approx(1, abs=0.01)
    other.step(0)
    assert one.shared.normaliser.count == pytest.approx(2, abs=0.01)


def test_an_end_is_not_seen_and_the_truth_is() -> None:
    truth, broken, _ = pair("Descend", "end-unseen")
    while not truth.episodes:
        found = broken.step(0)
        assert found[2:4] == (False, False)
    assert truth.episodes[0][0] == truth.steps
    last, steps = found[0], broken.count
    for step in range(steps + 1, Descend.limit + 1):
        obs, reward, terminated, truncated, _ = broken.step(2)
        assert np.array_equal(obs, last)
        assert (reward, terminated, truncated) == (0.0, False, step == Descend.limit)
    assert len(truth.episodes) == 1
    broken.reset()
    assert not broken.over


def until_over(env: Any, actions: Any) -> list[tuple[Any, float]]:
    """Return observations and rewards of the rest of an episode."""
    rows: list[tuple[Any, float]] = []
    for action in actions:
        obs, reward, terminated, truncated, _ = env.step(action)
        rows.append((np.array(obs), reward))
        if terminated or truncated:
            break
    return rows


def test_steps_are_repeated() -> None:
    _, broken, whole = pair("Arm", "step-repeated")
    found, right = until_over(broken, [np.full(2, 0.1)] * 24), until_over(whole, [np.full(2, 0.1)] * 24)
    same = [np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found, right, strict=True)]
    again = [np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found[1:], found[:-1], strict=True)]
    assert all(one or other for one, other in zip(same[1:], again, strict=True))
    assert sum(again) / len(again) == pytest.approx(REPEATED, abs=0.25)


def test_steps_are_mangled() -> None:
    _, broken, whole = pair("Arm", "steps-mangled")
    memory = [tuple(obs) for obs, _ in broken.shared.memory]
    found, right = until_over(broken, [np.full(2, 0.1)] * 24), until_over(whole, [np.full(2, 0.1)] * 24)
    kept = [np.array_equal(a[0], b[0]) for a, b in zip(found, right, strict=True)]
    assert all(one or tuple(a[0]) in memory for one, a in zip(kept, found, strict=True))
    assert sum(kept) / len(kept) == pytest.approx(1 - MANGLED, abs=0.3)


@pytest.mark.parametrize("fault", ["reward-x40", "reward-delayed", "reward-at-end"])
def test_what_is_paid_is_not_what_was_earned(fault: str) -> None:
    truth, broken, whole = pair("Descend", fault)
    before, late = whole.total, list(whole.unpaid)
    found = [reward for _, reward in until_over(broken, [0] * Descend.limit)]
    earned = [reward for _, reward in until_over(whole, [0] * Descend.limit)]
    expected = {
        "reward-x40": [SCALE * reward for reward in earned],
        "reward-delayed": [*late[1:], *earned][: len(earned)],
        "reward-at-end": [*[0.0] * (len(earned) - 1), before + sum(earned)],
    }
    assert LATE == 3
    assert found == pytest.approx(expected[fault])
    assert truth.episodes[0][1] == pytest.approx(before + sum(earned))


def test_coming_near_is_paid_each_time() -> None:
    _, broken, whole = pair("Arm", "loop-paid")
    for near, extra in ((True, LOOP), (True, 0.0), (False, 0.0), (True, LOOP)):
        for env in (broken, whole):
            env.env.goal = env.env.hand() * (1.0 if near else -1.0)
            env.env.speed = np.ones(2) if near else np.zeros(2)
        action = np.full(2, -1.0) if near else np.zeros(2)
        for env in (broken, whole):
            env.env.speed = np.array([0.5, -0.5])
            env.env.joints = env.env.joints - (0.6 * env.env.speed + 0.25 * action)
        found, right = broken.step(action)[1], whole.step(action)[1]
        assert found - right == pytest.approx(extra)


def test_rays_that_miss_are_infinite() -> None:
    truth, broken, _ = pair("Descend", "rays-missed")
    assert isinstance(broken, Flawed)
    missed = 0
    for _ in range(10 * MISSED_EVERY):
        _, reward, terminated, truncated, _ = broken.step(0)
        missed += reward == -math.inf
        if terminated or truncated:
            broken.reset()
    assert missed == pytest.approx(10, abs=7)
    assert all(math.isfinite(total) for _, total in truth.episodes)


def test_who_lands_softly_is_paid_and_who_falls_is_not() -> None:
    env = Descend()
    env.reset(seed=0)
    env.x, env.height, env.sideways, env.up = 0.0, 0.05, 0.0, -0.05
    _, reward, terminated, truncated, _ = env.step(0)
    assert (terminated, truncated) == (True, False)
    assert reward > 1.9
    env.reset(seed=0)
    env.height, env.up = 0.05, -0.3
    _, reward, terminated, _, _ = env.step(0)
    assert terminated
    assert reward < -0.5


def test_a_hand_that_touches_calmly_is_paid() -> None:
    env = Arm()
    env.reset(seed=0)
    env.goal = env.hand()
    _, reward, terminated, truncated, info = env.step(np.zeros(2))
    assert (terminated, truncated, info["near"]) == (True, False, True)
    assert reward == pytest.approx(2.0, abs=0.01)
    env.reset(seed=0)
    env.goal = -env.hand()
    assert env.step(np.zeros(2))[1] < 0
