"""What a verdict leaves open is said beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firstbreak import synth
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Link
from firstbreak.limits import ASKED, LEFT_OPEN, MEANT, SHORT, UNSEEN, ends_early, left_open, limits
from firstbreak.runlog import RunLog


def ppo(state: str = "", clock: str = "env_steps", **config: Any) -> RunLog:
    log = synth.like("PPO", n=100, clock=clock, step=100.0, config=config)()
    return replace(log, state=state)


def test_a_log_that_ends_early_may_be_of_a_run_that_died() -> None:
    (note,) = ends_early(ppo(total_steps=20_000))
    assert note.startswith("the log ends at step ")
    assert "of 20,000" in note


@pytest.mark.parametrize(
    "log",
    [
        ppo(total_steps=10_000),
        ppo(),
        ppo(total_steps="20_000 steps"),
        ppo(total_steps=True),
        ppo(state="running", total_steps=20_000),
        ppo(state="crashed", total_steps=20_000),
        ppo(clock="updates", total_steps=20_000),
    ],
)
def test_nothing_is_said_where_it_is_whole_or_not_known(log: RunLog) -> None:
    assert ends_early(log) == ()


def test_what_is_said_with_each_verdict() -> None:
    log = ppo(total_steps=20_000)
    assert limits(log, Verdict.HEALTHY)[0] == MEANT
    assert len(limits(log, Verdict.HEALTHY)) == 2
    assert limits(log, Verdict.UNDECIDED) == limits(log, Verdict.HEALTHY)
    assert limits(log, Verdict.BROKEN) == ()


def test_of_a_language_model_prompts_are_asked_for_and_the_evaluation_where_there_is_one() -> None:
    without = replace(synth.like("GRPO")(), series=())
    assert limits(without, Verdict.UNDECIDED) == (ASKED,)
    evaluated = synth.like("GRPO")({"reward/eval_mean": synth.flat(0.5)})
    assert limits(evaluated, Verdict.HEALTHY) == (ASKED, UNSEEN)


def test_every_note_names_a_command_in_both_lengths_and_the_links_it_leaves_open() -> None:
    assert LEFT_OPEN.keys() == SHORT.keys()
    for note in LEFT_OPEN:
        assert "`firstbreak " in note
        assert "`firstbreak " in SHORT[note]
    outer, loop = {Link.ENVIRONMENT_DATA, Link.REWARD_SIGNAL}, {Link.CRITIC, Link.POLICY_UPDATE, Link.EXPLORATION}
    assert left_open((MEANT, "something else")) == outer | loop
    assert left_open((ASKED,)) == outer
    assert left_open((UNSEEN,)) == {Link.EVALUATION_PROTOCOL}
    assert left_open(()) == frozenset()
