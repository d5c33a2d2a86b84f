"""What is kept of the exception that ended training."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import Monitor
from firstbreak.monitor.death import died_of
from firstbreak.runlog import NOT_FINITE

UNUSABLE = "Expected parameter scale (Tensor of shape (2,)) of distribution Normal() to satisfy the constraint "


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("found invalid values: tensor([[nan, nan]])"), True),
        (RuntimeError("probability tensor contains either `inf`, `nan` or element < 0"), True),
        (FloatingPointError("overflow encountered in multiply"), True),
        (RuntimeError("Function returned non-finite values"), True),
        (ValueError(UNUSABLE + "GreaterThan(lower_bound=0.0), b"), True),  # as it is cut off
        (ValueError(UNUSABLE + "GreaterThan(lower_bound=0.0), but found invalid values:\ntensor([0.5, -0.1])"), False),
        (ValueError(UNUSABLE + "GreaterThan(lower_bound=0.0), but found invalid values:\ntensor([0., 2.])"), False),
        (ValueError(UNUSABLE + "IndependentConstraint(Real(), 1), but found invalid values:\ntensor([...])"), True),
        (ValueError(UNUSABLE + "Simplex(), but found invalid values:\ntensor([[0.7, 0.7]])"), False),
        (KeyboardInterrupt(), False),
        (ValueError("the finance table has no inflation column"), False),
        (KeyError("nano"), False),
        (Mute(), False),
    ],
)
def test_only_the_type_is_kept_and_whether_a_number_was_not_finite(error: BaseException, told: bool) -> None:
    text = died_of(type(error), error)
    assert text == type(error).__name__ + (f" {NOT_FINITE}" if told else "")


def trained(monitor: Monitor, error: BaseException) -> None:
    with monitor:
        for step in range(20):
            monitor.log({"policy/kl_old": 0.01, "critic/loss": 1.0 + 0.1 * np.sin(step)}, step=step)
        raise error


def test_a_run_that_dies_of_nan_is_named_at_its_death() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="env_steps", now=lambda: 0.0)
    with pytest.raises(ValueError, match="nan"):
        trained(monitor, ValueError("logits: tensor([nan, nan])"))
    assert [(a.finding.name, str(a.finding.link), a.at) for a in monitor.alarms] == [
        ("crashed-on-nonfinite", "numerics", 19.0)
    ]


def test_a_run_that_is_stopped_by_hand_raises_nothing() -> None:
    monitor = Monitor(None, algorithm="PPO", clock="env_steps", now=lambda: 0.0)
    with pytest.raises(KeyboardInterrupt):
        trained(monitor, KeyboardInterrupt())
    assert monitor.alarms == []
