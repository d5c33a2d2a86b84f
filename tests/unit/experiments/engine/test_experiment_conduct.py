"""From trials to a verdict, on an experiment whose answer is known; in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from firstbreak.errors import InputError
from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.conduct import Progress
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import Outcome, Result, Why, agrees, read, read_all
from firstbreak.experiments.running.executor import Job, Order
from firstbreak.experiments.running.here import Here
from firstbreak.experiments.trial import Ended

from .toy_experiments import HERE

TOY = find_experiment(f"{HERE}:toy")
TOGETHER = find_experiment(f"{HERE}:toy_together")


def go(given: dict[str, Any], one: Any = TOY, **settings: Any) -> Result:
    more = {k: settings.pop(k) for k in ("seconds", "folder", "tell") if k in settings}
    return run_experiment(one, Subject(given={"changed": 0.0, **given}), Protocol(**settings), executor=Here(), **more)


@pytest.mark.parametrize("one", [TOY, TOGETHER], ids=lambda e: e.name)
def test_a_clear_effect_is_confirmed_after_the_pilot(one: Any) -> None:
    result = go({"changed": 20.0}, one)
    assert (result.outcome, result.why) == (Outcome.CONFIRMED, Why.DECIDED)
    assert len(result.pairs) == one.pilot
    assert result.last is not None
    assert result.last.lo > (result.margin or 0)
    assert "As predicted" in result.words


@pytest.mark.parametrize("one", [TOY, TOGETHER], ids=lambda e: e.name)
def test_a_clear_lack_of_effect_is_refuted(one: Any) -> None:
    result = go({"changed": -20.0}, one)
    assert (result.outcome, result.why) == (Outcome.REFUTED, Why.DECIDED)
    assert result.seeds_needed is None
    assert "Against the prediction" in result.words


def test_a_missing_effect_refutes_nothing_where_the_experiment_could_not_have_seen_it() -> None:
    def blind(effects: Sequence[float], subject: Subject) -> str:
        return "" if max(effects) < -5 else "It sees nothing."

    one = replace(TOY, reading=replace(TOY.reading, sensitive=blind))
    result = go({"changed": -1.0}, one, seeds=5)
    assert (result.outcome, result.why, result.words) == (Outcome.INCONCLUSIVE, Why.NOT_SENSITIVE, "It sees nothing.")
    assert result.seeds_needed is None
    assert agrees(result)
    assert go({"changed": -20.0}, one).outcome is Outcome.REFUTED
    assert go({"changed": 20.0}, one).outcome is Outcome.CONFIRMED


def test_a_small_effect_takes_more_seeds_than_the_pilot_and_is_then_seen() -> None:
    result = go({"changed": 2.2, "sd": 2.0}, most=40)
    assert result.outcome is Outcome.CONFIRMED
    assert 5 < len(result.pairs) <= 40
    assert [k.pairs for k in result.looks] == sorted({k.pairs for k in result.looks})
    assert len({k.level for k in result.looks}) == 1
    assert result.looks[0].level < 0.05


def test_an_effect_at_the_margin_stays_open_and_says_how_many_seeds_are_missing() -> None:
    result = go({"changed": 1.1}, most=6)
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.TOO_FEW_SEEDS)
    assert len(result.pairs) == 6
    assert (result.seeds_needed or 0) > 20
    assert "stays open" in result.words


def test_the_number_of_seeds_may_be_fixed_and_is_then_looked_at_once_at_the_full_level() -> None:
    result = go({"changed": 2.0}, seeds=9)
    assert len(result.pairs) == 9
    assert [(k.pairs, k.level) for k in result.looks] == [(9, 0.05)]


def test_pairs_share_their_seed_and_follow_the_first() -> None:
    result = go({"changed": 9.0}, first_seed=40)
    assert [p.seed for p in result.pairs] == [40, 41, 42, 43, 44]


def test_a_control_without_the_symptom_ends_it_before_the_changed_arm_is_run() -> None:
    result = go({"changed": 20.0, "control": 3.0, "symptom": True})
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.NOT_REPRODUCED)
    assert "not negative" in result.words
    assert not result.pairs
    assert not result.looks
    assert result.trials == 5
    assert [c["score"] for c in result.controls] == [3.0] * 5


def test_a_trainer_that_ignores_the_seed_is_told_so() -> None:
    result = go({"changed": 20.0, "print": "always the same"})
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.SEED_IGNORED)
    assert "ignores the seed" in result.words


def test_arms_that_turn_out_to_differ_in_two_things_convict_neither() -> None:
    result = go({"changed": 20.0, "control_used": {"steps": 100}, "changed_used": {"steps": 400}})
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.TWO_DIFFERENCES)
    assert "steps" in result.words


def test_one_failure_of_many_is_left_out_and_made_good() -> None:
    result = go({"changed": 20.0, "changed_fails": [2], "how": "raise"})
    assert result.outcome is Outcome.CONFIRMED
    assert 2 not in [p.seed for p in result.pairs]
    assert [(t.seed, t.how) for t in result.troubles] == [(2, "raised")]


@pytest.mark.parametrize("arm", ["control", "changed"])
def test_an_arm_that_mostly_fails_yields_no_verdict(arm: str) -> None:
    result = go({"changed": 20.0, f"{arm}_fails": [0, 1, 3], "how": "raise"})
    assert (result.outcome, result.why) == (Outcome.INCONCLUSIVE, Why.TRIALS_FAILED)
    assert f"{arm} arm" in result.words
    assert "RuntimeError" in result.words


def test_numbers_that_are_not_finite_are_failures() -> None:
    result = go({"changed": float("nan")})
    assert result.why is Why.TRIALS_FAILED
    assert "not finite: score" in result.words


def test_a_part_that_the_subject_lacks_is_bad_input() -> None:
    with pytest.raises(InputError, match="no such part"):
        go({"control_fails": [0], "how": "refuse"})
    with pytest.raises(InputError, match="toy needs changed"):
        run_experiment(TOY, Subject(), executor=Here())


def test_no_trial_begins_after_the_time_is_over() -> None:
    result = go({"changed": 20.0}, seconds=-1.0)
    assert (result.outcome, result.why, result.trials) == (Outcome.INCONCLUSIVE, Why.OUT_OF_TIME, 0)


def test_the_margin_of_the_user_is_the_one_that_counts() -> None:
    assert go({"changed": 20.0}, margin=50.0).outcome is Outcome.REFUTED
    assert go({"changed": 20.0}, margin=50.0).margin == 50.0


def test_progress_is_told_after_each_trial() -> None:
    told: list[Progress] = []
    go({"changed": 20.0}, tell=told.append)
    assert [p.done for p in told] == list(range(1, 11))
    assert all(p.done <= p.planned for p in told)


def test_the_plan_is_on_disk_before_anything_runs_and_the_result_takes_its_place(tmp_path: Path) -> None:
    seen: list[str] = []

    class Looking(Here):
        def run(self, job: Job, orders: Any, tell: Any) -> list[Ended]:
            seen.extend(p.read_text() for p in tmp_path.glob("*.json"))
            return super().run(job, orders, tell)

    subject = Subject(given={"changed": 20.0})
    result = run_experiment(TOY, subject, executor=Looking(), folder=tmp_path)
    assert '"outcome": null' in seen[0]
    assert "The score is higher." in seen[0]
    files = list(tmp_path.glob("*"))
    assert len(files) == 1
    assert read(files[0]) == result


def test_what_is_known_at_ctrl_c_is_recorded(tmp_path: Path) -> None:
    class Interrupted(Here):
        def run(self, job: Job, orders: Any, tell: Any) -> list[Ended]:
            if any(arm == "changed" for arm, _ in orders):
                raise KeyboardInterrupt
            return super().run(job, orders, tell)

    subject = Subject(given={"changed": 9.0})
    with pytest.raises(KeyboardInterrupt, match=r"after 5 trials.*kept in .*firstbreak-experiments"):
        run_experiment(TOY, subject, executor=Interrupted(), folder=tmp_path / "firstbreak-experiments")
    with pytest.raises(KeyboardInterrupt, match="Nothing was kept"):
        run_experiment(TOY, subject, executor=Interrupted())
    (found,) = read_all(tmp_path)
    assert (found.outcome, found.why, found.trials) == (Outcome.INCONCLUSIVE, Why.INTERRUPTED, 5)


def test_orders_are_those_of_the_arms_with_the_control_first() -> None:
    asked: list[Order] = []

    class Noting(Here):
        def run(self, job: Job, orders: Any, tell: Any) -> list[Ended]:
            asked.extend(orders)
            return super().run(job, orders, tell)

    run_experiment(TOY, Subject(given={"changed": 20.0}), executor=Noting())
    assert asked == [("control", s) for s in range(5)] + [("changed", s) for s in range(5)]
