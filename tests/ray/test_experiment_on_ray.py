"""An experiment on a Ray cluster: the verdict from the same pairs as on one machine, and the same answers to faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from firstbreak.cli import main
from firstbreak.errors import InputError
from firstbreak.experiments import Subject
from firstbreak.experiments.api import run_experiment
from firstbreak.experiments.plan import Protocol
from firstbreak.experiments.result import FOLDER
from firstbreak.experiments.running.executor import Local
from firstbreak.experiments.running.on_ray import OnRay
from firstbreak.experiments.shrink import ClusterSymptom
from firstbreak.isolation import Limits

pytestmark = pytest.mark.filterwarnings("ignore")
ROOT = Path(__file__).parents[2]
TOYS = "tests.unit.experiments.control.toy_trainers"
SUBJECT = Subject(f"{TOYS}:good", f"{TOYS}:arms", 200, given={"episodes": 5})
LIMITS = Limits(seconds=60.0, silence_s=60.0)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    there = {"env_vars": {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}}
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False,
             runtime_env=there)  # fmt: skip
    yield
    ray.shutdown()


def test_an_experiment_is_the_same_as_on_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    here, there = (
        run_experiment("reversed-reward", SUBJECT, Protocol(seeds=3), executor=executor, limits=LIMITS)
        for executor in (Local(1), OnRay())
    )
    assert (there.outcome, there.why, there.words) == (here.outcome, here.why, here.words)
    assert there.pairs == here.pairs
    assert there.effects == here.effects
    assert there.trials == here.trials


def test_several_trials_run_at_a_time_and_each_is_told_of_as_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    heard: list[int] = []
    subject = Subject(env=f"{TOYS}:arms", given={"expert": f"{TOYS}:last_arm"})
    result = run_experiment(
        "oracle-against-random", subject, executor=OnRay(), limits=LIMITS, tell=lambda p: heard.append(p.done)
    )
    assert heard == list(range(1, result.trials + 1))
    assert result.outcome.value == "refuted"


def test_what_the_subject_lacks_is_the_users_error_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    subject = Subject(f"{TOYS}:good", f"{TOYS}:arms", 200)
    with pytest.raises(InputError, match="parts of"):
        run_experiment("critic-only-fit", subject, executor=OnRay(), limits=LIMITS)


def test_a_trial_that_dies_is_answered_and_the_cluster_lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text("import os\ndef train(make_env, *, total_steps, seed):\n    os._exit(3)\n")
    subject = Subject(f"{tmp_path}/dying.py:train", f"{TOYS}:arms", 200)
    monkeypatch.syspath_prepend(str(ROOT))
    result = run_experiment("reversed-reward", subject, Protocol(seeds=2), executor=OnRay(), limits=LIMITS)
    assert result.outcome.value == "inconclusive"
    assert {trouble.how for trouble in result.troubles} == {"died"}
    assert ray.is_initialized()


def test_a_cluster_without_the_trainer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Without(OnRay):
        """Ships what no machine of the cluster can load, as where firstbreak itself is not installed there."""

        def __init__(self) -> None:
            super().__init__()
            self.ray.util.register_serializer(Subject, serializer=lambda one: one.trainer, deserializer=missing)

    def missing(text: str) -> Subject:
        raise ModuleNotFoundError("No module named 'firstbreak'")

    try:
        with pytest.raises(InputError, match="No module named 'firstbreak'"):
            run_experiment("reversed-reward", SUBJECT, Protocol(seeds=2), executor=Without(), limits=LIMITS)
    finally:
        ray.util.deregister_serializer(Subject)


def test_the_command_runs_on_the_cluster_that_there_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    words = ["experiment", "oracle-against-random", "--env", f"{TOYS}:arms", "--with", f"expert={TOYS}:last_arm"]
    assert main([*words, "--ray", "--run", str(tmp_path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["outcome"] == "refuted"
    assert len(list((tmp_path / FOLDER).glob("*.json"))) == 1


SHOWS = "def shows(config, seed):\n    return config['lr'] > 1 and config['clip'] is None\n"


def test_a_configuration_is_shrunk_on_the_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(SHOWS)
    (tmp_path / "bad.json").write_text('{"lr": 3, "clip": null, "batch": 64}')
    (tmp_path / "good.json").write_text('{"lr": 0.1, "clip": 0.2, "batch": 32}')
    words = ["--bad", str(tmp_path / "bad.json"), "--good", str(tmp_path / "good.json"), "--sure", "--format", "json"]
    assert main(["shrink", f"{tmp_path}/mine.py:shows", *words, "--ray"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert {d["key"] for d in made["needed"]} == {"lr", "clip"}


def test_a_run_that_dies_on_the_cluster_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "dying.py").write_text("import os\ndef shows(config, seed):\n    os._exit(3)\n")
    shows = ClusterSymptom(OnRay(), f"{tmp_path}/dying.py:shows", LIMITS)
    assert shows({}, 0) is None
    assert shows.ended
    assert ray.is_initialized()
