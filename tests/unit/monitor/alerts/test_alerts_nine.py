"""The nine classic alarms: their titles, their levels, and the healthy runs on which the plain limits would fire."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.finding import Finding, Severity
from firstbreak.monitor.alerts import NINE, Classic, Level, classic_of, level_of, title_of
from firstbreak.monitor.verdict import Notice
from firstbreak.registry import find_rule
from firstbreak.rule import Expect
from firstbreak.runlog import RunLog

Make = Callable[..., Notice]
TITLES = {
    "Gradient explosion": "ERROR",
    "NaN in metrics": "ERROR",
    "Entropy collapse": "WARN",
    "Action dim collapsed": "WARN",
    "Q-value divergence": "WARN",
    "Q-value twin divergence": "WARN",
    "Value function anti-correlated": "WARN",
    "Excessive PPO clipping": "WARN",
    "Advantage explosion": "WARN",
}
PAIRS = [(classic, rule) for classic in NINE for rule in classic.rules]


def findings_of(log: RunLog, rules: Iterable[str]) -> list[Finding]:
    outcomes = run_rules(log, tuple(find_rule(rule) for rule in rules))
    return [f for o in outcomes for f in o.findings if f.severity is not Severity.INFO]


def test_there_are_nine_with_their_titles_and_levels() -> None:
    assert {classic.title: classic.level.value for classic in NINE} == TITLES
    rules = [rule for _, rule in PAIRS]
    assert len(set(rules)) == len(rules)
    assert all(classic.limit and classic.unsafe for classic in NINE)


@pytest.mark.parametrize(("classic", "rule"), PAIRS, ids=lambda x: x if isinstance(x, str) else "")
def test_when_the_rule_fires_the_alert_carries_the_title_and_the_level(
    classic: Classic, rule: str, make_notice: Make
) -> None:
    firing = [case for case in find_rule(rule).cases if case.expect is Expect.FIRES]
    found = [f for case in firing for f in findings_of(case.run(), [rule])]
    assert found
    for finding in found:
        notice = make_notice(level=finding.severity, name=finding.name, rule=finding.rule, metric=finding.metric)
        assert classic_of(notice) is classic
        assert level_of(notice) is classic.level
        assert title_of(notice).startswith(f"{classic.title}: "[:63])
        assert len(title_of(notice)) < 64


@pytest.mark.parametrize("level", Severity)
def test_other_rules_keep_their_own_title_and_level(level: Severity, make_notice: Make) -> None:
    notice = make_notice(name="kl-overshoot", level=level, title="t" * 100)
    assert classic_of(notice) is None
    assert level_of(notice) is {"info": Level.INFO, "warning": Level.WARN, "error": Level.ERROR}[level.value]
    assert title_of(notice) == "t" * 62 + "…"


def test_a_finding_that_was_reduced_to_a_note_stays_a_note(make_notice: Make) -> None:
    assert level_of(make_notice(name="grad-norm-explosion", level=Severity.INFO)) is Level.INFO


def test_a_title_shows_no_control_characters(make_notice: Make) -> None:
    assert title_of(make_notice(name="nonfinite-metric", metric="a\x1b[2J")) == r"NaN in metrics: a\x1b[2J"


PPO, SAC = synth.like("PPO"), synth.like("SAC")
HEALTHY_BEYOND_THE_LIMIT: dict[str, tuple[str, Callable[[], RunLog], Callable[[np.ndarray], bool]]] = {
    "Gradient explosion": (
        "optim/grad_norm",
        lambda: PPO({"optim/grad_norm": synth.flat(3e4, 0.1)}),
        lambda x: float(x.max()) > 1e4,
    ),
    "Entropy collapse": (
        "policy/entropy",
        lambda: SAC({"policy/entropy": synth.ramp(2.0, -6.0, 0.02)}),
        lambda x: float(x.min()) < 0.01,
    ),
    "Q-value divergence": (
        "critic/q_mean",
        lambda: synth.like("SAC", config={"gamma": 0.99})(
            {"critic/q_mean": synth.ramp(0, 6000, 0.02), "critic/q2_mean": synth.ramp(0, 6010, 0.02)}
            | {"critic/target_mean": synth.ramp(0, 6000, 0.02), "critic/q_max": synth.ramp(10, 9000, 0.02)}
            | {"reward/episode_return_mean": synth.ramp(500, 60_000, 0.02)}
        ),
        lambda x: float(abs(x).max()) > 1000,
    ),
    "Excessive PPO clipping": (
        "policy/clip_fraction",
        lambda: PPO({"policy/clip_fraction": synth.spikes(0.1, 0.6, at=(0.3,)), "policy/kl_old": synth.flat(0.008)}),
        lambda x: float(x.max()) > 0.5,
    ),
    "Advantage explosion": (
        "advantage/abs_max",
        lambda: PPO({"advantage/abs_max": synth.flat(9000, 0.1), "advantage/std": synth.flat(2000)}),
        lambda x: float(x.max()) > 100,
    ),
    "Value function anti-correlated": (
        "critic/explained_variance",
        lambda: PPO({"critic/explained_variance": synth.ramp(-3.0, 0.9, 0.02, until=0.2)}),
        lambda x: float(x.min()) < -0.5,
    ),
}


@pytest.mark.parametrize("title", HEALTHY_BEYOND_THE_LIMIT)
def test_the_rules_are_silent_on_a_healthy_run_beyond_the_plain_limit(title: str) -> None:
    metric, run, beyond = HEALTHY_BEYOND_THE_LIMIT[title]
    classic = next(c for c in NINE if c.title == title)
    log = run()
    series = log.get(metric)
    assert series is not None
    assert beyond(np.asarray(series.curve.value))
    assert findings_of(log, classic.rules) == []
