"""The environments of the ninth list do what ninth.toml says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import ninth_doses
from ninth_tasks import BEST, LEAST, MOST, Plates, Reactor, made
from ninth_worlds import EVALUATED, GOAL, maker
from worlds import Truth

SUBJECT = {"Plates": "sb3_a2c_plates", "Reactor": "sb3_sac_reactor"}
BOTH = pytest.mark.parametrize("name", ["Plates", "Reactor"])


def still(name: str) -> Any:
    """Return an action that does nothing."""
    return 3 if name == "Plates" else np.zeros(2)


def pair(name: str, fault: str, monkeypatch: pytest.MonkeyPatch, dose: float = 1) -> tuple[Truth, Any, Any]:
    """Return a copy, not scaled, in which `fault` is on, and one that is as it was, alike otherwise."""
    monkeypatch.setitem(ninth_doses.CHOSEN, (fault, SUBJECT[name]), dose)
    truth = Truth()
    broken, whole = (maker(name, SUBJECT[name], heard, 0, None)().env for heard in (truth, Truth()))
    for env in (broken, whole):
        env.reset(seed=0)
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
    """Doing nothing always loses control long before the time limit."""
    env, counts = made(name), []
    for seed in range(20):
        env.reset(seed=seed)
        counts.append(len(until_over(env, still(name))))
    assert np.mean(counts) < 0.5 * env.limit


def test_both_tasks_can_be_done() -> None:
    plates, reactor, totals = Plates(), Reactor(), {"plates": 0.0, "reactor": 0.0}
    obs, _ = plates.reset(seed=0)
    for _ in range(plates.limit):
        obs, reward, fell, *_ = plates.step(int(obs[:3].argmin()) if obs[:3].mean() < BEST + 0.05 else 3)
        totals["plates"] += reward
        assert not fell
    obs, _ = reactor.reset(seed=0)
    for _ in range(reactor.limit):
        obs, reward, lost, *_ = reactor.step(np.array([4 * obs[0] + 0.3 * obs[2], 4 * (obs[3] - obs[1])]))
        totals["reactor"] += reward
        assert not lost
    assert totals["plates"] > 45
    assert totals["reactor"] > 35


@pytest.mark.parametrize("speed", [LEAST, MOST])
def test_a_plate_that_stands_still_or_flies_off_ends_it(speed: float) -> None:
    plates = Plates()
    plates.reset(seed=0)
    plates.speeds[0], plates.load = speed + 0.01 * np.sign(speed - BEST), 0.0
    assert plates.step(3)[2:4] == (True, False)


def test_actions_are_smoothed_and_a_drive_is_jammed(monkeypatch: pytest.MonkeyPatch) -> None:
    meant = np.array([0.8, -0.4])
    _, broken, whole = pair("Reactor", "action-smoothed", monkeypatch, 0.75)
    for share in (0.25, 0.4375):
        assert np.allclose(broken.step(meant)[0], whole.step(share * meant)[0])
    _, broken, whole = pair("Reactor", "drive-jammed", monkeypatch)
    assert np.allclose(broken.step(meant)[0], whole.step(np.array([0.0, -0.4]))[0])
    _, broken, whole = pair("Plates", "drive-jammed", monkeypatch)
    assert np.array_equal(broken.step(0)[0], whole.step(3)[0])
    assert np.array_equal(broken.step(1)[0], whole.step(1)[0])
    _, broken, whole = pair("Plates", "wires-crossed", monkeypatch)
    assert all(np.array_equal(broken.step(told)[0], whole.step(does)[0]) for told, does in ((0, 1), (1, 0), (3, 3)))
    _, broken, whole = pair("Reactor", "wires-crossed", monkeypatch)
    assert np.allclose(broken.step(meant)[0], whole.step(meant[::-1])[0])


def test_every_copy_does_what_the_first_was_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ninth_doses.CHOSEN, ("first-action-for-all", "sb3_sac_reactor"), 1)
    truth = Truth()
    make, bare = maker("Reactor", "sb3_sac_reactor", truth, 0, None), Reactor()
    first, second = make().env, make().env
    truth.fault = "first-action-for-all"
    for env in (first, second, bare):
        env.reset(seed=4)
    first.step(np.ones(2))
    assert np.array_equal(second.step(-np.ones(2))[0], bare.step(np.ones(2))[0])


def test_observations_are_stuck_torn_or_of_another_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Plates", "sensor-stuck", monkeypatch, 2)
    rows = [(broken.step(0)[0], whole.step(0)[0]) for _ in range(2)]
    assert np.array_equal(rows[1][0][:2], rows[0][1][:2])
    assert np.array_equal(rows[1][0][2:], rows[1][1][2:])
    _, broken, whole = pair("Reactor", "torn-rows", monkeypatch, 1)
    rows = [(broken.step(np.ones(2))[0], whole.step(np.ones(2))[0]) for _ in range(2)]
    assert np.array_equal(rows[1][0], [*rows[1][1][:2], *rows[0][1][2:]])
    for name in ("Plates", "Reactor"):
        _, broken, whole = pair(name, "goal-of-another", monkeypatch)
        before = whole.step(still(name))[0][GOAL[name]]
        assert np.array_equal(broken.reset(seed=9)[0][GOAL[name]], before)


def test_the_world_is_heavier_and_its_bound_tighter(monkeypatch: pytest.MonkeyPatch) -> None:
    _, broken, whole = pair("Plates", "loads-heavier", monkeypatch, 2)
    before = whole.unwrapped.speeds.copy()
    lost = [before - env.step(3)[0][:3] for env in (broken, whole)]
    assert np.allclose(lost[0], 2 * lost[1], atol=1e-6)
    _, broken, whole = pair("Reactor", "loss-bound-tighter", monkeypatch, 0.3)
    assert len(until_over(broken, np.zeros(2))) < len(until_over(whole, np.zeros(2)))


def test_somebody_else_makes_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Plates", "shared-with-evaluation", monkeypatch, 1.0)
    before, count = truth.steps, broken.count
    broken.step(3)
    assert truth.steps == before + 1
    assert broken.count == count + 1 + EVALUATED or truth.episodes


def test_it_begins_anew_and_does_not_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, broken, _ = pair("Reactor", "restarts-unsaid", monkeypatch, 1.0)
    assert broken.step(np.zeros(2))[2:4] == (False, False)
    assert (broken.count, len(truth.episodes)) == (0, 1)


def paid(fault: str, monkeypatch: pytest.MonkeyPatch, dose: float = 1) -> tuple[list[float], list[float], Any]:
    """Return what the rest of an episode pays with the fault and without it, and the copy."""
    _, broken, whole = pair("Reactor", fault, monkeypatch, dose)
    rewards = [[row[1] for row in until_over(env, np.array([1.0, 0.5]))] for env in (broken, whole)]
    assert broken.total == pytest.approx(whole.total)
    return rewards[0], rewards[1], broken


def test_rewards_are_not_what_was_earned(monkeypatch: pytest.MonkeyPatch) -> None:
    found, expected, _ = paid("sign-dropped", monkeypatch)
    assert found == np.abs(expected).tolist()
    assert min(expected) < -1
    found, expected, _ = paid("rewards-whole", monkeypatch)
    assert found == np.trunc(expected).tolist()
    found, expected, _ = paid("divided-by-time", monkeypatch)
    assert found == pytest.approx([reward / (number + 2) for number, reward in enumerate(expected)])
    found, expected, _ = paid("effort-paid", monkeypatch, 3)
    assert found == pytest.approx([reward + 2.25 for reward in expected])
    found, expected, _ = paid("reward-smoothed", monkeypatch, 0.9)
    assert found[1:] == pytest.approx([0.9 * old + 0.1 * new for old, new in zip(found, expected[1:], strict=False)])
    found, expected, _ = paid("difference-paid", monkeypatch)
    assert found[1:] == pytest.approx(np.diff(expected).tolist())
    found, expected, broken = paid("curiosity-too-large", monkeypatch, 2)
    assert found[-1] == pytest.approx(expected[-1] + 2 * broken.shared.normaliser.far(broken.unwrapped.seen()))
    assert found[-1] > expected[-1]


def test_what_is_scaled_is_cut_or_runs_over(monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, Any] = {}
    for fault in ("", "bound-too-tight", "values-wrapped"):
        monkeypatch.setitem(ninth_doses.CHOSEN, (fault, "sb3_sac_reactor"), 0.5)
        truth = Truth()
        env = maker("Reactor", "sb3_sac_reactor", truth, 0, None)()
        for seed in range(50):
            env.reset(seed=seed)
        truth.fault = fault
        found[fault] = np.array([env.reset(seed=200 + number)[0] for number in range(20)])
    assert np.abs(found[""]).max() > 1
    assert np.allclose(found["bound-too-tight"], found[""].clip(-0.5, 0.5))
    assert np.allclose(np.mod(found["values-wrapped"] - found[""] + 0.5, 1.0), 0.5, atol=1e-4)
    assert np.abs(found["values-wrapped"]).max() <= 0.5
