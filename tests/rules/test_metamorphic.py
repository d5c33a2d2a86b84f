"""Changes of a run that must not change the answer, and changes that must."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from firstbreak.engine import Ending, row_axis, ticks
from firstbreak.finding import Finding, Severity
from firstbreak.runlog import RunLog
from firstbreak.window import cut
from tests.rules.runs import (
    CASES,
    FIRING,
    Named,
    edited,
    fired,
    followed_by_its_opening,
    judge,
    log_of,
    outcome_of,
    read_by,
    rescaled,
    revalued,
    without,
)

each_case = pytest.mark.parametrize("named", CASES, ids=str)
each_firing = pytest.mark.parametrize("named", FIRING, ids=str)

SCALE_BOUND: dict[str, str] = {
    "zero-std-groups": "where no reward_max is known, a mean reward near 1 counts as solved (language tasks)",
    "reward-sign-turned": "it holds means against what a task, known by its name, pays for each step",
    "reward-beyond-task": "it holds the reward against what the source of a task, known by its name, can pay",
    "steps-after-end": "it holds the return against what a task, known by its name, pays for each step",
    "worse-than-random": "it holds the return against what random play earns in a task that is known by its name",
    "value-support-off": "it holds values and returns against a support that is set in their unit",
    "values-of-one-step": "it adds to the reward what the temperature, which stays as it was set, pays for entropy",
    "temperature-dominates": "it holds the temperature, which stays as it was set, against the size of the reward",
}
"""Rules whose answer may change with the reward's scale, each with its reason."""
FACTORS = (0.1, 10.0)


def gist(findings: tuple[Finding, ...]) -> list[tuple[object, ...]]:
    return [(f.scope, f.onset, f.severity, f.message) for f in findings]


@each_firing
def test_metrics_that_the_rule_never_reads_do_not_matter(named: Named) -> None:
    log = log_of(named)
    read = read_by(named.of, log)
    unread = {s.metric for s in log.series} - read
    longest = max(log.series, key=len)
    # The longest series sets the ticks, so one is kept whatever its name.
    kept = edited(log, lambda s: None if s.metric in unread and s is not longest else s)
    renamed = replace(kept, unmapped={f"custom/{s.metric}": s.curve for s in log.series if s.metric in unread})
    assert gist(judge(named.of, renamed).findings) == gist(outcome_of(named).findings)


@each_case
def test_without_a_needed_metric_the_rule_is_skipped_and_says_so(named: Named) -> None:
    log, rule = log_of(named), named.of
    if outcome_of(named).status is Ending.SKIPPED:
        return
    for group in [(need,) for need in rule.needs] + list(rule.any_of):
        outcome = judge(rule, without(log, *group))
        assert outcome.status is Ending.SKIPPED
        assert outcome.unlock_with or not outcome.rule.metrics or not without(log, *group).series


@pytest.mark.parametrize("named", [c for c in CASES if c.rule not in SCALE_BOUND], ids=str)
@pytest.mark.parametrize("factor", FACTORS)
def test_the_scale_of_the_reward_does_not_matter(named: Named, factor: float) -> None:
    assert fired(judge(named.of, rescaled(log_of(named), factor))) == fired(outcome_of(named))


@pytest.mark.parametrize("rule", sorted(SCALE_BOUND))
def test_a_rule_that_may_change_with_the_scale_does(rule: str) -> None:
    mine = [c for c in CASES if c.rule == rule]
    assert any(
        fired(judge(c.of, rescaled(log_of(c), factor))) != fired(outcome_of(c)) for c in mine for factor in FACTORS
    )


def live_at(log: RunLog, tick: float) -> RunLog:
    """What a monitor would hold at `tick`: fewer rows, and a run that is still going."""
    return replace(cut(log, hi=tick), state="running")


def last_firing_tick(named: Named, log: RunLog) -> float | None:
    """The latest tick but the last at which the rule has fired."""
    for tick in reversed(ticks(row_axis(log))[:-1]):
        if fired(judge(named.of, live_at(log, tick))):
            return tick
    return None


@each_firing
def test_live_replay_and_diagnosis_agree_and_firing_is_latched(named: Named) -> None:
    log = log_of(named)
    tick = last_firing_tick(named, log)
    if tick is None:
        return  # fires on the whole run only; nothing earlier to compare with
    live = live_at(log, tick)
    whole, before = outcome_of(named), judge(named.of, live)
    assert {f.scope for f in before.findings} <= {f.scope for f in whole.findings}
    assert stays(before.findings, whole.findings)
    longer = followed_by_its_opening(live, max(row_axis(live).size // 2, 4))
    after = judge(named.of, longer)
    assert fired(after)
    assert stays(before.findings, after.findings)


def stays(before: Iterable[Finding], after: Iterable[Finding]) -> bool:
    """Whether every onset stays as it was first said; an alarm that follows a note is another event."""
    now = {f.scope: f for f in after}
    news = {f.scope for f in before if f.severity is Severity.INFO and now[f.scope].severity is not Severity.INFO}
    return all(now[f.scope].onset == f.onset for f in before if f.scope not in news)


@each_case
def test_the_answer_is_the_same_every_time(named: Named) -> None:
    assert gist(judge(named.of, named.case.run()).findings) == gist(outcome_of(named).findings)


@each_firing
def test_a_metric_without_a_finite_value_fails_no_rule(named: Named) -> None:
    log = log_of(named)
    for metric in sorted(read_by(named.of, log) & {s.metric for s in log.series}):
        nothing = edited(log, lambda s: revalued(s, s.step, s.value * np.nan) if s.metric == metric else s)  # noqa: B023
        fired(judge(named.of, nothing))  # a rule that raises fails here
