"""Which way a metric is better: as said, by its name, or assumed and then said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.check import checks_of, look_at
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.finding import Severity
from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.reward.judges import HIGHER_IS_BETTER, LOWER_IS_BETTER, judge_of
from firstbreak.preflight.reward.sample import RewardSample
from tests.unit.preflight.reward.made_samples import judged, rng

OPPOSES = next(c for c in checks_of("reward") if c.name == "reward-opposes-reference")


@pytest.mark.parametrize(
    ("name", "flipped", "assumed"),
    [
        ("success_rate", False, False),
        ("human_score", False, False),
        ("goal_distance", True, False),
        ("tracking_error", True, False),
        ("success_error", True, False),
        ("latency_ms", True, False),
        ("makespan", False, True),
        ("goalDistance", False, True),
        ("scoreboard", False, True),
    ],
)
def test_what_a_name_says(name: str, flipped: bool, assumed: bool) -> None:
    made = judge_of(name, rng().normal(size=3), {})
    assert (made.flipped, made.assumed) == (flipped, assumed)


def test_what_is_said_beats_the_name() -> None:
    assert not judge_of("distance", rng().normal(size=3), {"distance": "higher"}).flipped
    assert judge_of("success", rng().normal(size=3), {"": "lower"}).flipped
    assert not judge_of("success", rng().normal(size=3), {"": "lower", "success": "higher"}).flipped


def test_an_assumed_direction_is_noted_and_no_error() -> None:
    seen = inspect_reward(judged(-0.9, name="makespan"))
    (found,) = [f for f in seen.findings if f.name == OPPOSES.name]
    assert found.severity is Severity.WARNING
    assert "if more makespan is better (assumed)" in found.message
    assert any("makespan=lower" in note for note in seen.notes)
    assert seen.details["judges"] == [{"name": "makespan", "better": "more", "guessed": True}]


def test_the_note_comes_without_a_finding_too() -> None:
    seen = inspect_reward(judged(0.9, name="makespan"))
    assert not [f for f in seen.findings if f.name == OPPOSES.name]
    assert any("makespan=lower" in note for note in seen.notes)


def test_a_direction_that_was_said_makes_an_error_without_a_note() -> None:
    for name, rho, way in (("makespan", -0.9, "higher"), ("makespan", 0.9, "lower"), ("distance", -0.9, "higher")):
        made = judged(rho, name=name, better={name: way})
        found = look_at(OPPOSES, made).symptom
        assert found is not None
        assert found.severity is Severity.ERROR
        assert not [note for note in inspect_reward(made).notes if "taken as better" in note]


def test_a_direction_that_was_said_clears_what_the_name_would_blame() -> None:
    assert look_at(OPPOSES, judged(0.9, name="distance", better={"distance": "higher"})).symptom is None
    assert look_at(OPPOSES, judged(-0.9, name="makespan", better={"": "lower"})).symptom is None


def test_directions_that_would_do_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is unknown"):
        judged(0.5, better={"": "up"})
    with pytest.raises(UnknownNameError, match="humann"):
        judged(0.5, better={"humann": "lower"})
    with pytest.raises(InputError, match="no metric"):
        RewardSample([1.0, 2.0], better={"": "lower"})


def test_the_direction_of_a_column_and_of_a_named_function(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    pairs = zip(rng().normal(size=200), rng().normal(size=200), strict=True)
    table.write_text("\n".join(["reward,makespan", *(f"{a},{0.9 * a + 0.1 * b}" for a, b in pairs)]), "utf-8")
    asked = {"metric": "makespan", "columns": {}}
    assert OPPOSES.name not in {f.name for f in inspect_reward(table, **asked).findings}
    said = inspect_reward(table, **asked, metric_direction={"makespan": "lower"})
    assert OPPOSES.name in {f.name for f in said.findings}


def test_no_name_is_in_both_lists_by_itself() -> None:
    words = HIGHER_IS_BETTER.pattern.split("(")[2].split(")")[0].split("|")
    assert len(words) > 20
    assert not [word for word in words if LOWER_IS_BETTER.search(word)]
