"""Real, very short runs of each kind of subject: the form of the corpus, the switch, resuming."""

from __future__ import annotations

import json
import math
import multiprocessing
import signal
import time
from dataclasses import replace
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.faults import gate, health, one_run, record
from benchmarks.faults.catalogue import tasks
from benchmarks.faults.executors import Here, Processes
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Recording, file_name, read_run, runs_in, write_run
from benchmarks.faults.scoring import corpus
from benchmarks.faults.scoring.logs import load_log

FIELDS = {
    "schema", "id", "subject", "framework", "algorithm", "task", "fault", "kind", "seed", "start_frac", "start_step",
    "config", "clock", "keys", "guarded", "truth", "died", "cpu_s", "versions", "end_step",
}  # fmt: skip
WALL_CLOCK = ("time/", "perf/")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def clean(subject: str, task: str) -> Plan:
    return Plan(subject, task, "healthy", "clean", 0)


def check_form(run: dict[str, Any], plan: Plan) -> None:
    assert set(run) == FIELDS
    assert run["schema"] == 1
    assert run["id"] == plan.id
    assert run["clock"] in ("env_steps", "updates")
    assert json.loads(json.dumps(run, allow_nan=False)) == run
    assert run["keys"]
    for steps, values in run["keys"].values():
        assert len(steps) == len(values) > 0
        assert all(isinstance(x, (int, float)) or x in ("nan", "inf", "-inf") for x in [*steps, *values])
        assert steps == sorted(steps)
        assert max(steps) <= run["end_step"]
    assert len(run["truth"]["step"]) == len(run["truth"]["score"]) > 0
    assert all(isinstance(value, (int, float, str, bool)) for value in run["config"].values())
    assert run["cpu_s"] > 0
    assert run["versions"]["torch"]


@pytest.mark.parametrize(
    ("subject", "task", "total", "key"),
    [
        ("sb3_ppo", "CartPole-v1", 1024, "rollout/ep_rew_mean"),
        ("sb3_dqn", "Catch", 800, "train/loss"),
        ("ppo", "CartPole-v1", 1024, "policy/kl_old"),
        ("mmrkhs", "Reach", 800, "policy/mmd"),
    ],
)
def test_a_run_has_the_form_of_the_corpus(subject: str, task: str, total: int, key: str, tmp_path: Path) -> None:
    plan = clean(subject, task)
    run = one_run.made(plan, total)
    check_form(run, plan)
    assert key in run["keys"]
    assert run["end_step"] >= total
    assert run["fault"] is None
    assert run["start_frac"] is None
    assert run["start_step"] is None
    assert read_run(write_run(tmp_path, run)) == run


def test_a_language_model_is_recorded_without_the_truth_in_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks.faults import language
    from firstbreak.trainers.language.model import TinyLM

    torch.manual_seed(0)
    monkeypatch.setattr(language, "started", lambda plan, config, puzzles: TinyLM())  # no warm start: not worth seconds
    plan = clean("grpo", "copy-reverse-count")
    run = one_run.made(plan, 5)
    check_form(run, plan)
    assert run["end_step"] == 5
    assert run["truth"]["step"] == [5]
    assert "reward/true_objective" not in run["keys"]


def without_clocks(run: dict[str, Any]) -> dict[str, Any]:
    return {key: rows for key, rows in run["keys"].items() if not key.startswith(WALL_CLOCK)}


@pytest.mark.parametrize(
    ("subject", "fault", "total", "frac"),
    [
        ("sb3_ppo", "observation-zero", 2560, 0.5),
        ("ppo", "reward-noise", 1536, 0.5),
        ("ppo", "advantage-flipped", 1536, 0.5),
    ],
)
def test_until_the_fault_is_switched_on_the_rows_are_those_of_the_twin(
    subject: str, fault: str, total: int, frac: float
) -> None:
    plan = Plan(subject, "CartPole-v1", "fault", fault, 0, frac)
    broken, twin = one_run.made(plan, total), one_run.made(clean(subject, "CartPole-v1"), total)
    began = broken["start_step"]
    assert began is not None
    assert abs(began - frac * total) <= 512
    before, changed = 0, 0
    for key, (steps, values) in without_clocks(broken).items():
        other = dict(zip(*without_clocks(twin)[key], strict=True))
        for step, value in zip(steps, values, strict=True):
            if step < began:
                assert value == other[step], (key, step)
                before += 1
            else:
                changed += value != other.get(step)
    assert before > 10
    assert changed > 10, "a fault that changes no row after its switch was not planted"


def test_a_fault_from_the_start_is_there_in_the_first_row() -> None:
    plan = Plan("ppo", "CartPole-v1", "fault", "discount-short", 0, 0.0)
    run = one_run.made(plan, 512)
    assert run["start_step"] == 0
    assert run["config"]["gamma"] == 0.3


def test_a_training_that_dies_of_its_fault_is_kept_with_its_rows() -> None:
    run = one_run.made(Plan("ppo", "CartPole-v1", "fault", "weights-nan", 0, 0.5), 1536)
    assert run["died"] or "nan" in str(run["keys"])
    assert run["keys"]["policy/entropy"][1][0] == pytest.approx(0.69, abs=0.05)


def test_a_training_that_dies_before_its_fault_is_no_result_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(*given: Any) -> None:
        raise ValueError("out of memory")

    from benchmarks.faults import reference

    monkeypatch.setattr(reference, "train", train)
    with pytest.raises(ValueError, match="out of memory"):
        one_run.made(Plan("ppo", "CartPole-v1", "fault", "weights-nan", 0, 0.5), 512)
    assert one_run.made(Plan("ppo", "CartPole-v1", "fault", "weights-nan", 0, 0.0), 512)["died"]


