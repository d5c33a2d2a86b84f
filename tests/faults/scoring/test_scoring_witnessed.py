"""Runs that a sound run looks like: left out by kind, hit or not, and only where logs were found to be the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults.catalogue import faults
from benchmarks.faults.scoring import undecided, witness_page, witnessed
from benchmarks.faults.scoring.answer import Alarm, Answer
from benchmarks.faults.scoring.assessing import FIRSTBREAK, UNNAMED, Assessed
from benchmarks.faults.scoring.catalogue import Fault
from benchmarks.faults.scoring.page import cell, table

SEEN = Answer("broken", (Alarm("a", ("environment_data",), 7.0),), ("environment_data",))


def run(seed: int = 0, answer: Answer = SEEN, subject: str = "ppo", task: str = "Reach") -> Assessed:
    fault = Fault("action-scale-dropped", "environment_data")
    return Assessed(
        id=f"{subject}/{task}/{fault.id}/{seed}", subject=subject, framework="", algorithm="PPO", task=task,
        kind="fault", seed=seed, half="held", fault=fault, start=0.0, mid_run=False, end=10.0, cadence=1.0,
        answers={FIRSTBREAK: answer},
    )  # fmt: skip


def test_a_run_is_left_out_by_its_kind_whether_it_was_hit_or_not():
    assert witnessed.has_witness(run())
    assert witnessed.has_witness(run(answer=Answer("healthy")))
    rows = witnessed.score_rows([run(0), run(1, Answer("healthy")), run(subject="mmrkhs")])
    title, everything, rest, _ = rows[0]
    assert (title, everything.n, rest.n) == ("an alarm at a right link", 3, 1)


@pytest.mark.parametrize(
    "other",
    [
        replace(run(), mid_run=True, start=5.0),
        run(task="Elsewhere"),
        replace(run(), fault=Fault("reward-nan", "reward_signal")),
        replace(run(), fault=None),
        replace(run(), answers={FIRSTBREAK: SEEN, UNNAMED: SEEN}),
    ],
    ids=["from mid-run on", "another task", "another fault", "no fault", "its name is that of a standard task"],
)
def test_what_has_no_witness_stays(other: Assessed):
    assert not witnessed.has_witness(other)


def test_what_might_have_a_witness_is_told_apart():
    constant = replace(run(), fault=Fault("reward-constant", "reward_signal"))
    clipped = replace(run(), fault=Fault("clip-wide", "policy_update"))
    assert witnessed.may_have_one(constant)
    assert not witnessed.may_have_one(clipped)
    assert witnessed.left_out([run(), constant, clipped])[:2] == (1, 1)


def test_one_pair_of_logs_that_differ_takes_the_kind_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    rows = json.loads(witnessed.WITNESSES.read_text("utf-8"))
    for row in rows:
        row["planted"]["equal"] &= row["id"] != run(3).id
    page = tmp_path / "witnesses.json"
    page.write_text(json.dumps(rows), "utf-8")
    monkeypatch.setattr(witnessed, "WITNESSES", page)
    for one in (witnessed.rows, witnessed.kinds):
        one.cache_clear()
    try:
        assert not witnessed.has_witness(run())
    finally:
        for one in (witnessed.rows, witnessed.kinds):
            one.cache_clear()


def test_the_section_says_what_was_compared_and_what_is_left_out():
    midway = replace(run(5), mid_run=True, start=5.0)
    text = witness_page.section([run(0), run(1, Answer("healthy", open=("environment_data",))), midway], table, cell)
    assert "| action-scale-dropped, ppo Reach | 2 | 1 | The motor is that weak" in text
    assert "Those are 2 runs." in text
    assert "Of the 1 missed runs 1 have a report that says" in text


def test_a_report_that_says_nothing_is_named():
    silent = run(4, Answer("undecided"))
    assert not undecided.told_what_settles(silent)
    assert f"Not so: `{silent.id}`" in witness_page.settles([silent])
    assert undecided.told_what_settles(run(4, Answer("broken", links=("critic",), rivals=("environment_data",))))


def test_each_kind_is_a_fault_that_exists_and_each_row_says_what_is_meant():
    assert {fault for fault, _, _ in witnessed.kinds()} <= set(faults())
    assert all(row["meant"].endswith(".") and row["planted"]["rows"] > 0 for row in witnessed.rows())


def test_a_witness_unlike_a_recording_stands_beside_a_faulty_run_that_is_unlike_it_too():
    for row in witnessed.rows():
        assert row["recorded"]["equal"] or not row["faulty_as_recorded"], row["id"]
