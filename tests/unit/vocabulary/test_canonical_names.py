"""Logs under canonical names are recognised as such, and never steal the log of a framework."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

from firstbreak.api import load
from firstbreak.trainers import dqn, mmrkhs, ppo, sac, small
from firstbreak.trainers.jsonl_log import log_jsonl
from firstbreak.vocabulary import framework, map_keys, metrics, recognise

torch.set_num_threads(1)
KEYS = Path(__file__).parents[2] / "data" / "keys"
RECORDED = sorted(KEYS.glob("*.json"))
TENSORS = [
    "policy/entropy",
    "critic/explained_variance",
    "advantage/std",
    "policy/ess",
    "optim/grad_norm",
    "return/mean",
]


def test_every_canonical_metric_is_a_key_of_its_own_name() -> None:
    keys = [f"{name}/some/part" if spec.family else name for name, spec in metrics().items()]
    mapped = map_keys(keys, "firstbreak", "")
    assert [mapped[key].metric for key in keys] == list(metrics())
    assert {mapped[key].confidence for key in keys} == {"exact"}
    assert mapped["reward/component/some/part"].component == "some/part"
    assert framework("firstbreak").canonical


OFTEN: dict[str, Any] = {"log_every_steps": 25}
TRAINED: dict[str, Any] = {
    "PPO": (ppo.train, small.PPO_CONFIG, "CartPole-v1"),
    "DQN": (dqn.train, replace(small.DQN_CONFIG, **OFTEN), "CartPole-v1"),
    "SAC": (sac.train, replace(small.SAC_CONFIG, **OFTEN), "Pendulum-v1"),
    "MM-RKHS": (mmrkhs.train, small.MMRKHS_CONFIG, "CartPole-v1"),
}


@pytest.mark.parametrize("algorithm", TRAINED)
def test_the_log_of_a_reference_trainer_is_recognised(algorithm: str, tmp_path: Path) -> None:
    train, config, task = TRAINED[algorithm]
    log = log_jsonl(tmp_path / "metrics.jsonl", algorithm=algorithm, config=config)
    train(lambda: gym.make(task), total_steps=150, seed=0, config=config, log=log)
    for named in (True, False):
        found = load(tmp_path)
        assert (found.framework, found.algorithm, found.clock) == ("firstbreak", algorithm, "env_steps")
        assert {series.metric for series in found.series} <= set(metrics())
        assert found.unmapped.keys() <= {"env_steps"}  # the axis itself
        if named:
            (tmp_path / "config.json").unlink()  # then the keys alone tell the algorithm


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_canonical_names_beside_its_own_do_not_hide_a_framework(path: Path) -> None:
    log = json.loads(path.read_text("utf-8"))
    assert recognise([*log["keys"], *TENSORS], log["config"]).framework == log["framework"]


def test_a_few_canonical_names_may_be_chance() -> None:
    assert recognise(["policy/loss", "policy/entropy", "critic/loss", "loss"]).framework == ""
    assert recognise([*TENSORS, "loss"]).framework == "firstbreak"
