"""A row that came early, of a few steps picked because they were off, needs the next one beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Severity
from firstbreak.registry import all_rules
from firstbreak.runlog import RunLog
from firstbreak.series import Curve

SURPRISE, PREDICTED, PAYMENT = "env/dynamics_surprise", "env/predicted_frac", "reward/env_surprise"
FULL = 64.0 * np.arange(1, 41, dtype=np.float64)
EARLY = (64 * 40 + 24.0, 64 * 40 + 40.0)
AFTER = 64.0 * np.arange(42, 46)
RULES = [r for r in all_rules() if r.name in ("dynamics-changed", "reward-unforeseen")]


def world(first: float, second: float, then: float, metric: str, seen: int = 46) -> RunLog:
    """A run whose rows come every 64 steps; two early ones err `first` and `second` times as usual, the rest `then`."""
    steps = np.concatenate([FULL, EARLY, AFTER])[:seen]
    usual = 0.9 + 0.1 * np.sin(np.arange(FULL.size))
    off = np.concatenate([usual, (first, second), np.full(AFTER.size, then)])[:seen]
    calm = np.full(steps.size, 0.9)
    calm[::2] = 1.1
    log = synth.like("PPO")({SURPRISE: synth.flat(1.0), PAYMENT: synth.flat(1.0)})
    told = {name: Curve(steps, off if name == metric else calm) for name in (SURPRISE, PAYMENT)}
    kept = tuple(replace(s, curve=told[s.metric]) for s in log.series if s.metric in told)
    return replace(log, series=kept)


def names(log: RunLog) -> set[str]:
    return {f.name for o in run_rules(log, RULES) for f in o.findings if f.severity is not Severity.INFO}


@pytest.mark.parametrize(("metric", "rule"), [(SURPRISE, "dynamics-changed"), (PAYMENT, "reward-unforeseen")])
def test_one_early_row_that_the_next_does_not_bear_out_is_a_contact(metric: str, rule: str) -> None:
    assert names(world(150.0, 0.9, 1.0, metric)) == set()
    assert names(world(150.0, 0.9, 1.0, metric, seen=41)) == set(), "the newest row: the next is not there yet"
    assert names(world(150.0, 140.0, 1.0, metric)) == {rule}
    assert names(world(150.0, 140.0, 140.0, metric)) == {rule}
    assert names(world(150.0, 0.9, 150.0, metric)) == {rule}, "full rows that are off tell of it as ever"
