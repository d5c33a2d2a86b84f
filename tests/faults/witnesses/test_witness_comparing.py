"""Two logs are the same where every row of every key is, but for seconds and the names that a user gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.faults.witnesses.comparing import Log, compare, earned, renamed
from benchmarks.faults.witnesses.witness import Witness

STEPS = [10, 20, 30]
LOG = Log(
    {"reward": (STEPS, [0.1, 0.2, "nan"]), "time/step": (STEPS, [1.0, 1.1, 0.9])},
    {"policy/loss": (STEPS, [3, 2, 1])},
    {"learning_rate": 0.001},
)


def with_own(**keys):
    return replace(LOG, own={**LOG.own, **keys})


def test_a_log_is_the_same_as_itself_whatever_the_seconds():
    found = compare(with_own(**{"time/step": (STEPS, [9.0, 9.0, 9.0])}), LOG)
    assert found.equal
    assert (found.rows, found.own_keys, found.monitor_keys, found.clocked) == (3, 1, 1, 1)
    assert found.as_dict()["equal"]


@pytest.mark.parametrize(
    ("other", "where"),
    [
        (with_own(reward=(STEPS, [0.1, 0.2000001, "nan"])), "own:reward at row 1"),
        (with_own(reward=([10, 20, 31], [0.1, 0.2, "nan"])), "own:reward at row 2"),
        (with_own(reward=(STEPS[:2], [0.1, 0.2])), "own:reward at row 2"),
        (with_own(more=(STEPS, [1, 1, 1])), "own:more"),
        (replace(LOG, monitor={"policy/loss": (STEPS, [3, 2, 2])}), "monitor:policy/loss at row 2"),
    ],
    ids=["the last digit", "another step", "a row less", "a key more", "what the monitor measured"],
)
def test_what_differs_is_named_with_its_row(other, where):
    found = compare(other, LOG)
    assert not found.equal
    assert found.different == (where,)


def test_a_stretch_is_compared_as_far_as_it_goes():
    short = Log({"reward": (STEPS[:2], [0.1, 0.2])}, {"policy/loss": (STEPS[:1], [3])}, {}, whole=False)
    assert compare(short, LOG).equal
    assert not compare(replace(short, own={"reward": (STEPS[:2], [0.1, 0.3])}), LOG).equal
    assert not compare(replace(short, own={}), LOG).equal  # nothing was compared


def test_a_monitor_that_measures_more_by_now_is_told_and_no_difference():
    more = replace(LOG, monitor={**LOG.monitor, "policy/new": (STEPS, [1, 2, 3])})
    found = compare(more, LOG)
    assert found.equal
    assert found.unmatched == ("policy/new",)


def test_settings_that_differ_are_told():
    assert compare(replace(LOG, settings={"learning_rate": 0.1}), LOG).settings == ("learning_rate",)


def test_the_users_own_names_are_put_aside_by_what_the_witness_says_of_them():
    witness = Witness("f", "s", "t", "", lambda task, seed, recording: None, {"rewards/mine/": "rewards/theirs/"})
    assert list(renamed(witness, {"rewards/mine/mean": (STEPS, [1, 2, 3])})) == ["rewards/theirs/mean"]


def test_what_is_earned_is_taken_from_the_first_and_the_last_fifth():
    rising = Log({"reward": (list(range(10)), list(range(10)))}, {}, {})
    assert earned(rising) == (0.5, 8.5)
    assert earned(replace(rising, own={})) is None
