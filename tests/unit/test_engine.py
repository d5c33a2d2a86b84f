"""The engine: ticks, latching, skipping, isolation, scopes and phases."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import engine, synth
from firstbreak.engine import Ending, Outcome, has_points, row_axis, run_rules, ticks
from firstbreak.finding import Component, Detection, Finding, Link, Severity, Skip
from firstbreak.rule import Answer, Rule, Status, rule
from firstbreak.runlog import Event, Phase, RunLog
from firstbreak.series import Confidence, Curve, Scope, Series
from firstbreak.view import RunView
from firstbreak.window import cut

M = "policy/loss"


@dataclass(frozen=True)
class Params:
    """No threshold."""


def made(detect: Callable[[RunView, Params], Answer], **settings: Any) -> Rule:
    settings = {"needs": (M,), "severity": Severity.WARNING} | settings
    decorate = rule(
        "TST001", "test", link=Link.NUMERICS, component=Component.LOSS, params=Params(), cases=(), **settings
    )
    return decorate(detect)


def above(view: RunView, params: Params) -> Answer:
    """Fires while the newest value is above 1; at error above 10."""
    points = view.get(M)
    assert points is not None
    if not points.last > 1:
        return None
    severity = Severity.ERROR if points.last > 10 else None
    return Detection(f"value {points.last}", view.onset(points.step[-1]), M, {"value": points.last}, severity)


def log_of(values: list[float], **settings: Any) -> RunLog:
    return RunLog("test", series=(Series(M, Curve(np.arange(1, len(values) + 1), values)),), **settings)


def only(rule_: Rule, log: RunLog) -> Outcome:
    (outcome,) = run_rules(log, [rule_])
    return outcome


def finding(outcome: Outcome) -> Finding:
    assert outcome.status is Ending.FIRED
    (found,) = outcome.findings
    return found


@settings(max_examples=60)
@given(st.integers(1, 5000))
def test_ticks_rise_start_at_the_first_row_and_end_with_the_run(n: int) -> None:
    at = ticks(np.arange(1.0, n + 1))
    assert at[-1] == float("inf")
    assert all(a < b for a, b in itertools.pairwise(at))
    assert at[:-1] == sorted(set(at[:-1]))
    assert set(range(1, min(n, 9))) <= {*at, n}


@settings(max_examples=30)
@given(st.integers(2, 3000), st.integers(1, 40))
def test_ticks_of_a_shorter_run_are_ticks_of_the_longer(n: int, more: int) -> None:
    short, long = ticks(np.arange(1.0, n + 1))[:-1], ticks(np.arange(1.0, n + more + 1))[:-1]
    assert short == long[: len(short)]


def test_a_hundred_thousand_rows_make_about_fifty_ticks() -> None:
    assert 45 <= len(ticks(np.arange(100_000.0))) <= 60
    assert ticks(np.empty(0)) == [float("inf")]


def test_rows_are_the_distinct_steps_of_the_longest_series() -> None:
    log = RunLog("t", series=(Series("a", Curve([1, 1, 2], [0, 0, 0])), Series("b", Curve([5], [0]))))
    assert row_axis(log).tolist() == [1, 2]
    assert row_axis(RunLog("t")).size == 0


def test_an_empty_log_skips_every_rule() -> None:
    assert only(made(above), RunLog("t")).status is Ending.SKIPPED


def test_a_log_of_events_alone_is_read_by_the_rules_that_need_no_metric() -> None:
    def died(view: RunView, params: Params) -> Answer:
        return Detection("died", view.onset(0.0), "", {}) if view.log.events else None

    dead = RunLog("t", events=(Event("crashed", 0.0, "ValueError"),))
    assert only(made(died, needs=()), dead).status is Ending.FIRED
    assert only(made(died, needs=()), RunLog("t")).status is Ending.SKIPPED
    assert only(made(died), dead).status is Ending.SKIPPED  # it needs a metric that was never logged


def test_what_fired_stays_with_its_first_onset_and_is_marked_resolved() -> None:
    got = finding(only(made(above), log_of([0, 0, 5, 0, 0, 0])))
    assert (got.onset.lo, got.message, got.resolved_at) == (3, "value 5.0", 4)


def test_firing_again_takes_resolved_back() -> None:
    assert finding(only(made(above), log_of([0, 5, 0, 5, 6]))).resolved_at is None
    assert finding(only(made(above), log_of([0, 5, 0, 5, 6]))).onset.lo == 2


def test_severity_rises_and_never_falls() -> None:
    got = finding(only(made(above), log_of([0, 5, 50, 5])))
    assert (got.severity, got.onset.lo, got.message) == (Severity.ERROR, 2, "value 50.0")


def test_what_is_explained_later_becomes_the_note_that_says_so() -> None:
    def explained(view: RunView, params: Params) -> Answer:
        found = above(view, params)
        late = isinstance(found, Detection) and view.hi >= 4
        return replace(found, severity=Severity.INFO, excused_from=since) if late else found

    since = 2.0
    got = finding(only(made(explained), log_of([0, 5, 5, 5])))
    assert (got.severity, got.onset.lo) == (Severity.INFO, 2)
    since = 3.0  # what explains it came after it had begun
    assert finding(only(made(explained), log_of([0, 5, 5, 5]))).severity is Severity.WARNING


def test_a_resolved_finding_that_comes_back_worse_is_unresolved() -> None:
    assert finding(only(made(above), log_of([5, 0, 50]))).resolved_at is None


def test_what_passed_and_comes_back_worse_has_an_onset_of_its_own() -> None:
    assert finding(only(made(above), log_of([0, 5, 0, 50]))).onset.lo == 4
    assert finding(only(made(above), log_of([0, 5, 0, 6, 50]))).onset.lo == 2  # it was back before it was worse


def test_a_skip_after_firing_neither_removes_nor_resolves() -> None:
    def fickle(view: RunView, params: Params) -> Answer:
        points = view.get(M)
        assert points is not None
        return above(view, params) if len(points) == 2 else Skip("now blind")

    got = finding(only(made(fickle), log_of([0, 5, 5])))
    assert got.resolved_at is None


def test_a_skip_at_the_end_without_a_firing_is_a_skip_with_its_reason() -> None:
    outcome = only(made(lambda v, p: Skip("one update per batch", ("config n_epochs",))), log_of([0, 0]))
    assert (outcome.status, outcome.reason) == (Ending.SKIPPED, "one update per batch")
    assert outcome.unlock_with == ("config n_epochs",)


def test_a_rule_that_raises_is_isolated() -> None:
    def broken(view: RunView, params: Params) -> Answer:
        raise ZeroDivisionError("by zero")

    bad, good = run_rules(log_of([0, 5]), [made(broken), made(above)])
    assert (bad.status, bad.findings) == (Ending.ERROR, ())
    assert bad.reason.startswith("your code raised at test_engine.py:")
    assert bad.reason.endswith(": ZeroDivisionError: by zero")
    assert good.status is Ending.FIRED


@pytest.mark.parametrize(
    ("wants", "reason", "unlock"),
    [
        ({"needs": (M, "no/a", "no/b")}, "not logged: no/a, no/b", ("no/a", "no/b")),
        ({"any_of": (("no/a", "no/b"), (M,))}, "not logged: no/a or no/b", ("no/a or no/b",)),
        ({"needs_config": ("gamma", "lr")}, "configuration not known: gamma", ("config gamma",)),
        ({"min_points": 30}, "needs 30 points, has 4", ("more points (log oftener or run longer)",)),
        ({"when": ("twin_q",)}, "does not apply to PPO", ()),
    ],
)
def test_a_rule_that_cannot_look_says_why_and_what_would_help(
    wants: dict[str, Any], reason: str, unlock: tuple[str, ...]
) -> None:
    outcome = only(made(above, **wants), log_of([5, 5, 5, 5], algorithm="PPO", config={"lr": 1}))
    assert (outcome.status, outcome.reason, outcome.unlock_with) == (Ending.SKIPPED, reason, unlock)


@pytest.mark.parametrize("algorithm", ["", "SomethingNew"])
def test_an_unknown_algorithm_passes_every_trait(algorithm: str) -> None:
    assert only(made(above, when=("twin_q",)), log_of([5], algorithm=algorithm)).status is Ending.FIRED


def test_min_points_waits_until_there_are_enough() -> None:
    got = finding(only(made(above, min_points=4), log_of([5, 5, 5, 5, 5])))
    assert got.onset.lo == 4


@pytest.mark.parametrize(
    ("status", "confidence", "severity"),
    [
        (Status.STABLE, Confidence.EXACT, Severity.WARNING),
        (Status.STABLE, Confidence.ALIAS, Severity.WARNING),
        (Status.PREVIEW, Confidence.EXACT, Severity.INFO),
        (Status.STABLE, Confidence.GUESS, Severity.INFO),
    ],
)
def test_guesses_and_previews_speak_at_info_only(status: Status, confidence: Confidence, severity: Severity) -> None:
    log = log_of([5])
    log = replace(log, series=tuple(replace(s, confidence=confidence) for s in log.series))
    assert finding(only(made(above, status=status), log)).severity is severity


def test_each_scope_is_judged_by_itself() -> None:
    def series(values: list[float], scope: Scope) -> Series:
        return Series(M, Curve([1, 2, 3], values), scope)

    a, b = Scope(policy="a"), Scope(policy="b")
    outcome = only(made(above), RunLog("t", series=(series([0, 5, 5], a), series([0, 0, 0], b))))
    assert [f.scope for f in outcome.findings] == [a]
    assert outcome.findings[0].id == "TST001[policy=a]"


def test_members_of_a_family_are_no_scopes_of_their_own() -> None:
    log = RunLog("t", series=(Series(M, Curve([1], [5]), Scope(component="x")), Series(M, Curve([1], [0]))))
    assert only(made(above), log).status is Ending.CLEAR


def spans(view: RunView, params: Params) -> Answer:
    points = view.get(M)
    assert points is not None
    spread = float(np.ptp(points.value))
    return Detection(f"spread {spread}", view.onset(points.step[0]), M) if spread > 5 else None


def test_statistics_do_not_straddle_a_phase_unless_the_rule_says_so() -> None:
    values = [0.0] * 10 + [9.0] * 10
    phases = (Phase("warm-up", 1, 10), Phase("main", 11, 20))
    log = log_of(values, phases=phases)
    assert only(made(spans), log).status is Ending.CLEAR
    assert only(made(spans, across_phases=True), log).status is Ending.FIRED
    assert only(made(spans), log_of(values)).status is Ending.FIRED


def test_live_and_post_mortem_agree_at_every_tick() -> None:
    log = synth.like("PPO")({M: synth.jump(0.0, 20.0, at=0.4, noise=0.0)})
    whole = finding(only(made(above), log))
    for tick in ticks(row_axis(log))[:-1]:
        live = only(made(above), cut(log, hi=tick))
        assert (live.status is Ending.FIRED) == (tick >= 49)
        if live.findings:
            got = finding(live)
            assert (got.onset, got.message, got.severity) == (whole.onset, whole.message, whole.severity)


def test_the_looks_of_what_fired_are_what_the_rule_says_at_every_tick() -> None:
    log = log_of([0, 0, 0, 5, 5, 0])
    (outcome,) = run_rules(log, [made(above, min_points=3)])
    assert [look.view.hi for look in outcome.looks] == ticks(row_axis(log))
    assert [isinstance(look.answer, Detection) for look in outcome.looks] == [False, False, False, True, True, False]
    assert outcome.looks[0].answer is None  # too few points to be asked
    assert run_rules(log_of([0, 0]), [made(above)])[0].looks == ()


def test_points_are_counted_only_until_a_rule_can_look(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[float] = []

    def count(rule_: Rule, view: RunView) -> bool:
        counted.append(view.hi)
        return has_points(rule_, view)

    log, rule_ = log_of([0.0] * 100), made(above, min_points=3)
    places = ticks(row_axis(log))
    monkeypatch.setattr(engine, "has_points", count)
    only(rule_, log)
    assert counted == [places[-1], *places[:3]]  # at the end: whether it can be asked at all
    counted.clear()
    only(rule_, replace(log, phases=(Phase("one", 1, 10), Phase("two", 11, 100))))
    assert counted == [places[-1], *places]  # a new phase begins with no points
    counted.clear()
    assert only(made(above, needs_config=("lr",)), log).status is Ending.SKIPPED
    assert len(counted) <= 1
