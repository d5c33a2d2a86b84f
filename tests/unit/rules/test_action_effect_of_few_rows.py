"""`action-effect-resized` where a run is young: twelve rows say what is usual, if what follows lies far enough."""

from __future__ import annotations

import pytest

from firstbreak.engine import run_rules
from firstbreak.monitor.history import History
from firstbreak.registry import find_rule

GAIN, SURPRISE, FORESEEN = "env/action_gain", "env/dynamics_surprise", "env/predicted_frac"
USUAL = [0.98, 1.03, 0.9, 1.01, 0.96, 0.99, 1.0, 0.97, 0.9, 0.92, 0.94, 1.02]


def fires(gains: list[float], surprise: float = 1.6, usual: float = 0.9) -> bool:
    """Rows every 64 steps, the first twelve of which are as usual."""
    history = History("x", algorithm="SAC", clock="env_steps", config={})
    for place, gain in enumerate(gains):
        off = surprise if place >= len(USUAL) else usual
        history.add((GAIN, SURPRISE, FORESEEN), [gain, off, 0.95], 64.0 * (place + 1), 0.0)
    (outcome,) = run_rules(history.log(), [find_rule("action-effect-resized")])
    return bool(outcome.findings)


@pytest.mark.parametrize(
    ("gains", "told"),
    [
        ([*USUAL, 0.28, 0.01], True),  # actions that are smoothed away
        ([*USUAL, 0.28], False),  # one row
        ([*USUAL[1:], 0.28, 0.01], False),  # eleven rows before
        ([*USUAL, 0.55, 0.5], False),  # not so far, and not so long
        ([*USUAL[:-1], 1.25, 0.3, 0.31], False),  # the effect was never known so well
    ],
)
def test_two_rows_that_lie_far_are_enough_where_the_effect_was_clear(gains: list[float], told: bool) -> None:
    assert fires(gains) is told


def test_what_is_foreseen_as_ever_is_left_alone() -> None:
    assert not fires([*USUAL, 0.28, 0.01], surprise=1.0)


def test_what_is_missed_by_no_more_than_before_is_where_the_policy_goes() -> None:
    """PPO on Acrobot: four rows after a row that was missed by twice as much, and back."""
    assert fires([*USUAL, 0.28, 0.01], surprise=2.1, usual=2.0)
    assert not fires([*USUAL, 0.28, 0.01], surprise=2.1, usual=3.5)
