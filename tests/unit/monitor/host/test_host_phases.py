"""Phase timers on a clock of our own."""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.host import Phases
from firstbreak.vocabulary import metrics


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time

    def run(self, seconds: float) -> None:
        self.time += seconds


def made() -> tuple[Phases, Clock]:
    clock = Clock()
    return Phases(clock), clock


def test_seconds_and_shares_under_their_canonical_names() -> None:
    phases, clock = made()
    for name, seconds in (("rollout", 6.0), ("reward", 1.0), ("update", 2.0), ("sync", 0.5)):
        with phases(name):
            clock.run(seconds)
    clock.run(0.5)
    found = phases.numbers()
    assert found == {
        "time/step": 10.0,
        "time/rollout_s": 6.0,
        "time/rollout_frac": 0.6,
        "time/reward": 1.0,
        "time/reward_frac": 0.1,
        "time/update_s": 2.0,
        "time/update_frac": 0.2,
        "time/sync": 0.5,
        "time/sync_frac": 0.05,
        "time/other_s": 0.5,
        "time/other_frac": 0.05,
    }
    assert {"time/step", "time/rollout_s", "time/reward", "time/update_s", "time/sync"} <= set(metrics())


def test_waiting_on_a_queue_is_idle_time() -> None:
    phases, clock = made()
    with phases("rollout"):
        clock.run(1)
        with phases("wait"):
            clock.run(3)
    found = phases.numbers()
    assert (found["async/wait_time"], found["async/idle_fraction"], found["time/rollout_s"]) == (3, 0.75, 1)
    assert {"async/wait_time", "async/idle_fraction"} <= set(metrics())


def test_an_exception_ends_the_phase_and_passes() -> None:
    phases, clock = made()

    def fail() -> None:
        with phases("update"), phases("reward"):
            clock.run(2)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    clock.run(1)
    found = phases.numbers()
    assert (found["time/reward"], found["time/update_s"], found["time/other_s"]) == (2, 0, 1)


def test_an_open_phase_is_split_at_the_collection() -> None:
    phases, clock = made()
    with phases("update"):
        clock.run(2)
        assert phases.numbers()["time/update_s"] == 2
        clock.run(3)
    assert phases.numbers()["time/update_s"] == 3
    clock.run(1)
    assert phases.numbers() == {"time/step": 1, "time/other_s": 1, "time/other_frac": 1}


def test_a_name_of_ones_own_and_other_by_name() -> None:
    phases, clock = made()
    with phases("pre fill/kv"):
        clock.run(1)
    with phases("other"):
        clock.run(1)
    clock.run(2)
    found = phases.numbers()
    assert (found["time/pre_fill_kv_s"], found["time/other_s"]) == (1, 3)


def test_no_time_at_all_and_a_clock_that_jumps_back() -> None:
    phases, clock = made()
    assert phases.numbers() == {"time/step": 0.0, "time/other_s": 0.0}
    with phases("update"):
        clock.run(-50)
    assert all(value >= 0 for value in phases.numbers().values())
    with phases("update"):
        clock.run(1)
    assert phases.numbers()["time/update_s"] == 1


def test_threads_do_not_end_each_others_phases() -> None:
    phases, clock = made()
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with phases("rollout"):
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=work)
    thread.start()
    assert inside.wait(20)
    with phases("update"):
        clock.run(4)
    found = phases.numbers()
    clock.run(1)
    leave.set()
    thread.join(20)
    later = phases.numbers()
    assert (found["time/update_s"], found.get("time/rollout_s")) == (4, None)
    assert later["time/rollout_s"] == 1


steps = st.recursive(
    st.floats(0, 10).map(lambda s: ("run", s)),
    lambda inner: st.tuples(st.sampled_from(["rollout", "update", "wait", "x"]), st.lists(inner, max_size=4)),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@given(st.lists(steps, max_size=6))
def test_however_they_nest_the_shares_add_up_to_one(plan: list[tuple[str, object]]) -> None:
    phases, clock = made()
    slow: dict[str, float] = {}

    def play(step: tuple[str, object], inside: str) -> None:
        name, rest = step
        if isinstance(rest, float):
            slow[inside] = slow.get(inside, 0.0) + rest
            clock.run(rest)
            return
        assert isinstance(rest, list)
        with phases(name):
            for inner in rest:
                play(inner, name)

    for step in plan:
        play(step, "other")
    found = phases.numbers()
    keys = {"rollout": "time/rollout_s", "update": "time/update_s", "wait": "async/wait_time", "x": "time/x_s"}
    for name, seconds in slow.items():
        assert found[keys.get(name, "time/other_s")] == pytest.approx(seconds, abs=1e-9)
    shares = [v for n, v in found.items() if n.endswith("_frac") or n == "async/idle_fraction"]
    assert not shares or math.isclose(sum(shares), 1, abs_tol=1e-9)
