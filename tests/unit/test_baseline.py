"""Healthy siblings: what they do as well is no fault of this run, unless it is impossible or forbidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from firstbreak import synth
from firstbreak.api import diagnose_log, diagnose_runs
from firstbreak.baseline import excuse, share_inside
from firstbreak.config import Settings
from firstbreak.finding import Component, Finding, Link, Onset, Severity
from firstbreak.monitor.record import Recorder
from firstbreak.runlog import RunLog
from firstbreak.series import WHOLE_RUN

METRIC = "policy/entropy"


def run_of(shape: synth.Shape, seed: int = 0, n: int = 100) -> RunLog:
    return synth.run({METRIC: shape}, n=n, seed=seed)


SIBLINGS = [run_of(synth.ramp(1.4, 0.1, 0.03), seed) for seed in (1, 2, 3)]
FINDING = Finding(
    rule="EXP001",
    name="entropy-collapse",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    onset=Onset(60.0, 70.0, "updates"),
    message="entropy fell to 0.1 nats",
    metric=METRIC,
)


def test_a_finding_is_excused_when_the_siblings_do_the_same() -> None:
    excused = excuse(FINDING, run_of(synth.ramp(1.4, 0.1, 0.03)), SIBLINGS)
    assert excused.severity is Severity.INFO
    assert excused.evidence["baseline_runs"] == 3
    assert float(excused.evidence["inside_baseline_frac"]) >= 0.9
    assert excused.message == FINDING.message


def test_it_stands_when_they_do_not() -> None:
    assert excuse(FINDING, run_of(synth.ramp(1.4, -4.0, 0.03)), SIBLINGS) is FINDING


def test_a_static_finding_is_never_excused() -> None:
    static = replace(FINDING, static=True)
    assert excuse(static, run_of(synth.ramp(1.4, 0.1, 0.03)), SIBLINGS) is static


def test_what_the_siblings_never_logged_excuses_nothing() -> None:
    mine = run_of(synth.ramp(1.4, 0.1, 0.03))
    others = [synth.run({"policy/loss": synth.flat(1.0)}, n=100)]
    assert excuse(FINDING, mine, others) is FINDING
    assert excuse(FINDING, mine, []) is FINDING
    assert excuse(FINDING, others[0], SIBLINGS) is FINDING


def test_only_points_from_the_onset_on_and_where_siblings_have_some_count() -> None:
    mine = run_of(synth.jump(9.0, 1.0, at=0.5, noise=0.0)).series[0]
    sibling = run_of(synth.constant(1.0), n=80)
    assert share_inside(mine, [sibling], WHOLE_RUN, 51.0) == 1.0
    share = share_inside(mine, [sibling], WHOLE_RUN, 0.0)
    assert share == pytest.approx(30 / 80)
    assert share_inside(mine, [sibling], WHOLE_RUN, 90.0) is None


def test_siblings_that_were_nan_say_nothing() -> None:
    mine = run_of(synth.constant(1.0)).series[0]
    assert share_inside(mine, [run_of(synth.constant(float("nan")))], WHOLE_RUN, 0.0) is None
    mixed = [run_of(synth.constant(float("nan"))), run_of(synth.constant(1.0))]
    assert share_inside(mine, mixed, WHOLE_RUN, 0.0) == 1.0


def test_a_diagnosis_with_siblings_of_its_own_kind_keeps_only_what_is_forbidden() -> None:
    broken = {"policy/kl_old": synth.jump(0.01, 3.0, at=0.5)}
    log = synth.like("PPO")(broken)
    siblings = [synth.like("PPO", seed=s)(broken) for s in (1, 2)]
    loud = {f.name for f in diagnose_log(log, Settings(), baseline=siblings).findings if f.severity is Severity.ERROR}
    assert "kl-overshoot" in loud


def test_a_run_among_the_healthy_ones_is_not_held_against_itself(tmp_path: Path) -> None:
    broken = {"policy/kl_old": synth.jump(0.01, 3.0, at=0.5), "policy/clip_fraction": synth.jump(0.1, 0.95, at=0.5)}
    for name, log in {"a": synth.like("PPO")(broken), "b": synth.like("PPO", seed=1)()}.items():
        recorder = Recorder(tmp_path / name, algorithm="PPO", clock="updates")
        for row in range(120):
            recorder.metrics({s.metric: float(s.value[row]) for s in log.series}, float(row + 1))
        recorder.close()
    alone = {f.name: f.severity for f in diagnose_runs(tmp_path / "a")[0].findings}
    among = diagnose_runs(tmp_path / "a", baseline=tmp_path)[0]
    assert among.log.against is not None
    assert among.log.against.runs == 1  # b, not a itself
    assert {f.name: f.severity for f in among.findings} == alone
    assert Severity.ERROR in alone.values()
