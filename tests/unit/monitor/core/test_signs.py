"""Signs that trainings which do well show, too, are no alarms before the return is lost; they stay in the report."""

from __future__ import annotations

import math

import pytest

from firstbreak import Monitor
from firstbreak.monitor import Action
from firstbreak.monitor.judge import LOSS
from firstbreak.registry import all_rules

SIGN, RETURN = "grad-norm-explosion", "reward/episode_return_mean"
CALM, LOUD = 60, 60
RISES = [float(n) for n in range(CALM + LOUD)]
LOST = RISES[:CALM] + [max(CALM - 6.0 * n, 1.0) for n in range(LOUD)]


def guarded(returns: list[float] | None, **options: object) -> tuple[Monitor, list[Action]]:
    """Feed gradients that grow twentyfold after `CALM` rows, beside `returns`."""
    monitor = Monitor(None, algorithm="PPO", clock="updates", now=lambda: 0.0, time_share=math.inf, **options)  # pyright: ignore[reportArgumentType]
    actions: list[Action] = []
    for place in range(CALM + LOUD):
        row = {"optim/grad_norm": (1.0 + 0.1 * (place % 3)) * (20.0 if place >= CALM else 1.0)}
        if returns is not None:
            row[RETURN] = returns[place]
        actions.append(monitor.log(row, step=place).action)
    assert monitor.faults == []
    return monitor, actions


def alarms(monitor: Monitor) -> list[str]:
    return [alarm.finding.name for alarm in monitor.alarms]


def test_a_sign_is_no_alarm_while_the_return_rises_and_stays_in_the_report() -> None:
    monitor, _ = guarded(RISES)
    assert SIGN not in alarms(monitor)
    assert SIGN in {finding.name for finding in monitor.diagnosis().findings}


def test_it_is_one_where_no_return_is_logged() -> None:
    assert SIGN in alarms(guarded(None)[0])


def test_it_is_one_once_the_return_is_lost() -> None:
    monitor, _ = guarded(LOST)
    at = {alarm.finding.name: alarm.row for alarm in monitor.alarms}
    assert SIGN in at
    assert at[SIGN] >= at["return-collapse"]


@pytest.mark.parametrize("name", [SIGN, "numerics"])
def test_who_asks_to_have_it_acted_on_is_obeyed(name: str) -> None:
    monitor, actions = guarded(RISES, act={name: "stop_update"})
    assert SIGN in alarms(monitor)
    assert Action.STOP_UPDATE in actions


def test_a_return_that_only_noise_moves_is_not_lost() -> None:
    noise = [50.0 + (7 * place) % 11 for place in range(CALM + LOUD)]
    assert SIGN not in alarms(guarded(noise)[0])


def test_those_that_tell_of_a_loss_are_rules() -> None:
    assert set(LOSS) <= {rule.name for rule in all_rules()}


def test_what_is_exact_or_certain_is_no_sign() -> None:
    signs = [rule for rule in all_rules() if rule.with_loss]
    assert signs
    assert [rule.name for rule in signs if rule.static or str(rule.severity) == "error"] == []
