"""What a verdict leaves open is said beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from firstbreak import synth
from firstbreak.diagnosis import Verdict
from firstbreak.limits import MEANT, ends_early, limits
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
    assert limits(log, Verdict.UNDECIDED) == ends_early(log)
    assert limits(log, Verdict.BROKEN) == ()
