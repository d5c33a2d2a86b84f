"""A run against its own past and healthy runs: what is asked, what is measured, and which metric names the link."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from firstbreak import leaving, synth
from firstbreak.at_once import link_of
from firstbreak.engine import run_rules
from firstbreak.finding import Link
from firstbreak.leaving import (
    NOT_ASKED,
    ROWS,
    Left,
    all_left,
    leader_of,
    left_of,
    measures,
    metrics_of,
    reaches,
    scaled,
)
from firstbreak.registry import find_rule
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Floats, Series, Tally
from firstbreak.view import TAIL, RunView
from firstbreak.vocabulary import metrics
from firstbreak.window import cut

ESS, VALUES, RESPONSE = "policy/ess", "critic/q_mean", "env/action_response"
USUAL = synth.flat(0.95, 0.01)
LOST = {ESS: synth.after(0.6, synth.flat(0.3, 0.05), USUAL)}


def left(metric: str, hi: float, wait: float = 16.0) -> Left:
    return Left(metric, link_of(metric), hi - 8, hi, 9.0, 1.0, True, 1.0, 2.0, wait)


def test_the_table_covers_names_of_the_vocabulary_that_are_asked() -> None:
    assert reaches()
    for name, reach in reaches().items():
        assert name in metrics()
        assert not name.startswith(NOT_ASKED)
        assert min(reach.range, reach.record) < math.inf
        assert reach.range >= max(1.0, 1.45 * reach.seen_range)  # three digits are kept
        assert reach.record >= max(1.0, 1.45 * reach.seen_record)


def test_every_metric_of_the_table_is_some_rules() -> None:
    ruled = [find_rule(f"{word}-leaves-past") for word in ("environment", "critic", "policy", "exploration")]
    assert sorted(reaches()) == sorted(name for rule in ruled for name in rule.metrics)
    assert all(set(rule.metrics) == set(metrics_of(rule.link)) for rule in ruled)


@pytest.mark.parametrize("factor", [1e-3, 1e3, -1.0])
def test_no_unit_and_no_sign_changes_what_is_measured(factor: float) -> None:
    value = np.exp(np.random.default_rng(0).normal(size=120))
    for one, other in zip(measures(VALUES, value), measures(VALUES, factor * value), strict=True):
        assert one.tolist() == pytest.approx(other.tolist(), nan_ok=True)


def test_scales() -> None:
    assert scaled(VALUES, np.array([1.0, math.e, -1.0, 1.0])).tolist() == pytest.approx([0.0, 1.0])
    assert scaled(VALUES, np.array([-1.0, -math.e])).tolist() == pytest.approx([0.0, 1.0])
    assert scaled(VALUES, np.array([0.0, 1.0])).size == 0
    assert scaled(RESPONSE, np.array([0.0, 1.0])).tolist() == pytest.approx([0.0, -math.log(1e-3)], abs=2e-3)


def test_what_leaves_is_dated_and_told_of_with_the_healthy_most() -> None:
    view = RunView(synth.like("PPO")(LOST))
    (found,) = all_left(view)
    assert (found.metric, found.link) == (ESS, Link.POLICY_UPDATE)
    assert found.lo <= 72 <= found.hi <= 80
    assert found.before == pytest.approx(0.95, rel=0.02)
    assert found.now < 0.5
    assert found.usual in (reaches()[ESS].seen_range, reaches()[ESS].seen_record)


def test_the_first_rows_are_not_asked() -> None:
    early = synth.after(0.2, synth.flat(0.3, 0.05), USUAL)
    log = synth.like("PPO")({ESS: early})
    assert 0.2 * len(log.series[0]) < ROWS
    assert all(one.hi > ROWS for one in all_left(RunView(log)))


def test_the_outermost_of_those_that_left_together_names_the_link() -> None:
    together = (left(ESS, 100), left(VALUES, 104), left(RESPONSE, 130))
    assert leader_of(together) == together[1]
    assert leader_of((left(ESS, 100), left(VALUES, 117))) == left(ESS, 100)
    assert leader_of(()) is None


def test_only_the_rule_of_the_leaders_link_speaks() -> None:
    both = {**LOST, RESPONSE: synth.after(0.6, synth.flat(0.1, 0.1), synth.flat(0.9, 0.02))}
    log = synth.like("PPO")(both)
    rules = [find_rule("policy-leaves-past"), find_rule("environment-leaves-past")]
    assert [f.name for o in run_rules(log, rules) for f in o.findings] == ["environment-leaves-past"]


def test_a_long_run_is_asked_about_its_even_end() -> None:
    run = synth.run({ESS: synth.after(0.96, synth.flat(0.3, 0.05), USUAL)}, algorithm="PPO", n=6000)
    points = RunView(run).get(ESS)
    assert points is not None
    assert points.total > len(points)
    found = left_of(points)
    assert found is not None
    assert points.step[-TAIL] <= found.lo <= found.hi


def test_what_left_is_sought_once_a_metric_and_not_once_a_tick_and_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    sought: list[str] = []

    def count(metric: str, value: Floats, least: tuple[float, float]) -> tuple[Floats, Floats]:
        sought.append(metric)
        return measures(metric, value, least)

    monkeypatch.setattr(leaving, "measures", count)
    log = synth.like("PPO", n=400)(LOST)
    run_rules(log, [find_rule(f"{word}-leaves-past") for word in ("environment", "critic", "policy", "exploration")])
    assert ESS in sought
    assert len(sought) == len(set(sought))


@pytest.mark.parametrize("metric", [ESS, VALUES])
@pytest.mark.parametrize("n", [200, 1279, 1282, 3000])
def test_what_left_in_a_prefix_is_what_left_in_the_log_so_far(metric: str, n: int) -> None:
    noise = np.random.default_rng(n)
    value = 0.9 + 0.01 * noise.standard_t(3, n)
    value[n // 2 :] *= 0.3
    value[[0, n // 3]] = np.nan
    log = RunLog("t", series=(Series(metric, Curve(np.arange(float(n)) // 2, value)),))
    for hi in (n / 8, n / 4 + 1, n / 4 + 3.5, n / 4 + 9, n / 3, n):
        prefix, alone = (RunView(one, hi).get(metric) for one in (log, cut(log, hi=hi)))
        assert prefix is not None
        assert alone is not None
        held = replace(alone, source=replace(alone.source, whole=Tally(0, 0, 0, 0, 0, 0, 0, 0)))  # of what is shown
        assert left_of(prefix) == left_of(alone) == left_of(held)


@pytest.mark.parametrize("times", [0.3, 0.99, 1.01, 3.0])
def test_a_measure_is_left_out_only_where_it_is_smaller_throughout(times: float) -> None:
    value = np.exp(0.3 * np.random.default_rng(0).standard_t(2, 300))
    whole = measures(VALUES, value)
    least = (times * float(whole[0].max()), times * float(whole[1].max()))
    for found, known, limit in zip(measures(VALUES, value, least), whole, least, strict=True):
        assert (np.flatnonzero(found >= limit) == np.flatnonzero(known >= limit)).all()
    assert not np.isfinite(measures(VALUES, value, (1e9, 1e9))).any()
