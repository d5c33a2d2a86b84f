"""Why a fault was missed: each run stands under one reason, and no reason covers what its words do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.faults import planting
from benchmarks.faults.catalogue import faults
from benchmarks.faults.scoring import undecided
from benchmarks.faults.scoring.answer import Alarm, Answer
from benchmarks.faults.scoring.assessing import FIRSTBREAK, Assessed
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.page import reasons_table, settled_table
from firstbreak.check import all_checks

HEALTHY = Answer("healthy")


def run(fault: str, answer: Answer = HEALTHY, mid_run: bool = False, link: str = "reward_signal") -> Assessed:
    return Assessed(
        id=f"dqn/CartPole-v1/{fault}/0", subject="dqn", framework="", algorithm="DQN", task="CartPole-v1", kind="fault",
        seed=0, half="held", fault=Fault(fault, link), start=5.0 if mid_run else 0.0, mid_run=mid_run, end=10.0,
        cadence=1.0, answers={FIRSTBREAK: answer},
    )  # fmt: skip


def test_every_fault_that_is_listed_exists_and_stands_under_one_reason_of_a_kind():
    listed = [(reason.whole_run, fault) for reason in undecided.reasons() for fault in reason.settled_by]
    assert len(listed) == len(set(listed))
    assert {fault for _, fault in listed} <= set(faults())


def test_another_task_is_what_is_planted_in_the_world_or_in_the_data():
    for family in planting.PLAYS:
        planting.load(family)
    listed = next(reason for reason in undecided.reasons() if reason.id == "another-task").settled_by
    outside = [fault for fault in listed if fault not in planting.WORLD]
    assert sorted(outside) == ["question-dropped", "verifier-fails"]
    assert {faults()[fault].link for fault in outside} <= {"environment_data", "reward_signal"}


def test_a_world_that_changes_in_mid_run_is_no_other_task():
    assert undecided.reason_of(run("reward-flipped")).id == "another-task"
    assert undecided.reason_of(run("reward-flipped", mid_run=True)) is undecided.OURS
    assert undecided.reason_of(run("sgd-at-adams-rate", mid_run=True)).id == "another-choice"
    assert undecided.reason_of(run("action-scale-dropped")).id == "another-task"
    assert undecided.reason_of(run("action-scale-dropped", mid_run=True)).id == "not-measured"
    assert undecided.reason_of(run("surrogate-dead")) is undecided.OURS


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer("healthy", claimed=("reward_signal",)), "healthy"),
        (Answer("healthy", claimed=("critic",)), "healthy in what was seen"),
        (Answer("broken", links=("critic",)), "broken elsewhere"),
        (Answer("broken", links=("critic",), rivals=("reward_signal",)), "broken, named beside it"),
        (Answer("undecided", links=("critic",)), "undecided"),
    ],
)
def test_what_a_missed_run_is_told(answer: Answer, said: str):
    assert undecided.said(run("reward-flipped", answer)) == said


def test_a_run_with_a_right_alarm_is_not_missed():
    seen = Answer("undecided", (Alarm("a", ("reward_signal",), 7.0),), ("reward_signal",))
    runs = [run("reward-flipped", seen), run("reward-flipped"), run("surrogate-dead", link="policy_update")]
    assert undecided.missed(runs) == runs[1:]
    assert [(reason.id, told.total()) for reason, told in undecided.by_reason(runs)] == [
        ("another-task", 1),
        ("ours", 1),
    ]
    text = reasons_table(runs)
    assert "| all | 2 |" in text
    assert "| another task from the first step | 1 |" in text


def test_what_preflight_says_is_looked_up_by_place():
    known = [key for key, names in undecided.looked().items() if names]
    fault, subject, task = known[0]
    there = replace(run(fault), subject=subject, task=task)
    elsewhere = replace(there, task="nowhere")
    assert undecided.before_run(there) == undecided.looked()[known[0]]
    assert undecided.before_run(elsewhere) is None
    assert "1 missed runs looked at so, `preflight` finds the fault of 1." in settled_table([there, elsewhere])


def test_what_was_found_before_a_run_are_checks_that_exist():
    named = {name for names in undecided.looked().values() for name in names}
    assert named <= {check.name for check in all_checks()}
