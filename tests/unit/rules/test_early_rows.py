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
RULES = [r for r in all_rules() if r.name in ("dynamics-changed", "reward-unforeseen", "action-effect-resized")]


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


def acted(metric: str, usual: float, first: float, second: float, then: float) -> RunLog:
    """The same rows of what actions do (1 as they are) or of what other actions explain (above 1)."""
    steps = np.concatenate([FULL, EARLY, AFTER])
    curve = Curve(steps, np.concatenate([np.full(FULL.size, usual), (first, second), np.full(AFTER.size, then)]))
    base = {"env/action_gain": synth.flat(1.0), metric: synth.flat(1.0)}
    log = synth.like("PPO")(base)
    still = Curve(steps, np.ones(steps.size))
    kept = tuple(replace(s, curve=curve if s.metric == metric else still) for s in log.series if s.metric in base)
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


def test_actions_that_do_nothing_on_a_few_steps_are_not_resized_if_they_do_what_they_did_on_the_next() -> None:
    told = {"action-effect-resized"}
    assert names(acted("env/action_gain", 1.0, 0.01, 0.2, 1.0)) == set()
    assert names(acted("env/action_gain", 1.0, 0.2, 0.2, 0.2)) == told


def test_what_other_actions_explain_on_a_few_steps_must_be_what_they_explain_on_the_next() -> None:
    told = {"action-effect-resized"}
    assert names(acted("env/action_reread", 1.3, 0.37, 1.3, 1.3)) == set()
    assert names(acted("env/action_reread", 1.3, 0.37, 0.4, 1.3)) == told
    assert names(acted("env/action_reread", 1.3, 1.3, 1.3, 0.37)) == told, "a full row tells it alone"
