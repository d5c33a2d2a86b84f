"""The whole way on real runs: log, answer, variants, assessment, gate, page."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.faults.scoring import floors, scores, told
from benchmarks.faults.scoring.answer import Answer, answer_of
from benchmarks.faults.scoring.assessing import (
    FIRSTBREAK,
    Assessed,
    Sample,
    assess_group,
    groups_of,
    sample_of,
    unnamed,
)
from benchmarks.faults.scoring.catalogue import read_faults
from benchmarks.faults.scoring.corpus import as_guarded, read_manifest
from benchmarks.faults.scoring.document import document_of
from benchmarks.faults.scoring.gate import fallen, save_baseline
from benchmarks.faults.scoring.intervals import Estimate
from benchmarks.faults.scoring.logs import load_log, rows, write_log
from benchmarks.faults.scoring.others import answer_from, claimed, read_tools, with_peers
from benchmarks.faults.scoring.page import page_of
from benchmarks.faults.scoring.printing import in_detail, in_short
from benchmarks.faults.scoring.replay import live_alarms
from benchmarks.faults.scoring.summing import measured
from benchmarks.faults.scoring.variants import VARIANTS, powers, subsampled, without
from firstbreak.api import diagnose, load
from firstbreak.errors import InputError

from .recorded import RUNS, recorded

LIST = Path(__file__).parents[3] / "benchmarks" / "faults" / "faults.toml"
BASELINE = RUNS.parent / "baseline.json"
"""Scores of all eleven runs; made anew with `save_baseline(BASELINE, measured(runs), "all")`."""
NAMES = ("clean/0", "clean/1", "clean/2", "learning-rate-x30/1", "observation-zero/1")


@pytest.fixture(scope="module")
def assessed() -> list[Assessed]:
    entries = [e for e in read_manifest(RUNS) if e.id.endswith(NAMES)]
    fault = next(e.id for e in entries if "learning-rate" in e.id)
    return assess_group(RUNS, entries, read_faults(LIST), "all", Sample(frozenset([fault]), frozenset([fault])))


def test_a_log_is_read_by_the_reader_of_its_framework(tmp_path: Path):
    run = recorded("clean/0")
    assert write_log(run, tmp_path).name == "progress.json"
    log = load_log(run)
    assert (log.framework, log.algorithm, log.clock) == ("stable_baselines3", "PPO", "env_steps")
    assert log.provenance.readers == ("sb3",)
    assert log.get("policy/kl_old") is not None
    other = replace(run, framework="trl", clock="updates")
    assert write_log(other, tmp_path).name == "trainer_state.json"
    loop = replace(run, framework="hand-written")
    assert load_log(loop).algorithm == "PPO"


def test_rows_hold_every_number_once():
    run = recorded("clean/0")
    found = rows(run)
    assert sum(len(row) for _, row in found) == sum(len(steps) for steps, _ in run.keys.values())
    assert [step for step, _ in found] == sorted(step for step, _ in found)


def test_the_answer_is_that_of_diagnose():
    run = recorded("learning-rate-x30/1")
    log = load_log(run)
    diagnosis, answer = diagnose(log), answer_of(log)
    assert answer.verdict == str(diagnosis.verdict) == "broken"
    assert diagnosis.first_break is not None
    assert answer.named == str(diagnosis.first_break.link) == "policy_update"
    assert {a.name for a in answer.alarms} >= {f.name for f in diagnosis.findings if f.severity != "info"}


def test_an_alarm_comes_no_earlier_than_what_it_speaks_of():
    run = recorded("learning-rate-x30/1")
    log = load_log(run)
    for alarm in answer_of(log).alarms:
        part = {key: [(s, v) for s, v in zip(*curve, strict=True) if s <= alarm.at] for key, curve in run.keys.items()}
        said = diagnose(load(part, config=dict(run.config)))
        assert alarm.name in {f.name for f in said.findings}


def test_a_healthy_run_raises_nothing():
    assert answer_of(load_log(recorded("clean/1"))).alarms == ()


def test_variants_change_what_they_say_they_change():
    run = recorded("clean/0")
    log = load_log(run)
    gone = without(run, log, ("policy/kl_old",))
    assert "train/approx_kl" not in gone.keys
    assert len(gone.keys) == len(run.keys) - 1
    assert powers(log)["train/value_loss"] == 2
    assert powers(log)["rollout/ep_rew_mean"] == 1
    assert powers(log)["train/approx_kl"] == 0
    half = subsampled(run)
    assert len(half.keys["train/approx_kl"][0]) in range(10, len(run.keys["train/approx_kl"][0]) // 2 + 2)
    gaps = [1.0 if step % 10 == 0 else math.nan for step in range(60)]
    thin = subsampled(replace(run, keys={"eval": (tuple(map(float, range(60))), tuple(gaps))})).keys["eval"]
    assert [step for step, value in zip(*thin, strict=True) if value == 1.0] == [0, 20, 40, 50]
    other = VARIANTS["renamed"](run, log)
    assert other.metrics == log.metrics
    assert all(s.source_key.startswith("series_") for s in other.series if s.metric == "policy/kl_old")


def test_the_name_of_a_standard_task_is_put_into_what_a_monitor_recorded():
    run = recorded("clean/0")
    assert "env_id" not in as_guarded(run).config  # the framework's own log: as it was written
    guarded = as_guarded(replace(run, guarded=run.keys))
    assert guarded.config["env_id"] == "CartPole-v1"
    assert guarded.config["env_wrappers"] == "Faulty"
    assert "env_id" not in unnamed(guarded).config
    assert "env_id" not in as_guarded(replace(run, task="Corridor", guarded=run.keys)).config


def test_a_group_is_assessed(assessed: list[Assessed]):
    by_name = {run.id.partition("CartPole-v1/")[2]: run for run in assessed}
    broken = by_name["learning-rate-x30/1"]
    assert broken.measured is not None
    assert broken.measurable
    assert "optim/lr" in broken.measured.metrics
    assert scores.right_alarm(broken, FIRSTBREAK) is not None
    assert broken.removed is not None
    assert set(broken.variants) == set(VARIANTS)
    assert set(broken.answers) == {FIRSTBREAK, "reward only", "nine alerts"}
    assert scores.false_alarms(assessed, FIRSTBREAK).hits == 0


def test_scores_are_printed_and_written(assessed: list[Assessed]):
    text = in_short(assessed, "all") + in_detail(assessed)
    assert "detection recall" in text
    document = document_of(assessed, "all")
    json.dumps(document, allow_nan=False)
    assert document["runs"]["fault_runs"] == 2
    assert {miss["id"] for miss in document["misses"]} == {m["id"] for m in told.misses(assessed)}
    page = page_of(assessed, "all")
    assert "## Every miss" in page
    assert "RewardScope" in page


def test_a_monitor_hears_of_the_fault_while_the_run_goes():
    alarms = live_alarms(recorded("learning-rate-x30/1"))
    assert any("policy_update" in alarm.links for alarm in alarms)
    assert all(alarm.at >= 14400 for alarm in alarms)


def test_the_sample_is_fixed_and_grows_without_reshuffling():
    entries = read_manifest(RUNS)
    small = sample_of(entries[:-1], removed=50, faults=50, healthy=50)
    large = sample_of(entries, removed=50, faults=50, healthy=50)
    assert small.removed < large.removed
    assert sample_of(entries, 2, 1, 1) == sample_of(list(reversed(entries)), 2, 1, 1)
    assert [len(group) for group in groups_of(entries)] == [11]


def test_floors_are_what_they_say():
    flipped = load_log(recorded("reward-flipped/1"))
    assert floors.reward_only(flipped).alarms
    assert floors.reward_only(flipped).links == ()
    assert not floors.reward_only(load_log(recorded("clean/0"))).alarms
    kl = load({"policy/entropy": [0.6, 0.3, 0.005, 0.5], "optim/grad_norm": [1, 1, 1, float("nan")]})
    said = floors.nine_alerts(kl)
    assert [a.name for a in said.alarms] == ["entropy collapse", "NaN in metrics"]
    assert said.alarms[0].at == 2


def test_the_gate_fails_on_a_fall_beyond_the_interval(tmp_path: Path):
    path = tmp_path / "baseline.json"
    before = {"recall": Estimate(0.9, 0.8, 0.96, 50, 45), "false_alarms": Estimate(0.02, 0.0, 0.06, 90, 2)}
    save_baseline(path, before, "held")
    assert fallen(path, before, "held") == []
    assert fallen(path, before | {"recall": Estimate(0.81, 0.7, 0.9, 50, 40)}, "held") == []
    assert "recall" in fallen(path, before | {"recall": Estimate(0.79, 0.7, 0.9, 50, 39)}, "held")[0]
    assert "false_alarms" in fallen(path, before | {"false_alarms": Estimate(0.07, 0, 1, 90, 6)}, "held")[0]
    assert "no longer" in fallen(path, {"recall": before["recall"]}, "held")[0]
    with pytest.raises(InputError, match="no baseline"):
        fallen(path, before, "dev")


def test_no_score_of_the_recorded_runs_has_fallen():
    runs = assess_group(RUNS, read_manifest(RUNS), read_faults(LIST), "all", Sample())
    assert fallen(BASELINE, measured(runs), "all") == []
    assert scores.false_alarms(runs, FIRSTBREAK).hits == 0


def test_answers_of_other_tools_stand_beside(tmp_path: Path, assessed: list[Assessed]):
    broken = next(run.id for run in assessed if run.fault is not None)
    alarm = {"name": "kl", "links": ["policy_update"], "at": 20000.0, "message": "high"}
    document = {"tool": "other", "version": "1", "claims": ["policy_update"], "answers": {broken: {"alarms": [alarm]}}}
    (tmp_path / "other.json").write_text(json.dumps(document))
    (tool,) = read_tools(tmp_path)
    runs = with_peers(assessed, [tool])
    assert scores.right_alarm(next(r for r in runs if r.id == broken), tool.name) is not None
    assert [run.id for run in claimed(runs, tool)] == [broken]
    assert "other 1" in page_of(runs, "all", [tool])
    assert answer_from({"alarms": [], "refused": "no"}) == Answer("undecided")
    (tmp_path / "other.json").write_text(json.dumps(document | {"answers": {broken: {"alarms": [{"name": "x"}]}}}))
    with pytest.raises(InputError, match="no answers of a tool"):
        read_tools(tmp_path)
