"""`reward-redefined` where a reward is rare: it may only not have occurred, for all rewards or for one part of them."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import find_rule
from firstbreak.series import Floats

PART = "reward/component"


def share(t: Floats, at: float, values: int) -> Floats:
    return (1 + np.floor(97 * t) % 3) / values * (t < at)


def fires(rows: dict[str, synth.Shape]) -> bool:
    (outcome,) = run_rules(synth.like("GRPO")(rows), [find_rule("reward-redefined")])
    return bool(outcome.findings)


@pytest.mark.parametrize(("at", "fired"), [(0.98, False), (0.6, True)])
def test_a_part_that_pays_now_and_then_is_missed_after_a_while(at: float, fired: bool) -> None:
    def spread(t: Floats, _: object) -> Floats:
        p = share(t, at, 64)
        return np.sqrt(p * (1 - p))

    assert fires({f"{PART}@bonus": lambda t, _: share(t, at, 64), f"{PART}_std@bonus": spread}) is fired


def test_a_part_that_paid_half_of_all_is_missed_at_once() -> None:
    def half(t: Floats) -> Floats:
        return (31 + np.floor(97 * t) % 3) / 64 * (t < 0.98)

    def spread(t: Floats, _: object) -> Floats:
        return np.sqrt(half(t) * (1 - half(t)))

    assert fires({f"{PART}@right": lambda t, _: half(t), f"{PART}_std@right": spread})
