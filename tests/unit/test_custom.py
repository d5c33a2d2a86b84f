"""Metrics that the user declares: from the settings to a finding that names the user's own key."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from firstbreak.api import diagnose_log
from firstbreak.config import CustomMetric, Settings, read_settings
from firstbreak.custom import declare
from firstbreak.finding import Finding, Link
from firstbreak.loading import load
from firstbreak.preflight.checklist.settings import proper
from firstbreak.runlog import RunLog
from firstbreak.series import Confidence
from firstbreak.synth import HEALTHY, like

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
KEY = "my/judge"
FALLING = np.linspace(0.9, 0.2, 120) + 0.02 * np.random.default_rng(0).standard_normal(120)


def logged(values: np.ndarray) -> RunLog:
    """A healthy run that also logs the user's key."""
    curves = {s.metric: s.curve.value for s in like("PPO")().series}
    assert KEY not in curves
    return load({**curves, KEY: values}, config={"algorithm": "PPO"})


def found(log: RunLog, one: CustomMetric) -> dict[str, Finding]:
    return {f.name: f for f in diagnose_log(log, Settings(custom=(one,))).findings if "custom/" in f.metric}


def test_a_declared_key_becomes_a_series() -> None:
    log = logged(FALLING)
    assert KEY in log.unmapped
    one = CustomMetric(KEY, Link.REWARD_SIGNAL, "higher", 0.0, 1.0)
    declared = declare(log, [one])
    series = declared.get("custom/my/judge")
    assert series is not None
    assert (series.source_key, series.confidence) == (KEY, Confidence.USER)
    assert series.custom == {"key": KEY, "link": "reward_signal", "better": "higher", "lo": 0.0, "hi": 1.0}
    assert series.value.tolist() == FALLING.tolist()
    assert KEY not in declared.unmapped
    assert len(declared.series) == len(log.series) + 1
    assert declare(declared, [one]) is declared


def test_a_key_that_is_not_logged_or_has_a_name_already_is_passed_over() -> None:
    log = logged(FALLING)
    known = log.series[0].source_key
    assert declare(log, [CustomMetric("absent"), CustomMetric(known, better="higher")]) is log


def test_worsening_is_found_under_the_users_own_name() -> None:
    finding = found(logged(FALLING), CustomMetric(KEY, Link.EXPLORATION, "higher"))["custom-metric-worsens"]
    assert finding.message.startswith("my/judge (higher is better, exploration) went from ")
    assert finding.evidence["declared_link"] == "exploration"
    assert finding.severity.value == "warning"
    assert finding.onset.lo < 60


def test_the_same_course_is_an_improvement_where_lower_is_better() -> None:
    assert found(logged(FALLING), CustomMetric(KEY, None, "lower")) == {}
    assert found(logged(FALLING), CustomMetric(KEY)) == {}
    assert "custom-metric-worsens" in found(logged(FALLING[::-1]), CustomMetric(KEY, None, "lower"))


def test_declared_bounds_are_hard() -> None:
    finding = found(logged(FALLING), CustomMetric(KEY, lo=0.5))["impossible-value"]
    assert finding.metric == "custom/my/judge"
    assert "bound 0.5" in finding.message
    assert found(logged(FALLING), CustomMetric(KEY, lo=0.0, hi=1.0)) == {}


def test_a_declared_metric_that_stops_being_finite() -> None:
    broken = np.where(np.arange(120) < 80, 0.5, np.nan)
    finding = found(logged(broken), CustomMetric(KEY))["nonfinite-metric"]
    assert (finding.onset.lo, finding.onset.hi) == (79.0, 80.0)
    assert found(logged(np.where(np.arange(120) % 3, np.nan, 0.5)), CustomMetric(KEY)) == {}


def test_without_a_declaration_nothing_is_counted_as_not_looked_at() -> None:
    coverage = diagnose_log(like("PPO")(), Settings()).coverage
    (mine,) = [s for s in coverage.skipped if s.name == "custom-metric-worsens"]
    assert not mine.applies
    assert "custom/" not in " ".join(HEALTHY["PPO"])


def examples() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_examples_of_the_page_are_read_as_they_are_told(tmp_path: Path) -> None:
    *joined, alone = examples()  # the last one shows the table [preflight] once more
    assert len(joined) == 7
    path = tmp_path / "firstbreak.toml"
    path.write_text(alone, "utf-8")
    own = read_settings(path).preflight
    proper(own)
    assert (own["metric_direction"], own["shaping"], own["potential"]) == (
        "lower",
        "my_envs:progress",
        "my_envs:height",
    )
    path.write_text("\n".join(joined), "utf-8")
    settings = read_settings(path)
    assert settings.select == ("kl-overshoot", "entropy-collapse")
    assert [(e.rule, e.run, str(e.expires)) for e in settings.ignore] == [
        ("reward-flat", "*", "None"),
        ("clip-fraction-high", "*/ablation_clip/*", "2027-01-31"),
    ]
    assert settings.custom[0] == CustomMetric("my/judge_agreement", Link.REWARD_SIGNAL, "higher", 0.0, 1.0)
    assert settings.params == {"kl-overshoot": {"bound_nats": 2.0, "updates": 3}}
    assert {name: s.value for name, s in settings.severity.items()} == {
        "step-time-tail": "info",
        "entropy-collapse": "error",
    }
    assert settings.preflight["environment"] == "my_envs:make_env"
    log = load({"train/my_kl": FALLING, "rewards/format": FALLING}, map=settings.names)
    assert log.metrics == ("policy/kl_old", "reward/component")
    assert [s.component for s in log.scopes("reward/component")] == ["format"]


def test_every_example_stands_alone_too(tmp_path: Path) -> None:
    for number, example in enumerate(examples()):
        path = tmp_path / f"{number}.toml"
        path.write_text(example, "utf-8")
        assert read_settings(path) != Settings(source=str(path))
