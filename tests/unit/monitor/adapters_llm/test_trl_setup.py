"""Settings that are in force and no longer those of the first update."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters.parts.trl.setup import DATA, POLICY, REWARD, SAMPLE, Setup

STILL = {REWARD: 0.0, SAMPLE: 0.0, POLICY: 0.0, DATA: 0.0}


def trainer() -> Any:
    return SimpleNamespace(
        args=SimpleNamespace(max_grad_norm=1.0),
        loss_type="dapo",
        temperature=1.0,
        num_generations=8,
        reward_funcs=[len],
        reward_weights=torch.ones(1),
        processing_class=SimpleNamespace(padding_side="left", chat_template="{{ x }}"),
        generation_config=SimpleNamespace(temperature=1.0, max_new_tokens=8, watermark=object()),
    )


OPTIMIZER = SimpleNamespace(param_groups=[{"params": [], "lr": 0.1, "betas": (0.9, 0.999)}])


def nothing(subject: Any) -> None:
    del subject


def exchanged(subject: Any) -> None:
    subject.reward_funcs[0] = max


def reweighted(subject: Any) -> None:
    subject.reward_weights = torch.zeros(1)


def hotter(subject: Any) -> None:
    subject.generation_config.temperature = 5.0


def summed(subject: Any) -> None:
    subject.loss_type = "bnpo"


def unclipped(subject: Any) -> None:
    subject.args.max_grad_norm = 1e9


def shorter(subject: Any) -> None:
    subject.generation_config.max_new_tokens = 1


def padded(subject: Any) -> None:
    subject.processing_class.padding_side = "right"


@pytest.mark.parametrize(
    ("change", "metric"),
    [
        (exchanged, REWARD),
        (reweighted, REWARD),
        (hotter, SAMPLE),
        (summed, POLICY),
        (unclipped, POLICY),
        (shorter, DATA),
        (padded, DATA),
    ],
)
def test_a_setting_that_moved_once_and_stands_still(change: Any, metric: str):
    subject = trainer()
    setup = Setup(subject)
    assert [setup.row(OPTIMIZER) for _ in range(3)] == [STILL] * 3
    change(subject)
    assert setup.row(OPTIMIZER) == STILL, "it may move on"
    assert setup.row(OPTIMIZER) == {**STILL, metric: 1.0}
    assert setup.row(OPTIMIZER) == {**STILL, metric: 1.0}


def test_a_setting_that_goes_on_moving_is_a_schedule():
    subject = trainer()
    setup = Setup(subject)
    for temperature in (1.0, 1.0, 0.9, 0.8, 0.7, 0.6, 0.6, 0.6):
        subject.generation_config.temperature = temperature
        assert setup.row(OPTIMIZER) == STILL


def test_a_setting_that_comes_back_is_as_it_was():
    subject = trainer()
    setup = Setup(subject)
    setup.row(OPTIMIZER)
    hotter(subject)
    setup.row(OPTIMIZER)
    subject.generation_config.temperature = 1.0
    assert [setup.row(OPTIMIZER) for _ in range(2)] == [STILL] * 2


def test_betas_count_and_learning_rates_do_not():
    setup = Setup(trainer())
    groups = SimpleNamespace(param_groups=[{"params": [], "lr": 0.1, "betas": (0.9, 0.999)}])
    setup.row(groups)
    groups.param_groups[0]["lr"] = 9.0
    assert [setup.row(groups) for _ in range(2)] == [STILL] * 2
    groups.param_groups[0]["betas"] = (0.0, 0.999)
    setup.row(groups)
    assert setup.row(groups) == {**STILL, POLICY: 1.0}


def test_of_a_vllm_what_the_trainer_hands_to_it():
    subject = SimpleNamespace(use_vllm=True, vllm_generation=SimpleNamespace(temperature=1.0, generation_kwargs={}))
    setup = Setup(subject)
    setup.row(None)
    subject.vllm_generation.generation_kwargs = {"temperature": 0.2}
    setup.row(None)
    assert setup.row(None) == {SAMPLE: 1.0}, "of what it has no settings of, nothing is said"
