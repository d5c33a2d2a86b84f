"""Every fault of the environment in the fourth live list does what fourth.toml says, and nothing before it is on."""

from __future__ import annotations

import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fourth_hand
import fourth_reference
import fourth_sb3_plants
from drawn_list import EARLIEST, LATEST, instant
from fourth import FOURTH
from fourth_tasks import CRASH, PASSED, STAY, Crane, Lanes, Stock, made
from fourth_worlds import FAULTS, FINE, PAUSE_EVERY, PAUSE_S, maker
from worlds import Truth

LIVE = Path(__file__).resolve().parents[4] / "benchmarks" / "live"


def copies(name: str, count: int = 1) -> tuple[Truth, list[Any], list[Any]]:
    """Copies that a fault can be switched on in, and as many that stay as they are, alike otherwise."""
    truth = Truth()
    make, plain = maker(name, truth, 1000, None), maker(name, Truth(), 1000, None)
    broken, whole = [make() for _ in range(count)], [plain() for _ in range(count)]
    for i in range(count):
        broken[i].reset(seed=i)
        whole[i].reset(seed=i)
    return truth, broken, whole


def test_the_fourth_list_has_a_place_for_every_fault() -> None:
    known = FOURTH.faults()
    assert 16 <= len(known) <= 20
    assert len({fault["link"] for fault in known.values()}) == 9
    for fault in known.values():
        for subject in fault["subjects"]:
            plants = {"sb3": fourth_sb3_plants, "hand": fourth_hand}.get(subject.split("_")[0], fourth_reference)
            assert fault["id"] in FAULTS or fault["id"] in plants.PLANTS, (fault["id"], subject)
            assert EARLIEST <= instant(subject, fault["id"], 0) < LATEST
    twins = [order for order in FOURTH.orders() if not order[1]]
    assert len(twins) >= 24
    assert {subject for subject, _, _ in twins} == {s for fault in known.values() for s in fault["subjects"]}


def test_none_of_the_fourth_list_is_in_the_lists_before() -> None:
    names = ("faults", "unseen", "third")
    before = [f for name in names for f in tomllib.loads((LIVE / f"{name}.toml").read_text())["fault"]]
    assert not {f["id"] for f in before} & set(FOURTH.faults())
    assert not {s for f in before for s in f["subjects"]} & {s for s, _, _ in FOURTH.orders()}


@pytest.mark.parametrize("name", ["Lanes", "Stock", "Crane"])
def test_nothing_is_broken_before(name: str) -> None:
    truth, broken, whole = copies(name, 2)
    for number in (0, 1, 0, 1, 0):
        action = np.full(1, 0.5) if name == "Crane" else STAY
        found, right = broken[number].step(action), whole[number].step(action)
        assert np.array_equal(found[0], right[0])
        assert found[1:4] == right[1:4]
    assert truth.steps == 5


def test_nothing_is_carried_out() -> None:
    truth, (crane,), (whole,) = copies("Crane")
    truth.fault = "actuator-dead"
    for _ in range(5):
        found, right = crane.step(np.ones(1))[0], whole.step(np.zeros(1))[0]
        assert np.array_equal(found, right)
    truth, (lanes,), (whole,) = copies("Lanes")
    truth.fault = "actuator-dead"
    assert np.array_equal(lanes.step(0)[0], whole.step(STAY)[0])


def test_every_copy_shows_what_the_first_does_and_is_paid_its_own() -> None:
    truth, broken, whole = copies("Stock", 3)
    truth.fault = "copies-alike"
    for _ in range(5):
        found = [env.step(number) for number, env in enumerate(broken)]
        right = [env.step(number) for number, env in enumerate(whole)]
        assert all(np.array_equal(one[0], right[0][0]) for one in found)
        assert [one[1] for one in found] == [one[1] for one in right]
        assert not np.array_equal(right[0][0], right[1][0])


def test_each_step_is_fined_and_the_truth_is_not() -> None:
    truth, (lanes,), _ = copies("Lanes")
    truth.fault = "step-fined"
    over = False
    paid: list[float] = []
    while not over:
        _, reward, terminated, truncated, _ = lanes.step(STAY)
        paid.append(reward)
        over = terminated or truncated
    assert truth.episodes == [(len(paid), pytest.approx(sum(paid) + FINE * len(paid)))]
    assert PASSED - FINE < 0


def test_each_copy_is_paid_what_the_one_before_earned() -> None:
    truth, broken, whole = copies("Stock", 3)
    paid: list[float] = []
    earned: list[float] = []
    for turn in range(6):
        if turn == 1:
            truth.fault = "reward-of-neighbour"
        paid += [env.step(number)[1] for number, env in enumerate(broken)]
        earned += [env.step(number)[1] for number, env in enumerate(whole)]
    assert paid[:3] == earned[:3]
    assert paid[3:] == earned[2:-1]


def test_one_step_in_many_pauses() -> None:
    truth, (stock,), _ = copies("Stock")
    truth.fault, truth.steps = "pauses", PAUSE_EVERY - 1

    def cost_s() -> float:
        start = time.process_time()
        stock.step(0)
        return time.process_time() - start

    assert [cost_s() > 0.9 * PAUSE_S for _ in range(3)] == [False, True, False]


def test_one_lane_is_always_free_and_what_is_seen_is_what_stands_there() -> None:
    env = Lanes()
    env.reset(seed=0)
    for _ in range(200):
        before = env.free
        row = env.row()
        assert not row[env.free]
        assert abs(env.free - before) <= 1

    env.lane = 1
    env.rows = [np.array([1, 0, 1, 0, 1], bool), np.zeros(5, bool), np.ones(5, bool)]
    assert env.seen().tolist() == [0.25, *(1, 1, 0, 1, 0), *(1, 0, 0, 0, 0), *(1, 1, 1, 1, 1)]
    _, reward, over, *_ = env.step(STAY)
    assert (reward, over) == (PASSED, False)
    _, reward, over, *_ = env.step(0)
    assert (env.lane, reward, over) == (0, PASSED, False)
    _, reward, over, *_ = env.step(0)
    assert (env.lane, reward, over) == (0, CRASH, True)


def test_what_is_ordered_comes_a_step_later_and_what_is_sold_pays() -> None:
    sales: list[int] = []
    for seed in range(10):
        env = Stock()
        env.reset(seed=seed)
        env.stock = 0
        env.step(5)
        assert (env.stock, env.coming) == (0, 10)
        _, reward, *_ = env.step(0)
        sold = 10 - env.stock
        sales.append(sold)
        assert reward == pytest.approx(0.2 * (sold - 0.15 * env.stock - 0.5 * max(0, asked(seed, 1) - 10)))
    assert max(sales) > 3


def asked(seed: int, step: int) -> int:
    """What is asked for in step `step` of a `Stock` with this seed."""
    env = Stock()
    env.reset(seed=seed)
    for _ in range(step + 1):
        env.stock, env.coming = 20, 0
        env.step(0)
    return 20 - env.stock


def test_a_load_at_rest_over_the_goal_costs_nothing() -> None:
    env = made("Crane")
    env.reset(seed=0)
    assert isinstance(env, Crane)
    env.at = env.goal
    assert [env.step(np.zeros(1))[1] for _ in range(5)] == [0.0] * 5
    env.step(np.ones(1))
    assert env.at > env.goal
    assert env.angle < 0, "the load stays behind"
