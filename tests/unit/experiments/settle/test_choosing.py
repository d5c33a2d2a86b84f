"""Which experiment is proposed first: information against a twin, and sense."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.diagnosis import RankedCause
from firstbreak.experiments.result import Outcome
from firstbreak.experiments.settle import Tie, propose, settle
from firstbreak.experiments.settle.choosing import entropy_bits, expected_bits, probabilities, verdicts
from firstbreak.experiments.settle.from_log import told_by
from firstbreak.experiments.settle.steps import next_steps
from firstbreak.experiments.settle.ties import Otherwise
from firstbreak.experiments.subject import Subject
from firstbreak.finding import Component, Link
from firstbreak.loading import load
from tests.unit.experiments.settle.story import case_of

ties = st.builds(
    Tie, st.just("e"), st.sampled_from(list(Otherwise)), st.sampled_from([Outcome.CONFIRMED, Outcome.REFUTED])
)


def causes(scores: list[float]) -> list[RankedCause]:
    return [RankedCause(f"c{i}", "", Link.CRITIC, Component.VALUE, score, ()) for i, score in enumerate(scores)]


def entropy(probabilities: list[float]) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


@given(st.lists(st.floats(0.25, 8), min_size=1, max_size=5), st.data())
def test_information_is_what_a_verdict_takes_off_the_uncertainty(scores: list[float], data: st.DataObject) -> None:
    mine = causes(scores)
    tied = {c.name: data.draw(ties) for c in mine if data.draw(st.booleans())}
    found = expected_bits(mine, tied)
    # the twin: prior entropy less the mean posterior entropy, by Bayes' rule in plain loops
    odds = [math.exp(s) for s in [*scores, 0.0]]
    prior = [o / sum(odds) for o in odds]
    assert probabilities(mine).tolist() == pytest.approx(prior)
    sides = {t.supports for t in tied.values()}
    right, wrong = verdicts(Outcome.CONFIRMED), verdicts(Outcome.REFUTED)
    either = [(a + b) / 2 for a, b in zip(right, wrong, strict=True)]
    other = either if len(sides) != 1 else wrong if Outcome.CONFIRMED in sides else right
    rows = [_row(tied[c.name], right, wrong, either) if c.name in tied else other for c in mine]
    rows.append(other)
    after = 0.0
    for v in range(3):
        joint = [p * row[v] for p, row in zip(prior, rows, strict=True)]
        after += sum(joint) * entropy([j / sum(joint) for j in joint])
    assert found == pytest.approx(entropy(prior) - after, abs=1e-9)
    assert -1e-12 <= found <= entropy_bits(mine) + 1e-9
    if not tied:
        assert found == pytest.approx(0, abs=1e-12)


def _row(tie: Tie, right: Any, wrong: Any, either: Any) -> Any:
    if tie.otherwise is Otherwise.NOTHING:
        return either
    return right if tie.supports is Outcome.CONFIRMED else wrong


def test_the_proposal_separates_the_rivals() -> None:
    diagnosis = case_of("task-too-hard")
    first = propose(diagnosis)[0]
    assert first.experiment.name == "group-size-x4"
    assert set(first.speaks_to) == {"silent-groups", "task-too-hard"}
    assert first.bits > 0.3


def test_what_is_done_is_not_proposed_again() -> None:
    diagnosis = case_of("all-truncated")
    assert "longer-cap" in [p.experiment.name for p in propose(diagnosis)]
    assert "longer-cap" not in [p.experiment.name for p in propose(diagnosis, done=["longer-cap"])]


def test_the_cheaper_of_two_equally_telling_ones_comes_first() -> None:
    found = propose(case_of("task-too-hard"))
    assert list(found) == sorted(found, key=lambda p: (-p.worth, p.experiment.name))
    assert all(p.cost_runs >= 0.1 for p in found)


def test_a_proposal_gives_the_setting_that_its_cause_asks_for() -> None:
    diagnosis = case_of("target-entropy-infeasible")
    mine = next(p for p in propose(diagnosis) if p.experiment.name == "one-setting")
    assert mine.given == {"setting": "temperature", "value": 0.2}
    assert "--with setting=temperature --with value=0.2" in next_steps(settle(diagnosis, []), Subject(), "r")[0].command
    assert mine.label not in [p.label for p in propose(diagnosis, done=[mine.label])]
    other = "one-setting setting=discount value=0.99"
    assert mine.label in [p.label for p in propose(diagnosis, done=[other])]


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ([0, 0, 0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0], 520),  # every fourth row of a hundred steps
        ([0, 0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0, 0, 0, 0], 520),  # each told in two rows
        ([0.5] * 12, None),  # all the time: a short trial sees it
        ([0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0], None),  # once: nobody knows when again
        ([1e-6] * 12, None),
    ],
)
def test_a_trial_lasts_until_what_came_now_and_then_may_come_again(
    values: list[float], steps: int | None, tmp_path: Path
) -> None:
    rows = [{"env_steps": 100 * i, "optim/outside_change_frac": float(v)} for i, v in enumerate(values, 1)]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    log = load(tmp_path)
    told = told_by("zero-learning-rate", log)
    assert told == ({} if steps is None else {"short_steps": steps})
    assert told_by("reversed-reward", log) == {}
