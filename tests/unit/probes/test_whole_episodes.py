"""A trainer that learns from whole episodes goes on where none ends: no fault of it, as long as it stops elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from firstbreak.check import Skip
from firstbreak.probes.checks import constant_value, long_episode, several_copies, time_limit
from firstbreak.probes.ladder.judging import judge
from firstbreak.probes.ladder.outcome import Outcome
from firstbreak.probes.ladder.rung import Rung
from firstbreak.probes.ladder.trial import Order, Trial


class Waits:
    """Every training goes on far beyond its steps."""

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        return [
            Outcome(
                order.rung, order.kind, order.seed, order.factor, "never_stops", "118784 steps taken", steps=118_784
            )
            for order in orders
        ]

    def stop(self) -> None: ...


@pytest.mark.parametrize("rung", [long_episode.RUNG, several_copies.RUNG], ids=lambda rung: rung.name)
def test_a_rung_without_ends_does_not_concern_who_stopped_on_others(rung: Rung) -> None:
    trial = Trial(Waits(), taken={"discrete", "continuous"})
    answer = judge(trial, rung)
    assert isinstance(answer, Skip)
    assert "whole episodes" in answer.reason
    assert not answer.withholds
    assert (trial.crashes, trial.failed) == ([], [])


@pytest.mark.parametrize("rung", [constant_value.RUNG, time_limit.RUNG], ids=lambda rung: rung.name)
def test_where_episodes_end_it_is_a_fault(rung: Rung) -> None:
    trial = Trial(Waits(), taken={"discrete", "continuous"})
    judge(trial, rung)
    assert trial.crashes


def test_who_stopped_nowhere_is_at_fault_without_ends_too() -> None:
    trial = Trial(Waits())
    judge(trial, long_episode.RUNG)
    assert trial.crashes
