"""What a broken run may come from as well, because nobody logged what would show it."""

from __future__ import annotations

from dataclasses import replace

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.causes import find_cause
from firstbreak.config import Settings
from firstbreak.diagnosis import Diagnosis, FirstBreak, NotExcluded, Verdict
from firstbreak.exclusion import MOST, not_excluded
from firstbreak.finding import Component, Link, Onset
from firstbreak.report.text import render
from firstbreak.roots import outerness
from firstbreak.series import WHOLE_RUN

EXPLODES = {"optim/grad_norm": synth.jump(0.6, 200.0, at=0.6)}
SEEN = {
    "env/dynamics_surprise": synth.clipped(synth.flat(0.9, 0.3), 0, 99),
    "env/action_response": synth.flat(0.9, 0.01),
    "env/action_gain": synth.flat(1.0),
    "obs/shift": synth.flat(0.1, 0.01),
    "obs/scale_growth": synth.flat(1.0, 0.01),
    "obs/constant_frac": synth.constant(0.0),
    "obs/stuck_frac": synth.constant(0.0),
    "obs/nonfinite_frac": synth.constant(0.0),
    "env/dynamics_bias": synth.clipped(synth.flat(0.3, 0.1), 0, 99),
    "env/held_frac": synth.constant(0.0),
    "env/contradicted_frac": synth.constant(0.0),
}


def left_open(diagnosis: Diagnosis) -> dict[str, NotExcluded]:
    return {one.cause: one for one in diagnosis.causes[0].not_excluded}


def say(changes: dict[str, synth.Shape]) -> Diagnosis:
    return diagnose_log(synth.like("PPO")(changes), Settings())


def test_a_symptom_is_laid_to_nothing_that_could_not_be_told_from_another_cause() -> None:
    diagnosis = say(EXPLODES)
    assert diagnosis.verdict is Verdict.BROKEN
    assert diagnosis.causes[0].link is Link.NUMERICS
    changed = left_open(diagnosis)["environment-changed"]
    assert changed.link is Link.ENVIRONMENT_DATA
    assert "env/dynamics_surprise" in changed.log
    assert "not excluded: log " in " ".join(render([diagnosis]).split())
    assert all(not cause.not_excluded for cause in diagnosis.causes[1:])
    assert len(diagnosis.causes[0].not_excluded) <= MOST


def test_what_was_looked_for_and_not_found_is_excluded() -> None:
    assert "environment-changed" not in left_open(say(EXPLODES | SEEN))


def test_a_break_that_speaks_for_one_cause_alone_leaves_nothing_open() -> None:
    diagnosis = say({"optim/outside_change_frac": synth.spikes(0.0, 0.6, at=(0.6,))})
    assert diagnosis.verdict is Verdict.BROKEN
    assert diagnosis.causes[0].not_excluded == ()


def test_nothing_is_said_of_a_run_that_is_not_broken() -> None:
    diagnosis = say({"optim/grad_norm": synth.jump(0.6, 15.0, at=0.6)})
    assert diagnosis.verdict is not Verdict.BROKEN
    assert all(not cause.not_excluded for cause in diagnosis.causes)


def test_what_speaks_for_one_cause_alone_may_follow_from_further_out_all_the_same() -> None:
    """Groups fall silent where every prompt is too hard as well: that the reward shows, which nobody logged."""
    coverage = diagnose_log(synth.like("GRPO", drop=("reward/train_mean",))({}), Settings()).coverage
    silent = FirstBreak(
        Link.EXPLORATION, Component.ADVANTAGE, WHOLE_RUN, "EXP011", "zero-std-groups", "", Onset(60, 61)
    )
    left = not_excluded(silent, find_cause("silent-groups"), (), coverage)
    assert left
    assert all(outerness(one.link) > outerness(Link.EXPLORATION) for one in left)
    steps = replace(silent, link=Link.POLICY_UPDATE, rule="POL001", name="kl-overshoot")
    assert not_excluded(steps, find_cause("update-too-large"), (), coverage) == ()
