"""What verdicts do to the ranking of causes: raised, lowered, ruled out, untouched; and always with the reason."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.diagnosis import Diagnosis, Verdict
from firstbreak.experiments.result import Outcome, Why
from firstbreak.experiments.settle import settle
from firstbreak.experiments.settle.ties import Otherwise, tied_causes
from firstbreak.experiments.settle.weighing import weight
from firstbreak.finding import Link
from tests.unit.experiments.settle.story import case_of, result

CONFIRMED, REFUTED, OPEN = Outcome.CONFIRMED, Outcome.REFUTED, Outcome.INCONCLUSIVE


@pytest.fixture(scope="module")
def silent() -> Diagnosis:
    """Silent groups against a task too hard: both explain all that is seen."""
    return case_of("task-too-hard")


@pytest.fixture(scope="module")
def cut() -> Diagnosis:
    """Responses cut off against a stop token never learnt."""
    return case_of("all-truncated")


def scores(diagnosis: Diagnosis) -> dict[str, float]:
    return {c.name: c.score for c in diagnosis.causes}


def test_nothing_recorded_changes_nothing(silent: Diagnosis) -> None:
    settled = settle(silent, [])
    assert settled.diagnosis is silent
    assert not settled.moves
    assert not settled.convicted


def test_rivals_are_separated_by_one_verdict(silent: Diagnosis) -> None:
    assert silent.causes[0].name == "task-too-hard"  # it explains the first break
    assert "silent-groups" in silent.causes[0].rivals
    for outcome, best, gone in (
        (CONFIRMED, "silent-groups", "task-too-hard"),
        (REFUTED, "task-too-hard", "silent-groups"),
    ):
        settled = settle(silent, [result("group-size-x4", outcome)])
        assert settled.diagnosis.causes[0].name == best
        assert settled.convicted == (best,)
        assert [c.name for c in settled.removed] == [gone]
        assert not settled.diagnosis.causes[0].rivals
        assert settled.diagnosis.verdict is Verdict.BROKEN


def test_the_weight_of_a_verdict_is_that_of_its_error_and_power() -> None:
    assert math.isclose(weight(result("longer-cap")), math.log(0.8 / 0.025))


def test_a_cause_put_to_the_test_is_ruled_out_and_the_first_break_follows(cut: Diagnosis) -> None:
    assert cut.causes[0].name == "responses-cut-off"
    settled = settle(cut, [result("longer-cap", REFUTED)])
    assert "responses-cut-off" not in scores(settled.diagnosis)
    assert [c.name for c in settled.removed] == ["responses-cut-off"]
    first = settled.diagnosis.first_break
    assert first is not None
    assert settled.diagnosis.causes[0].name == "template-or-stop-token"
    assert first.link is settled.diagnosis.causes[0].link
    (move,) = [m for m in settled.moves if m.cause == "responses-cut-off"]
    assert move.reason == "longer-cap refuted: rules it out. As it was measured."


def test_inconclusive_moves_nothing_and_says_what_is_missing(cut: Diagnosis) -> None:
    settled = settle(cut, [result("longer-cap", OPEN, needed=7)])
    assert settled.diagnosis is cut
    assert settled.left == (("longer-cap", "inconclusive (too few seeds); about 7 pairs of seeds more would decide"),)
    settled = settle(cut, [result("longer-cap", OPEN, why=Why.NOT_REPRODUCED)])
    assert "control did not show the symptom" in settled.left[0][1]


def test_runs_that_contradict_each_other_count_for_nothing(cut: Diagnosis) -> None:
    settled = settle(cut, [result("longer-cap"), result("longer-cap", REFUTED), result("longer-cap", OPEN)])
    assert settled.diagnosis is cut
    assert not settled.used
    assert "contradict each other" in dict(settled.left[-1:])["longer-cap"]


def test_the_same_verdict_twice_is_one(cut: Diagnosis) -> None:
    once, twice = (settle(cut, [result("longer-cap")] * n) for n in (1, 2))
    assert scores(once.diagnosis) == scores(twice.diagnosis)


def test_an_experiment_about_something_else_is_said_to_be() -> None:
    diagnosis = case_of("timeouts-scored")
    settled = settle(diagnosis, [result("reversed-reward", REFUTED), result("no-such-experiment")])
    assert settled.diagnosis is diagnosis
    assert [name for name, _ in settled.left] == ["reversed-reward", "no-such-experiment"]


def test_a_conviction_that_the_log_did_not_bring_up_is_added() -> None:
    diagnosis = case_of("timeouts-scored")
    settled = settle(diagnosis, [result("low-precision")])
    found = {c.name: c for c in settled.diagnosis.causes}
    assert found["mixed-precision-overflow"].link is Link.NUMERICS
    assert found["mixed-precision-overflow"].score == round(math.log(32), 2)
    assert not found["mixed-precision-overflow"].explains
    assert settled.diagnosis.first_break == diagnosis.first_break, "what the log shows is what it was"


def test_a_conviction_that_several_causes_share_adds_them_as_rivals() -> None:
    settled = settle(case_of("timeouts-scored"), [result("overfit-one-batch")])
    found = {c.name: c for c in settled.diagnosis.causes}
    assert found["no-gradient"].rivals == ("frozen-policy",)
    assert found["frozen-policy"].rivals == ("no-gradient",)
    assert found["no-gradient"].score == found["frozen-policy"].score == round(math.log(32), 2)
    assert settled.notes == ("The verdict does not tell frozen-policy from no-gradient: it speaks for either.",)
    assert not settle(case_of("timeouts-scored"), [result("overfit-one-batch", REFUTED)]).moves


def test_one_way_of_showing_less_says_nothing_of_the_cause() -> None:
    """A failed update whose batch is innocent: the numbers went bad before."""
    diagnosis = case_of("nonfinite-metric")
    settled = settle(diagnosis, [result("replay-failed-batch", REFUTED)])
    assert scores(settled.diagnosis) == scores(diagnosis)
    assert "says nothing of it" in settled.moves[0].reason
    assert not settled.convicted


def test_when_all_are_ruled_out_it_says_so() -> None:
    diagnosis = case_of("smooth-decline")
    assert {c.name for c in diagnosis.causes} <= {"reward-sign", "advantage-sign"}
    settled = settle(diagnosis, [result("reversed-reward", REFUTED)])
    assert not settled.diagnosis.causes
    assert settled.notes
    assert settled.diagnosis.verdict is diagnosis.verdict, "the findings stand"


names = st.sampled_from(["longer-cap", "group-size-x4", "oracle-against-random", "reversed-reward"])


@settings(max_examples=25)
@given(st.dictionaries(names, st.sampled_from(list(Outcome)), max_size=4))
def test_order_is_nothing_and_only_tied_causes_move(verdicts: dict[str, Outcome]) -> None:
    before = _CUT
    results = [result(name, outcome) for name, outcome in verdicts.items()]
    found = [scores(settle(before, list(p)).diagnosis) for p in permutations(results)]
    assert all(f == found[0] for f in found)
    settled = settle(before, results)
    for cause in before.causes:
        mine = [r for r in results if cause.name in tied_causes(r.name) and r.outcome is not OPEN]
        after = scores(settled.diagnosis).get(cause.name)
        if not mine:
            assert after == cause.score
        elif any(tied_causes(r.name)[cause.name].otherwise is Otherwise.NOTHING for r in mine):
            assert after is not None
        elif all(r.outcome is tied_causes(r.name)[cause.name].supports for r in mine):
            assert after is not None
            assert after > cause.score
        elif len(mine) == 1:
            assert after is None or after < cause.score


_CUT = case_of("all-truncated")


def test_a_setting_speaks_to_the_cause_that_asks_for_it_and_to_no_other() -> None:
    diagnosis = case_of("target-entropy-infeasible")
    assert diagnosis.causes[0].name == "entropy-target"
    for asked, moved in (
        ({"setting": "temperature", "value": 0.2}, ["entropy-target"]),
        ({"setting": "temperature", "value": 5.0}, []),
        ({"setting": "learning_rate", "value": 0.2}, []),
    ):
        settled = settle(diagnosis, [result("one-setting", CONFIRMED, given=asked)])
        assert [m.cause for m in settled.moves] == moved
        assert bool(settled.left) is not bool(moved)
    two = [result("one-setting", verdict, given={"setting": "temperature", "value": v})
           for verdict, v in ((CONFIRMED, 0.2), (REFUTED, 0.5))]  # fmt: skip
    assert settle(diagnosis, two).convicted == ("entropy-target",), "of two settings, one does not contradict the other"