def test_what_a_monitor_measures_is_recorded_beside_the_log_and_read_in_its_place(tmp_path: Path) -> None:
    plan = Plan("sb3_ppo", "CartPole-v1", "fault", "observation-zero", 0, 0.5)
    run = one_run.made(plan, 4096)
    assert run["guarded"]["faults"] == []
    own = corpus.read_run(write_run(tmp_path, run))
    guarded = corpus.as_guarded(own)
    assert "obs/constant_frac" not in own.keys
    steps, dead = guarded.keys["obs/constant_frac"]
    assert [d for s, d in zip(steps, dead, strict=True) if s < own.start][-1] == 0
    assert dead[-1] == 1
    log = load_log(guarded)
    assert log.algorithm == "PPO"
    assert log.get("obs/constant_frac") is not None
    assert log.config["gamma"] == 0.99


def test_a_setting_that_is_not_finite_can_be_written(tmp_path: Path) -> None:
    recording = Recording()
    recording.log({"a": 1.0}, 1)
    recording.config = {"clip": math.inf, "name": "x", "n": 3}
    plan = clean("ppo", "CartPole-v1")
    run = one_run.in_form(plan, tasks()["ppo:CartPole-v1"], recording, "", 1.0)
    assert read_run(write_run(tmp_path, run))["config"] == {"clip": "inf", "name": "x", "n": 3}


# ---- recording ----------------------------------------------------------------------------------------------------


@pytest.fixture
def tiny_task(monkeypatch: pytest.MonkeyPatch) -> str:
    key = "ppo:CartPole-v1"
    monkeypatch.setitem(tasks(), key, replace(tasks()[key], total=512))
    return key


def test_a_recording_goes_on_where_it_was_broken_off(tiny_task: str, tmp_path: Path) -> None:
    wanted = [
        clean("ppo", "CartPole-v1"),
        Plan("ppo", "CartPole-v1", "fault", "reward-noise", 0, 0.0, "dev"),
        Plan("ppo", "CartPole-v1", "fault", "reward-noise", 1, 0.5, "dev"),
    ]
    record.record(tmp_path, wanted, Here(), 1e-9)  # the budget is gone after the first
    assert [path.name for path in runs_in(tmp_path)] == [file_name(wanted[0].id)]
    first = (tmp_path / file_name(wanted[0].id)).stat().st_mtime_ns
    record.record(tmp_path, wanted, Here(), float("inf"))
    assert len(list(runs_in(tmp_path))) == 3
    assert (tmp_path / file_name(wanted[0].id)).stat().st_mtime_ns == first
    record.write_manifest(tmp_path)
    listed = json.loads((tmp_path / "manifest.json").read_text(encoding="utf-8"))
    assert {row["id"] for row in listed} == {plan.id for plan in wanted}
    assert set(listed[0]) == {"id", "file", "subject", "task", "fault", "kind", "seed", "start_frac", "half"}
    assert all((tmp_path / row["file"]).exists() for row in listed)
    assert not gate.write_gate(tmp_path)[0].counts


def test_processes_hand_back_everything_that_was_asked() -> None:
    assert sorted(Processes(2).results(math.sqrt, [1, 4, 9, 16, 25])) == [(n * n, float(n)) for n in range(1, 6)]


def test_a_recording_that_is_stopped_leaves_no_process_behind() -> None:
    told = Processes(2).results(time.sleep, [0.0, 1e6, 1e6])
    assert next(told) == (0.0, None)
    children = multiprocessing.active_children()
    told.close()
    for child in children:
        # The pool's own thread waits for its workers, too: whoever asks second is told nothing until the first is done.
        ended = next((code for _ in range(600) if (code := ended_with(child)) is not None), None)
        # A worker that had not taken its job up yet ends by itself.
        assert ended in (0, -signal.SIGTERM)


def ended_with(child: BaseProcess) -> int | None:
    child.join(0.1)
    time.sleep(0.001)  # lets the other thread go on
    return child.exitcode


def test_half_a_file_is_never_taken_for_a_run(tmp_path: Path) -> None:
    (tmp_path / ".a__b__c__0.json.xz.123.part").write_bytes(b"half")
    assert list(runs_in(tmp_path)) == []


def test_numbers_that_are_none_are_words_and_texts_are_left_out() -> None:
    recording = Recording()
    recording.log({"a": float("nan"), "b": float("-inf"), "c": 1 / 3, "d": "text", "e": None, "f": True}, 1)
    found = {key: values for key, (_, values) in recording.keys.items()}
    assert found == {"a": ["nan"], "b": ["-inf"], "c": [0.3333333]}


def healthy_run(score: list[float]) -> dict[str, Any]:
    truth = {"step": list(range(1, len(score) + 1)), "score": score}
    return {"id": "a/b/clean/0", "fault": None, "kind": "healthy", "truth": truth, "end_step": len(score)}


def test_a_healthy_run_that_collapses_by_itself_is_told() -> None:
    rises = [float(i) for i in range(40)]
    assert health.collapsed([healthy_run(rises)]) == []
    assert health.collapsed([healthy_run([5.0, 4.0, 6.0, 5.0] * 10)]) == []
    (told,) = health.collapsed([healthy_run([*rises, *[0.0] * 20])])
    assert told["lost_frac"] == pytest.approx(1.0, abs=0.2)


@pytest.mark.full
def test_trl_is_recorded_too() -> None:
    plan = Plan("trl_grpo", "echo", "fault", "length-paid", 0, 0.5)
    run = one_run.made(plan, 8)
    check_form(run, plan)
    assert run["start_step"] == 4
    assert not any("true" in key for key in run["keys"])
