"""What leaves the band of healthy runs: against plain arithmetic, and under changes that must not matter."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak import departure, synth
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.departure import (
    FACTOR,
    LEAST_WIDTH,
    PLACES,
    POOLED,
    RANGE,
    SIZE,
    Band,
    Bands,
    Key,
    against,
    bands_of,
    leaders,
    levels_of,
    medians_of,
    sustained,
)
from firstbreak.engine import Ending, run_rules
from firstbreak.finding import Severity
from firstbreak.registry import find_rule
from firstbreak.report.text import render
from firstbreak.report.words import against_phrase
from firstbreak.runlog import RunLog
from firstbreak.series import Curve, Series
from firstbreak.stats import median
from firstbreak.window import cut

HEALTHY = [synth.like("PPO", seed=n)() for n in range(1, 6)]
WRONG = {
    "critic/loss": synth.after(0.5, synth.flat(900, 0.1), synth.geometric(60, 20, 0.2)),
    "critic/explained_variance": synth.after(0.5, synth.flat(-0.9, 0.05), synth.ramp(0.0, 0.9, 0.05, until=0.4)),
    "reward/episode_return_mean": synth.after(0.6, synth.flat(20, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
}
BROKEN = synth.like("PPO")(WRONG)


def slow_levels(series: Series, edges: list[float]) -> list[float]:
    """The level of each place, point by point."""
    found: list[float] = []
    start = -math.inf
    last = max((s for s in series.step if s <= edges[-1]), default=-math.inf)
    for edge in edges:
        here = [
            v if math.isfinite(v) else math.inf
            for s, v in zip(series.step.tolist(), series.value.tolist(), strict=True)
            if start < s <= edge
        ]
        if here:
            found.append(statistics.median(here))
        else:
            found.append(found[-1] if found and start < last else math.nan)
        start = edge
    return found


def slow_half(levels: list[list[float]]) -> list[float]:
    """Half the width of the band at each place, by the definition in the module's docstring; all levels finite."""
    everything = sorted(v for row in levels for v in row)
    low, high = np.quantile(everything, [0.05, 0.95])
    floor = max(RANGE * (high - low), SIZE * statistics.median(abs(v) for v in everything), 1e-12)
    places = range(len(levels[0]))

    def spread(rows: list[list[float]], at: int) -> float:
        near = [p for p in range(at - POOLED, at + POOLED + 1) if p in places]
        off = [abs(row[p] - statistics.median(r[p] for r in rows)) for row in rows for p in near]
        return max(sum(off) / len(off), floor)

    widest = LEAST_WIDTH
    for index, row in enumerate(levels):
        others = [r for n, r in enumerate(levels) if n != index]
        far = [abs(row[p] - statistics.median(r[p] for r in others)) / spread(others, p) for p in places]
        widest = max(widest, *(min(far[p], far[p + 1]) for p in places[:-1]))
    return [FACTOR * widest * spread(levels, p) for p in places]


numbers = st.floats(-100, 100).map(lambda v: round(v, 3))


@given(
    gaps=st.lists(st.integers(1, 9), min_size=1, max_size=30),
    values=st.lists(st.one_of(numbers, st.just(math.nan)), min_size=30, max_size=30),
    places=st.integers(2, 12),
)
def test_levels_are_medians_of_places(gaps: list[int], values: list[float], places: int) -> None:
    step = np.cumsum(gaps).astype(float)
    series = Series("policy/entropy", Curve(step, np.array(values[: step.size])))
    edges = 80.0 * np.arange(1, places + 1) / places
    np.testing.assert_allclose(levels_of(series, edges), slow_levels(series, edges.tolist()))


@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_medians_of_stretches_are_medians(sizes: list[int], seed: int) -> None:
    starts = np.cumsum([0, *sizes[:-1]])
    values = np.random.default_rng(seed).choice([0.5, -0.0, 1e308, 1.7e308, math.inf, 3.0, -2.0], sum(sizes))
    parts = np.split(values, starts[1:])
    assert medians_of(values, starts).tolist() == [median(part) for part in parts]


def test_the_bands_of_the_same_healthy_runs_are_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_out: list[int] = []

    def count(healthy: Sequence[RunLog]) -> dict[Key, Band]:
        worked_out.append(len(healthy))
        return bands_of(healthy)

    monkeypatch.setattr(departure, "bands_of", count)
    known = Bands()
    found = [against(log, list(HEALTHY), known).against for log in (BROKEN, HEALTHY[0], BROKEN)]
    assert worked_out == [5]
    assert found[0] == found[2] == against(BROKEN, HEALTHY).against
    against(BROKEN, HEALTHY[:4], known)
    assert worked_out == [5, 5, 4]


@given(st.lists(st.lists(numbers, min_size=8, max_size=8), min_size=3, max_size=6))
def test_a_band_is_as_wide_as_its_definition_says(levels: list[list[float]]) -> None:
    band = Band(np.array(levels), np.arange(1.0, 9.0))
    np.testing.assert_allclose(band.half, slow_half(levels), rtol=1e-9)
    np.testing.assert_allclose(band.middle, [statistics.median(column) for column in zip(*levels, strict=True)])


def test_what_lasts_is_the_lesser_of_two_places() -> None:
    np.testing.assert_array_equal(sustained(np.array([1.0, 5.0, 3.0, np.nan])), [1.0, 3.0, np.nan, np.nan])


def test_a_fault_in_the_middle_is_found_where_it_began() -> None:
    found = against(BROKEN, HEALTHY).against
    assert found is not None
    assert {d.metric for d in found.departures} == set(WRONG)
    first = leaders(found)
    assert {d.metric for d in first} == {"critic/loss", "critic/explained_variance"}
    assert first[0].lo <= 0.5 * BROKEN.last_step <= first[0].hi
    assert first[0].known > first[0].hi
    assert (found.runs, found.compared) == (5, 10)  # all but the time that the machine took


