"""Every fault of the environment in the fifth live list does what fifth.toml says, begins with nothing, and grows."""

from __future__ import annotations

import math
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fifth_reference
import fifth_sb3_plants
from drawn_list import EARLIEST, LATEST
from fifth import FIFTH
from fifth_doses import FIRST, LAST, RAMP, between, doses, earlier
from fifth_tasks import STAY, Escort, Follow, made
from fifth_worlds import BLUR, BUSY_S, FAULTS, LATE, STAY_PAID, maker
from worlds import Truth

LIVE = Path(__file__).resolve().parents[4] / "benchmarks" / "live"
TOTAL = 1000
FULL = int(RAMP * TOTAL)
LANGUAGE = {
    "prompts-garbled", "sampler-warms", "rate-warms", "sampler-behind", "weights-cut", "verifier-errs", "judge-favours",
}  # fmt: skip


def pair(name: str, fault: str, dose: float) -> tuple[Truth, Any, Any]:
    """Return one copy in which `fault` has grown to `dose`, and one that is as it was, alike otherwise."""
    truth = Truth()
    broken, whole = maker(name, truth, TOTAL, 0, None)(), maker(name, Truth(), TOTAL, 0, None)()
    for env in (broken, whole):
        env.reset(seed=0)
        for _ in range(5):
            env.step(env.action_space.sample() * 0)
    truth.fault, truth.began = fault, truth.steps - dose * FULL
    return truth, broken, whole


def test_the_fifth_list_has_a_place_for_every_fault() -> None:
    known = FIFTH.faults()
    assert 20 <= len(known) <= 24
    assert len({fault["link"] for fault in known.values()}) == 8, "no fault of an evaluation can end in collapse"
    for fault in known.values():
        for subject in fault["subjects"]:
            plants = {"sb3": fifth_sb3_plants.PLANTS, "grpo": LANGUAGE}.get(
                subject.split("_")[0], fifth_reference.PLANTS
            )
            assert fault["id"] in FAULTS or fault["id"] in plants, (fault["id"], subject)
    twins = [order for order in FIFTH.orders() if not order[1]]
    assert len(twins) >= 30
    assert len({subject for subject, _, _ in twins}) == 8


def test_none_of_the_fifth_list_is_in_the_lists_before() -> None:
    names = ("faults", "unseen", "third", "fourth")
    before = [f for name in names for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(FIFTH.faults())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in FIFTH.orders()}


