"""The environments of the eighth list do what eighth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import eighth_doses
from eighth_tasks import MOST, SPEEDS, THRIFT, Buoy, Counters, made
from eighth_worlds import BOUND, Normaliser, maker
from worlds import Truth

SUBJECT = {"Counters": "ppo_counters", "Buoy": "sac_buoy"}
BOTH = pytest.mark.parametrize("name", ["Counters", "Buoy"])


def still(name: str) -> Any:
    """Return an action that does nothing, or the same always."""
    return 0 if name == "Counters" else np.zeros(2)


def pair(name: str, fault: str, monkeypatch: pytest.MonkeyPatch, dose: float = 1) -> tuple[Truth, Any, Any]:
    """Return a copy, not scaled, in which `fault` is on, and one that is as it was, alike otherwise."""
    monkeypatch.setitem(eighth_doses.CHOSEN, (fault, SUBJECT[name]), dose)
    truth = Truth()
    broken, whole = (maker(name, SUBJECT[name], heard, 0, None)().env for heard in (truth, Truth()))
    for env in (broken, whole):
        env.reset(seed=0)
        for _ in range(3):
            env.step(still(name))
    truth.fault = fault
    return truth, broken, whole


def until_over(env: Any, action: Any) -> list[Any]:
    """Return what the rest of an episode answers."""
    rows: list[Any] = []
    while not rows or not (rows[-1][2] or rows[-1][3]):
        rows.append(env.step(action))
    return rows


@BOTH
def test_without_a_fault_all_is_passed_on(name: str) -> None:
    truth = Truth()
    env, bare = maker(name, SUBJECT[name], truth, 0, None)().env, made(name)
    assert np.array_equal(env.reset(seed=5)[0], bare.reset(seed=5)[0])
    total, over = 0.0, False
    while not over:
        action = bare.action_space.sample()
        found, expected = env.step(action), bare.step(action)
        assert np.array_equal(found[0], expected[0])
        assert found[1:4] == expected[1:4]
        total, over = total + expected[1], expected[2] or expected[3]
    assert truth.episodes == [(truth.steps, pytest.approx(total))]


@BOTH
def test_control_matters(name: str) -> None:
    """The same action always loses control long before the time limit."""
    env, counts = made(name), []
    for seed in range(20):
        env.reset(seed=seed)
        counts.append(len(until_over(env, still(name))))
    assert np.mean(counts) < 0.7 * env.limit


def test_a_full_counter_and_a_lost_buoy_end_it() -> None:
    counters = Counters()
    counters.reset(seed=0)
    counters.queue[:] = MOST - 0.1
    assert counters.step(1)[2:4] == (True, False)
    buoy = Buoy()
    buoy.reset(seed=0)
    buoy.depth, buoy.sinks = 0.99, 0.2
    _, reward, terminated, truncated, _ = buoy.step(np.zeros(2))
    assert (terminated, truncated) == (True, False)
    assert reward < -4


def test_observations_are_scaled() -> None:
    scale, generator = Normaliser(2), np.random.default_rng(0)
    found = np.array([scale(row) for row in generator.normal([3.0, -1.0], [10.0, 0.1], (2000, 2))])
    assert np.allclose(found[1000:].mean(axis=0), 0, atol=0.1)
    assert np.allclose(found[1000:].std(axis=0), 1, atol=0.1)
    assert scale(np.array([1e9, -1.0]))[0] <= BOUND
    before = Normaliser(2)
    for row in generator.normal(size=(1000, 2)):
        before(row)
    mean = before.mean.copy()
    before.move(3)
    assert np.allclose(before.mean - mean, [3, -3], rtol=0.1)


def scaled(fault: str, dose: float, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Return the first observation of a scaled copy with the fault and of one without."""
    monkeypatch.setitem(eighth_doses.CHOSEN, (fault, "sac_buoy"), dose)
    found: list[Any] = []
    for on in (fault, ""):
        truth = Truth()
        env = maker("Buoy", "sac_buoy", truth, 0, None)()
        for seed in range(100):
            env.reset(seed=seed)
        truth.fault = on
        found.append(env.reset(seed=200)[0])
    return found[0], found[1]


def test_what_is_scaled_is_divided_cut_or_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    found, expected = scaled("divided-again", 30, monkeypatch)
    assert np.allclose(found, expected / 30)
    found, expected = scaled("observations-whole", 1, monkeypatch)
    assert np.array_equal(found, np.trunc(expected))
    found, expected = scaled("statistics-of-another", 3, monkeypatch)
    turns = np.array([-3, 3, -3, 3, -3, 3])
    varies = np.array([True, False, True, False, True, True])  # a buoy begins at rest
    assert np.allclose((found - expected)[varies], turns[varies], atol=0.3)