@pytest.mark.parametrize("seed", range(20, 30))
def test_healthy_runs_of_other_seeds_stay(seed: int) -> None:
    found = against(synth.like("PPO", seed=seed)(), HEALTHY).against
    assert found is not None
    assert found.compared
    assert not leaders(found)


@given(factor=st.sampled_from([1e-3, 0.5, 7.0, 1e4]), order=st.permutations(range(5)))
def test_neither_the_unit_nor_the_order_of_the_healthy_runs_matters(factor: float, order: list[int]) -> None:
    def scaled(log: RunLog) -> RunLog:
        series = [replace(s, curve=Curve(s.step, s.value * factor)) for s in log.series if s.metric in WRONG]
        return replace(log, series=tuple(series))

    plain = against(replace(BROKEN, series=tuple(s for s in BROKEN.series if s.metric in WRONG)), HEALTHY).against
    other = against(scaled(BROKEN), [scaled(HEALTHY[n]) for n in order]).against
    assert plain is not None
    assert other is not None
    assert [(d.metric, d.lo, d.hi) for d in other.departures] == [(d.metric, d.lo, d.hi) for d in plain.departures]


@given(st.integers(1, PLACES))
def test_a_running_run_is_told_what_the_finished_one_will_be_told(place: int) -> None:
    whole = against(BROKEN, HEALTHY).against
    assert whole is not None
    tick = place / PLACES * HEALTHY[0].last_step
    live = against(cut(BROKEN, hi=tick), HEALTHY).against
    assert live is not None
    known = [(d.metric, d.lo, d.hi, d.known) for d in whole.departures if d.known <= tick]
    assert [(d.metric, d.lo, d.hi, d.known) for d in live.departures if d.known <= tick] == known
    assert leaders(live, tick) == () or {d.metric for d in leaders(live, tick)} == {
        d.metric for d in leaders(whole, tick)
    }


def test_a_value_that_is_lost_leaves_the_band() -> None:
    lost = synth.like("PPO")(
        {m: synth.after(0.5, synth.constant(math.nan), s) for m, s in synth.HEALTHY["PPO"].items()}
    )
    found = against(lost, HEALTHY).against
    assert found is not None
    assert len(found.departures) == found.compared
    assert all(math.isinf(d.size) for d in found.departures)


def test_two_healthy_runs_are_too_few_and_those_on_another_clock_do_not_count() -> None:
    other = [replace(log, clock="env_steps") for log in HEALTHY]
    for siblings, have in ((HEALTHY[:2], 2), (other, 0)):
        log = against(BROKEN, siblings)
        assert log.against is not None
        assert (log.against.runs, log.against.compared) == (have, 0)
        outcome = run_rules(log, [find_rule("critic-departs")])[0]
        assert outcome.status is Ending.SKIPPED
        assert outcome.reason == f"does not apply: needs 3 healthy runs on the clock of this one, has {have}"
        assert "3 tell what leaves their band" in against_phrase(log)


def test_metrics_with_few_points_and_extremes_are_not_compared() -> None:
    def thin(log: RunLog) -> RunLog:
        rare = Series("reward/eval_return_mean", Curve(np.array([40.0, 80.0, 120.0]), np.array([1.0, 2.0, 3.0])))
        most = Series("critic/q_max", log.series[0].curve)
        return replace(log, series=(*log.series, rare, most))

    names = {metric for metric, _ in bands_of([thin(log) for log in HEALTHY])}
    assert names == {s.metric for s in HEALTHY[0].series} - {"time/fps"}


LATE = {
    "policy/clip_fraction": synth.jump(0.1, 0.9, at=0.5, noise=0.02),
    "policy/loss": synth.jump(-0.01, 5, at=0.5, noise=0.1),
    "policy/entropy": synth.after(0.6, synth.flat(3), synth.ramp(0.69, 0.45, 0.02)),
}


@pytest.mark.parametrize(("lr", "severity"), [(3e-4, Severity.WARNING), (3e-3, Severity.INFO)])
def test_the_report_names_the_link_and_settings_of_its_own_make_it_a_note(lr: float, severity: Severity) -> None:
    siblings = [replace(log, config={"lr": 3e-4, "seed": n}) for n, log in enumerate(HEALTHY)]
    log = replace(synth.like("PPO")(LATE), config={"lr": lr, "seed": 9})
    diagnosis = diagnose_log(log, Settings(), baseline=siblings)
    told = {f.name: f for f in diagnosis.findings if f.name.endswith("-departs")}
    assert set(told) == {"policy-departs"}
    assert told["policy-departs"].severity is severity
    assert told["policy-departs"].evidence["metrics_left"] == 3
    assert ("policy-differs" in {cause.name for cause in diagnosis.causes}) == (severity is Severity.WARNING)
    own = "lr 0.003" if lr == 3e-3 else ""
    assert told["policy-departs"].evidence.get("own_settings", "") == own
    assert against_phrase(diagnosis.log).endswith(f"own settings: {own}" if own else "policy/clip_fraction")
    full = render([diagnosis], full=True)
    assert "Beside 5 healthy runs (3 of 10 metrics left)" in full
    assert "policy/entropy (exploration): " in full


def test_without_healthy_runs_nothing_is_said_and_nothing_counts_as_not_looked_at() -> None:
    diagnosis = diagnose_log(BROKEN, Settings())
    assert against_phrase(diagnosis.log) == ""
    skipped = {s.name: s for s in diagnosis.coverage.skipped if s.name.endswith("-departs")}
    assert len(skipped) == 8
    assert not any(s.applies for s in skipped.values())