def test_a_dose_grows_from_nothing_to_all_and_stays() -> None:
    truth = Truth()
    dose = doses(truth, TOTAL)
    truth.steps = 400
    assert dose() == 0.0
    truth.began = 400.0
    found: list[float] = []
    for truth.steps in (399, 400, 400 + FULL // 3, 400 + FULL, 900):
        found.append(dose())
    assert found == [0.0, 0.0, pytest.approx(1 / 3), 1.0, 1.0]
    assert (between(0.01, 1.0, 0.0), between(0.01, 1.0, 0.5), between(0.01, 1.0, 1.0)) == (0.01, 0.1, 1.0)


def test_a_drawn_instant_is_earlier_than_elsewhere() -> None:
    assert (earlier(EARLIEST), earlier(LATEST)) == (FIRST, pytest.approx(LAST))
    assert earlier((EARLIEST + LATEST) / 2) == pytest.approx((FIRST + LAST) / 2)


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_a_fault_begins_with_nothing(fault: str) -> None:
    name = "Escort" if fault == "actuator-tires" else "Follow"
    _, broken, whole = pair(name, fault, 0.0)
    action = np.full(2, 0.5) if name == "Escort" else 4
    found, right = broken.step(action), whole.step(action)
    assert np.array_equal(found[0], right[0])
    assert found[1:4] == right[1:4]


def test_entries_become_their_neighbours() -> None:
    for dose in (0.4, 1.0):
        _, broken, whole = pair("Follow", "channels-bleed", dose)
        found, right = broken.step(4)[0], whole.step(4)[0]
        assert np.allclose(found, (1 - dose) * right + dose * right[[3, 0, 1, 2]], atol=1e-6)


def test_noise_grows_to_six_times_what_was_seen() -> None:
    truth, broken, _ = pair("Follow", "sensor-blurs", 1.0)
    seen = np.array(broken.memory)
    gone: list[Any] = []
    for _ in range(400):
        obs, *_, over, _ = broken.step(STAY)
        gone.append(obs - broken.env.seen())
        if over:
            broken.reset()
    spread = BLUR * seen.std(axis=0)
    assert np.allclose(np.std(gone, axis=0), spread, rtol=0.15)
    truth.began = truth.steps - 0.1 * FULL
    obs = broken.step(STAY)[0]
    assert np.all(np.abs(obs - broken.env.seen()) <= 0.1 * 4.5 * spread + 1e-6)


def test_the_action_tires() -> None:
    for dose in (0.25, 1.0):
        _, broken, whole = pair("Escort", "actuator-tires", dose)
        found, right = broken.step(np.full(2, 0.8))[0], whole.step(np.full(2, 0.8 * (1 - dose)))[0]
        assert np.allclose(found, right, atol=1e-6)


@pytest.mark.parametrize("fault", ["actions-later", "machine-behind"])
def test_actions_come_later(fault: str) -> None:
    truth, broken, _ = pair("Follow", fault, 0.0)
    carried_out: list[int] = []
    usual = broken.env.step

    def spied(action: Any) -> Any:
        carried_out.append(action)
        return usual(action)

    broken.env.step = spied
    actions = [4, 0, 1, 4, 3, 0, 4, 4, 1, 3, 0, 2]
    for late in (0, LATE // 2, LATE):
        carried_out.clear()
        for action in actions:
            truth.began = truth.steps - late / LATE * FULL
            broken.step(action)
        assert carried_out[late:] == actions[: len(actions) - late]


def test_a_machine_that_is_behind_takes_longer() -> None:
    def cost_s(dose: float) -> float:
        _, broken, _ = pair("Escort", "machine-behind", dose)
        start = time.process_time()
        for _ in range(10):
            broken.step(np.zeros(2))
        return time.process_time() - start

    assert cost_s(1.0) >= 10 * BUSY_S
    assert cost_s(0.0) < cost_s(1.0)


def test_staying_is_paid_and_the_truth_is_not() -> None:
    for dose in (0.5, 1.0):
        truth, broken, whole = pair("Follow", "stay-paid-more", dose)
        truth.fault, before = "stay-paid-more", whole.total
        stayed, right = broken.step(STAY)[1], whole.step(STAY)[1]
        assert stayed == pytest.approx(right + STAY_PAID * dose)
        assert broken.total == pytest.approx(before + right)
        truth.began = truth.steps - dose * FULL
        assert broken.step(4)[1] == whole.step(4)[1]


def test_the_weight_of_the_reward_goes_past_nothing() -> None:
    for dose, weight in ((0.25, 0.5), (0.5, 0.0), (1.0, -1.0)):
        _, broken, whole = pair("Escort", "weight-turns", dose)
        found, right = broken.step(np.ones(2))[1], whole.step(np.ones(2))[1]
        assert found == pytest.approx(weight * right)
        assert broken.total == whole.total


def test_who_stays_below_earns_all() -> None:
    env = made("Follow")
    env.reset(seed=0)
    assert isinstance(env, Follow)
    total = 0.0
    for _ in range(30):
        env.at, env.speed = env.goal + env.pace, 0.0
        _, reward, terminated, truncated, _ = env.step(STAY)
        total += reward
        assert not terminated
    assert truncated
    assert 20 < total < 30, "what turns round costs even who knows where it goes"
    env.at = env.goal + 1.0
    assert env.step(STAY)[1] == 0.0


def test_who_stays_beside_pays_for_the_push_alone() -> None:
    env = made("Escort")
    env.reset(seed=0)
    assert isinstance(env, Escort)
    assert np.linalg.norm(env.goal()) == pytest.approx(0.6)
    heading = 5 * (env.goal(1.0) - env.goal())
    assert np.allclose(env.seen()[4:], heading, atol=1e-6)
    env.speed = np.zeros(2)
    env.place = env.goal(1.0)
    assert env.step(np.zeros(2))[1] == pytest.approx(0.0)
    env.speed, env.place = -0.12 * np.array([0.6, -0.8]) / 0.7, env.goal(1.0)
    assert env.step(np.array([0.6, -0.8]))[1] == pytest.approx(-0.02)
    assert math.isclose(abs(env.turn), 0.2)