def test_actions_are_not_what_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    meant = np.array([0.8, -0.7])
    for fault, gets in (("actions-whole", [0.0, 0.0]), ("low-bound-lost", [0.8, 0.0])):
        _, broken, whole = pair("Buoy", fault, monkeypatch)
        assert np.allclose(broken.step(meant)[0], whole.step(np.array(gets))[0])
    for action in range(3):
        _, broken, whole = pair("Counters", "index-off-by-one", monkeypatch)
        assert np.array_equal(broken.step(action)[0], whole.step((action + 1) % 3)[0])


def test_copies_answer_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(eighth_doses.CHOSEN, ("copies-crossed", "sac_buoy"), 1)
    truth = Truth()
    make = maker("Buoy", "sac_buoy", truth, 0, None)
    copies = [make().env for _ in range(3)]
    first = [copy.reset(seed=number)[0] for number, copy in enumerate(copies)]
    truth.fault = "copies-crossed"
    seen = [copy.step(np.zeros(2))[0] for copy in copies]
    own = [copy.unwrapped.seen() for copy in copies]
    assert np.array_equal(seen[0], first[2])
    assert np.array_equal(seen[1:], own[:2])


def test_flags_are_swapped_and_the_truth_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair("Buoy", "flags-swapped", monkeypatch)
    found, expected = until_over(broken, np.ones(2)), until_over(whole, np.ones(2))
    assert [row[2:4] for row in found] == [row[2:4][::-1] for row in expected]
    assert truth.episodes[0][1] == pytest.approx(whole.total)


def test_episodes_are_cut_off_early(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Buoy", "limit-shortened", monkeypatch, 0.15)
    assert len(until_over(broken, np.zeros(2))) + 3 == 8
    assert len(truth.episodes) == 1


@BOTH
def test_chance_is_wider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair(name, "chance-wider", monkeypatch, 10)
    found, expected = broken.step(still(name))[0], whole.step(still(name))[0]
    assert (broken.unwrapped.chance, whole.unwrapped.chance) == (10, 1)
    assert not np.array_equal(found, expected)


def test_episodes_begin_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Counters", "begins-elsewhere", monkeypatch, 6)
    found, expected = broken.reset(seed=3)[0], whole.reset(seed=3)[0]
    assert np.allclose(found[:3], np.minimum(6 * expected[:3], 0.9 * MOST))


def test_signs_of_observations_are_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Counters", "axis-turned", monkeypatch, 3)
    found, expected = broken.step(1)[0], whole.step(1)[0]
    assert np.array_equal(found, expected * [-1, -1, -1, 1, 1, 1, 1])


def test_a_reading_is_missing_and_the_scale_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(eighth_doses.CHOSEN, ("reading-missing", "sac_buoy"), 0.05)
    truth = Truth()
    env = maker("Buoy", "sac_buoy", truth, 0, None)()
    truth.fault = "reading-missing"
    rows = [env.reset(seed=seed)[0] for seed in range(200)]
    gone = [bool(np.isnan(row).any()) for row in rows]
    assert not gone[0]
    assert gone == sorted(gone)
    assert gone[-1]


def test_a_loss_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, whole = pair("Buoy", "end-rewarded", monkeypatch, 3)
    found, expected = until_over(broken, np.ones(2)), until_over(whole, np.ones(2))
    assert [row[1] for row in found[:-1]] == pytest.approx([row[1] for row in expected[:-1]])
    assert found[-1][1] == pytest.approx(expected[-1][1] + 20)
    assert truth.episodes[0][1] == pytest.approx(whole.total)


def test_rewards_are_small_old_or_centred(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Buoy", "units-smaller", monkeypatch, 0.03)
    assert broken.step(np.zeros(2))[1] == pytest.approx(0.03 * whole.step(np.zeros(2))[1])
    _, broken, whole = pair("Buoy", "answer-held", monkeypatch, 5)
    found, expected = ([row[1] for row in until_over(env, np.zeros(2))] for env in (broken, whole))
    assert found[0] != expected[0]
    assert found[1:6] == [expected[1]] * 5
    _, broken, whole = pair("Buoy", "rewards-centred", monkeypatch)
    found, expected = ([row[1] for row in until_over(env, np.zeros(2))] for env in (broken, whole))
    mean = broken.shared.mean
    assert 0 < abs(mean) < 1
    assert found[-1] == pytest.approx(expected[-1] - mean)


def test_the_reward_is_of_a_version_before(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, _ = pair("Counters", "version-before", monkeypatch)
    assert [broken.step(action)[1] for action in range(3)] == list(THRIFT)
    _, broken, whole = pair("Buoy", "version-before", monkeypatch)
    reward, buoy = broken.step(np.zeros(2))[1], broken.unwrapped
    assert reward == pytest.approx(1 - abs(buoy.depth + buoy.goal) - 0.5 * abs(buoy.side - buoy.goal))
    assert reward != pytest.approx(whole.step(np.zeros(2))[1])


def test_the_counters_can_do_the_work() -> None:
    assert SPEEDS.sum() > 1.3
