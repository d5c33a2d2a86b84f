"""A library's trainer is asked with the settings of the run, and with the library's own where the log does not tell."""

from __future__ import annotations

import inspect
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import stable_baselines3

from firstbreak.cli import main
from firstbreak.experiments import Subject
from firstbreak.experiments.catalogue.one_epoch_one_minibatch import symptom
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.options import insist_on_known
from firstbreak.experiments.settle.as_run import KEYWORDS, TAKEN, USUAL, as_the_run, settings_of_run, steps_of_run
from firstbreak.experiments.settle.from_log import told_by
from firstbreak.loading import load
from firstbreak.probes.adapters.sb3 import SETTINGS
from firstbreak.runlog import RunLog

LR01 = Path(__file__).parents[4] / "tests" / "data" / "logs" / "sb3_ppo_lr01"


def log(algorithm: str = "PPO", rate: Any = (0.1, 0.1, 0.1), **config: Any) -> RunLog:
    made = load({"optim/lr": [(i, float(v)) for i, v in enumerate(rate)]})
    return replace(made, framework="stable_baselines3", algorithm=algorithm, config=config)


def test_what_the_log_tells_comes_before_what_the_library_takes() -> None:
    found = settings_of_run(log(n_steps=512, ent_coef=0.01, policy="MlpPolicy"), "sb3:PPO")
    assert found["learning_rate"] == 0.1
    assert found["n_steps"] == 512
    assert found["ent_coef"] == 0.01
    assert found["n_epochs"] == 10
    assert "policy" not in found


@pytest.mark.parametrize(
    ("trainer", "made_by"), [("mine.py:train", "PPO"), ("sb3:SAC", "PPO"), ("sb3:TD3", "TD3"), ("sb3:PPO", "A2C")]
)
def test_another_trainer_is_left_as_it_is(trainer: str, made_by: str) -> None:
    assert settings_of_run(log(made_by), trainer) == {}
    subject = Subject(trainer, "CartPole-v1")
    assert as_the_run(subject, log(made_by)) is subject


def test_an_experiment_is_as_long_as_the_run_where_the_log_counts_environment_steps() -> None:
    counted = replace(log(), clock="env_steps")
    assert steps_of_run(counted) == 2
    assert steps_of_run(replace(counted, clock="updates")) is None
    assert as_the_run(Subject("sb3:PPO", "CartPole-v1"), counted).steps == 2
    assert as_the_run(Subject("sb3:PPO", "CartPole-v1", 500), counted).steps == 500


def test_a_run_of_another_framework_tells_nothing() -> None:
    assert settings_of_run(replace(log(), framework="torchrl"), "sb3:PPO") == {}


def test_a_rate_that_moves_is_not_taken_for_one_number() -> None:
    assert settings_of_run(log(rate=(3e-3, 2e-3, 1e-3)), "sb3:PPO")["learning_rate"] == USUAL["PPO"]["learning_rate"]


@pytest.mark.parametrize("algorithm", sorted(USUAL))
def test_the_library_takes_these_and_the_probes_others(algorithm: str) -> None:
    parameters = inspect.signature(getattr(stable_baselines3, algorithm).__init__).parameters
    taken = {name: p.default for name, p in parameters.items()}
    assert {k: v for k, v in USUAL[algorithm].items() if k != "n_envs"} == {
        k: taken[k] for k in USUAL[algorithm] if k != "n_envs"
    }
    other = {k for k, v in SETTINGS[algorithm].items() if k != "n_envs" and taken[k] != v}
    assert other <= set(USUAL[algorithm]), "what the probes change is put back"
    assert {KEYWORDS.get(name, name) for name in TAKEN[algorithm]} <= {*taken, "n_envs"}


def test_the_command_that_is_named_holds_them_and_can_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    main(["settle", str(LR01), "--trainer", "sb3:PPO", "--env", "CartPole-v1", "--set", "n_epochs=3"])
    printed = capsys.readouterr().out
    (command,) = [line.strip() for line in printed.splitlines() if "firstbreak experiment one-epoch" in line]
    words = shlex.split(command)
    assert {"learning_rate=0.1", "n_steps=2048", "policy_kwargs={}", "n_epochs=3"} <= set(words)
    assert "n_epochs=10" not in words, "the user's own word counts"
    assert words[words.index("--steps") + 1] == "51200", "as long as the run"
    given = dict(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "--with")
    insist_on_known({k: float(v) for k, v in given.items()}, find_experiment("one-epoch-one-minibatch"))


def test_an_experiment_that_trains_nothing_is_not_told_settings(capsys: pytest.CaptureFixture[str]) -> None:
    scaled = LR01.parent / "sb3_sac_pendulum_rx1000"
    main(["settle", str(scaled), "--trainer", "sb3:SAC", "--env", "Pendulum-v1"])
    commands = [line for line in capsys.readouterr().out.splitlines() if "firstbreak experiment" in line]
    assert any("rescore-golden-set" in line for line in commands)
    for line in commands:
        assert ("learning_rate=" in line) == ("rescore-golden-set" not in line)


def test_a_control_that_stays_where_the_run_left_its_data_is_not_the_run() -> None:
    far = load({"policy/kl_old": [(0, 35.0), (1, 7.0)]})
    near = load({"policy/kl_old": [(0, 0.01), (1, 7.0)]})
    assert told_by("one-epoch-one-minibatch", far) == {"logged_kl": 35.0}
    assert told_by("one-epoch-one-minibatch", near) == {}, "what begins later is not seen in a first round"
    controls = [{"left_nats": 0.01}, {"left_nats": 0.02}]
    assert "not as it was in the run" in symptom(controls, Subject(given={"logged_kl": 35.0}))
    assert symptom(controls, Subject()) == ""
    assert symptom([{"left_nats": 0.5}], Subject(given={"logged_kl": 35.0})) == ""
