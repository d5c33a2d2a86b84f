"""The settings file: what it can say, and that a slip in it is never silent."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.config import CustomMetric, Ignore, Settings, chosen_rules, find_settings, read_settings, suppress
from firstbreak.errors import ConfigError, FirstbreakError, UnknownNameError, UnreadableError
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.registry import all_rules, find_rule
from firstbreak.report import pages
from firstbreak.rule import Status

FINDING = Finding(
    rule="RWD002",
    name="reward-flat",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    onset=Onset(0, 1),
    message="flat",
    metric="reward/train_mean",
)


def read(folder: Path, text: str) -> Settings:
    path = folder / "firstbreak.toml"
    path.write_text(text, "utf-8")
    return read_settings(path)


def test_the_nearest_file_upward_counts(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.firstbreak]\nselect = ["entropy-collapse"]\n')
    assert find_settings(inner / "run.jsonl").select == ("entropy-collapse",)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_settings(inner).select == ("entropy-collapse",)
    (tmp_path / "a" / "firstbreak.toml").write_text('select = ["POL001"]')
    assert find_settings(inner).select == ("kl-overshoot",)
    assert find_settings(inner).source == str(tmp_path / "a" / "firstbreak.toml")


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    settings = read(tmp_path, "")
    assert settings == Settings(source=settings.source)
    assert chosen_rules(settings) == all_rules()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("selct = []", "Did you mean 'select'"),
        ('select = "kl-overshoot"', "must be a list"),
        ('[[ignore]]\nrule = "reward-flat"', "needs a rule and a reason"),
        ('[[ignore]]\nreason = "because"', "needs a rule and a reason"),
        ('[[ignore]]\nrule = "reward-flat"\nreason = ""', "needs a rule and a reason"),
        ('[[ignore]]\nrule = "reward-flat"\nreason = "x"\nexpire = 2027-01-01', "Did you mean 'expires'"),
        ('[[ignore]]\nrule = "reward-flat"\nreason = "x"\nexpires = "2027-01-01"', "is not a date"),
        ('[metrics."a/b"]', "needs a table"),
        ('[metrics]\n"a/b" = "higher"', "needs a table"),
        ('[metrics."a/b"]\nbeter = "higher"', "Did you mean 'better'"),
        ('[metrics."a/b"]\nbetter = "up"', "better = 'up'"),
        ('[metrics."a/b"]\nlink = "rewards"', "'rewards' is not a valid Link"),
        ('[metrics."a/b"]\nlo = 2\nhi = 1', "leave no room"),
        ('[metrics."a/b"]\nlo = nan', "leave no room"),
        ('[metrics."a/b"]\nlo = "low"', "could not convert"),
        ('[severity]\nreward-flat = "fatal"', "'fatal' is not a valid Severity"),
        ("[rules]\nkl-overshoot = 3", "not iterable"),
        ("names = 3", "not iterable"),
        ("select = [", "not valid TOML"),
    ],
)
def test_a_slip_is_an_error_that_names_the_file_and_the_way_out(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(tmp_path / "firstbreak.toml") in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        'select = ["kl-overshot"]',
        '[[ignore]]\nrule = "kl-overshot"\nreason = "x"',
        "[rules.kl-overshot]\nupdates = 3",
        '[severity]\nkl-overshot = "info"',
    ],
)
def test_an_unknown_rule_is_met_with_the_nearest(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'kl-overshoot'"):
        read(tmp_path, text)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        read_settings(tmp_path / "absent.toml")
    (tmp_path / "firstbreak.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_settings(tmp_path / "firstbreak.toml")


def test_a_declared_metric(tmp_path: Path) -> None:
    settings = read(tmp_path, '[metrics."a/b"]\nlink = "critic"\nbetter = "lower"\nhi = 3\n[metrics.c]\nlo = 0')
    assert settings.custom == (CustomMetric("a/b", Link.CRITIC, "lower", hi=3.0), CustomMetric("c", lo=0.0))


def test_parameters_and_severities_reach_the_rule(tmp_path: Path) -> None:
    settings = read(
        tmp_path, '[rules.POL001]\nbound_nats = 9\nupdates = 4\n[severity]\nPOL001 = "warning"\nEXP001 = "info"'
    )
    rules = {rule.name: rule for rule in chosen_rules(settings)}
    assert len(rules) == len(all_rules())
    mine = rules["kl-overshoot"]
    assert (mine.params.bound_nats, mine.params.updates, mine.severity) == (9, 4, Severity.WARNING)
    assert rules["entropy-collapse"].severity is Severity.INFO
    assert mine.params_hash != next(r for r in all_rules() if r.name == "kl-overshoot").params_hash
    log = synth.like("PPO")({"policy/kl_old": synth.flat(5.0)})
    assert "kl-overshoot" not in {f.name for f in diagnose_log(log, settings).findings}


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"bound_nat": 1.0}, "Did you mean 'bound_nats'"),
        ({"bound_nats": "high"}, "is not of type float"),
        ({"updates": 2.5}, "is not of type int"),
        ({"updates": True}, "is not of type int"),
    ],
)
def test_a_wrong_parameter_is_refused(params: dict[str, object], said: str) -> None:
    with pytest.raises(FirstbreakError, match=said):
        chosen_rules(Settings(params={"kl-overshoot": params}))


def test_a_severity_limits_what_a_rule_grades_by_itself() -> None:
    log = synth.like("PPO")({"policy/loss": synth.after(0.5, synth.constant(float("nan")), synth.flat(-0.01))})
    plain = {f.name: f.severity for f in diagnose_log(log, Settings()).findings}
    assert plain["nonfinite-metric"] is Severity.ERROR
    told = diagnose_log(log, Settings(severity={"nonfinite-metric": Severity.INFO}))
    assert {f.name: f.severity for f in told.findings}["nonfinite-metric"] is Severity.INFO
    assert told.verdict.value != "broken" or any(f.severity is Severity.ERROR for f in told.findings)


def test_a_rule_in_preview_is_heard_where_its_severity_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    young = replace(find_rule("nonfinite-metric"), status=Status.PREVIEW)
    monkeypatch.setattr("firstbreak.config.all_rules", lambda: (young,))
    log = synth.like("PPO")({"policy/loss": synth.after(0.5, synth.constant(float("nan")), synth.flat(-0.01))})

    def said(settings: Settings) -> list[Severity]:
        return [finding.severity for finding in diagnose_log(log, settings).findings]

    monkeypatch.setattr("firstbreak.report.pages.all_rules", lambda: (young,))
    assert "preview: a note only" in " ".join(pages.explain("nonfinite-metric").split())
    assert "(preview)" in pages.rules_table([young])
    assert said(Settings()) == [Severity.INFO]
    assert said(Settings(severity={"nonfinite-metric": Severity.WARNING})) == [Severity.WARNING]


def test_an_ignored_finding_keeps_its_reason_and_counts_for_nothing() -> None:
    log = synth.like("PPO")({"policy/kl_old": synth.flat(5.0)})
    assert diagnose_log(log, Settings(select=("kl-overshoot",))).verdict.value == "broken"
    told = diagnose_log(log, Settings(select=("kl-overshoot",), ignore=(Ignore("kl-overshoot", "on purpose"),)))
    assert [f.ignored for f in told.findings] == ["on purpose"]
    assert told.first_break is None


@pytest.mark.parametrize(
    ("entry", "ignored"),
    [
        (Ignore("reward-flat", "sparse"), True),
        (Ignore("reward-noisy", "other rule"), False),
        (Ignore("reward-flat", "that run", run="*/ablation/*"), True),
        (Ignore("reward-flat", "another run", run="*/main/*"), False),
        (Ignore("reward-flat", "until today", expires=date(2026, 1, 2)), True),
        (Ignore("reward-flat", "until yesterday", expires=date(2026, 1, 1)), False),
    ],
)
def test_whom_an_entry_concerns_and_until_when(entry: Ignore, ignored: bool) -> None:
    found = suppress(FINDING, "runs/ablation/3", Settings(ignore=(entry,)), date(2026, 1, 2))
    assert found.ignored == (entry.reason if ignored else "")


def test_a_time_of_day_may_stand_behind_the_date(tmp_path: Path) -> None:
    settings = read(tmp_path, '[[ignore]]\nrule = "RWD002"\nreason = "x"\nexpires = 2027-01-31T12:00:00')
    assert settings.ignore == (Ignore("reward-flat", "x", expires=date(2027, 1, 31)),)
