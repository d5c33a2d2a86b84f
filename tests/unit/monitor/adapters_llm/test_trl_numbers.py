"""How the TRL callback reads a trainer's lists, checked against a trainer that keeps them as TRL does."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.monitor.adapters.trl import MonitorCallback
from firstbreak.monitor.core import Monitor
from firstbreak.vocabulary import map_keys

torch.set_num_threads(1)
K, GROUPS = 4, 3


class Trainer:
    """The parts of TRL's GRPOTrainer that hold numbers, filled and emptied in its way."""

    def __init__(self, weights: tuple[float, ...] = (1.0,), **args: Any) -> None:
        self._metrics: dict[str, Any] = {"train": defaultdict(list), "eval": defaultdict(list)}
        size = K * GROUPS
        self._logs = {
            "rewards": defaultdict(lambda: deque(maxlen=size)),
            "advantages": deque(maxlen=size),
        }
        self.reward_func_names = [f"f{i}" for i in range(len(weights))]
        self.reward_weights = torch.tensor(weights)
        self.num_generations = K
        self.args = SimpleNamespace(
            **{"steps_per_generation": 1, "num_iterations": 1, "gradient_accumulation_steps": 1, **args}
        )
        self.optimizer = SimpleNamespace(param_groups=[{"lr": 0.5}])

    def add_callback(self, callback: Any) -> None:
        """Every trainer has this; here nobody is called back."""

    def training_step(self, loss: float) -> torch.Tensor:
        return torch.tensor(loss)

    def _get_grad_norm(self, norm: float) -> torch.Tensor:
        return torch.tensor(norm)

    def generate(self, rewards: np.ndarray, advantages: np.ndarray) -> None:
        for name, column in zip(self.reward_func_names, rewards, strict=True):
            self._logs["rewards"][name].extend(column.tolist())
        self._logs["advantages"].extend(advantages.tolist())
        self._metrics["train"]["reward"].append(float(np.nanmean(rewards[0])))
        self._metrics["train"]["frac_reward_zero_std"].append(0.0)


def callback(trainer: Any) -> MonitorCallback:
    return MonitorCallback(Monitor(framework="trl", algorithm="GRPO"), trainer)


NUMBERS = st.floats(-10, 10) | st.just(math.nan)


@given(st.lists(st.tuples(st.lists(NUMBERS, max_size=4), st.sampled_from(["keep", "clear", "replace"])), max_size=8))
def test_each_row_is_the_mean_of_what_came_since_the_last(steps: list[tuple[list[float], str]]) -> None:
    trainer = Trainer()
    found = callback(trainer)
    for values, then in steps:
        trainer._metrics["train"]["x"].extend(values)
        row = found.row(trainer.optimizer)
        valid = [v for v in values if not math.isnan(v)]
        if not values:
            assert "x" not in row
        elif not valid:
            assert math.isnan(row["x"])
        else:
            assert row["x"] == pytest.approx(sum(valid) / len(valid))
        if then == "clear":  # as GRPO does when it logs
            trainer._metrics["train"].clear()
        elif then == "replace":  # as it does with `num_tokens`
            trainer._metrics["train"]["x"] = []


def test_lists_of_the_online_dpo_kind_are_read_too() -> None:
    trainer = SimpleNamespace(stats={"objective/kl": [1.0, 3.0]}, optimizer=None, add_callback=print)
    found = callback(trainer)
    assert found.row(None)["objective/kl"] == 2.0
    trainer.stats = {"objective/kl": [5.0]}
    assert found.row(None)["objective/kl"] == 5.0


def test_loss_gradient_norm_and_learning_rate_are_those_of_the_update() -> None:
    trainer = Trainer()
    found = callback(trainer)
    trainer.training_step(1.0)
    trainer.training_step(math.nan)
    trainer._get_grad_norm(7.0)
    row = found.row(trainer.optimizer)
    assert math.isnan(row["loss"])
    assert (row["grad_norm"], row["learning_rate"]) == (7.0, 0.5)
    trainer.training_step(2.0)
    assert found.row(trainer.optimizer) == {"loss": 2.0, "learning_rate": 0.5}


def twin(rewards: np.ndarray, weights: tuple[float, ...], advantages: np.ndarray) -> dict[str, float]:
    """The same numbers, slowly."""
    total = []
    for column in rewards.T:
        scored = [w * r for w, r in zip(weights, column, strict=True) if not math.isnan(r)]
        total.append(sum(scored) if scored else math.nan)
    groups = [total[i : i + K] for i in range(0, len(total), K)]
    kept = [[r for r in group if not math.isnan(r)] for group in groups]
    some = [group for group in kept if group]
    return {
        "frac_reward_zero_std": sum(max(g) == min(g) for g in some) / len(some),
        "group/reward_std_mean": float(np.mean([np.std(g, ddof=1) for g in kept if len(g) > 1])),
        "reward/train_min": min(r for g in kept for r in g),
        "reward/train_max": max(r for g in kept for r in g),
        "advantage/mean": float(np.mean(advantages)),
        "advantage/std": float(np.std(advantages)),
        "advantage/abs_mean": float(np.mean(np.abs(advantages))),
    }


@given(st.integers(0, 10_000), st.sampled_from([(1.0,), (1.0, 0.0), (0.5, 2.0)]), st.booleans())
def test_group_statistics_are_those_of_a_slow_twin(seed: int, weights: tuple[float, ...], holes: bool) -> None:
    rng = np.random.default_rng(seed)
    rewards = rng.integers(0, 3, (len(weights), K * GROUPS)).astype(float)
    if holes:
        rewards[rng.random(rewards.shape) < 0.2] = math.nan
        rewards[:, :2] = 1.0
    advantages = rng.normal(size=K * GROUPS)
    trainer = Trainer(weights)
    found = callback(trainer)
    trainer.generate(rewards, advantages)
    row = found.row(trainer.optimizer)
    for name, value in twin(rewards, weights, advantages).items():
        assert row[name] == pytest.approx(value, rel=1e-4, abs=1e-6), name
    assert "reward/train_mean" not in row
    assert "group/reward_std_mean" not in found.row(trainer.optimizer), "nothing new was generated"


def with_loss(trainer: Any, new: torch.Tensor) -> None:
    """Give the trainer a loss of TRL's form."""
    trainer._get_per_token_logps_and_entropies = lambda *_: (new, None, None)

    def loss(_model: Any, _inputs: Any) -> torch.Tensor:
        return trainer._get_per_token_logps_and_entropies()[0].sum()

    trainer._compute_loss = loss


def test_importance_ratios_are_over_the_response_tokens_of_all_micro_batches() -> None:
    trainer = Trainer()
    new = torch.tensor([[0.1, -0.2, 0.3], [0.0, 0.4, 9.0]], requires_grad=True)
    with_loss(trainer, new)
    found = callback(trainer)
    mask = torch.tensor([[1, 1, 1], [1, 1, 0]])
    old = torch.zeros(2, 3)
    for _ in range(2):
        trainer._compute_loss(None, {"completion_mask": mask, "old_per_token_logps": old})
    gaps = np.array([0.1, -0.2, 0.3, 0.0, 0.4] * 2)
    ratios = np.exp(gaps)
    row = found.row(trainer.optimizer)
    assert row["policy/ratio_mean"] == pytest.approx(ratios.mean(), rel=1e-5)
    assert row["policy/ratio_max"] == pytest.approx(ratios.max(), rel=1e-5)
    assert row["policy/kl_old"] == pytest.approx((ratios - 1 - gaps).mean(), rel=1e-4)
    assert row["policy/ess"] == pytest.approx(ratios.sum() ** 2 / (len(ratios) * (ratios**2).sum()), rel=1e-5)
    assert "policy/ratio_mean" not in found.row(trainer.optimizer)


def test_ratios_of_whole_sequences_have_no_kl_per_token() -> None:
    trainer = Trainer()
    with_loss(trainer, torch.tensor([[0.1, 0.2], [0.3, 5.0]], requires_grad=True))
    found = callback(trainer)
    inputs = {"completion_mask": torch.tensor([[1, 1], [1, 0]]), "old_logps": torch.zeros(2)}
    trainer._compute_loss(None, inputs)
    row = found.row(trainer.optimizer)
    assert row["policy/ratio_mean"] == pytest.approx(math.exp(0.3), rel=1e-5)
    assert "policy/kl_old" not in row


def test_log_probabilities_without_a_gradient_are_of_an_evaluation_and_left_out() -> None:
    trainer = Trainer()
    with_loss(trainer, torch.zeros(1, 2))
    found = callback(trainer)
    trainer._compute_loss(None, {"completion_mask": torch.ones(1, 2), "old_per_token_logps": torch.zeros(1, 2)})
    assert "policy/ratio_mean" not in found.row(trainer.optimizer)


@pytest.mark.parametrize(
    ("steps", "iterations", "accumulation", "afresh"),
    [(1, 2, 1, True), (2, 2, 1, True), (4, 1, 2, True), (2, 1, 3, False), (1, 1, 2, False)],
)
def test_the_first_ratio_is_called_so_only_where_it_must_be_one(
    steps: int, iterations: int, accumulation: int, afresh: bool
) -> None:
    trainer = Trainer(steps_per_generation=steps, num_iterations=iterations, gradient_accumulation_steps=accumulation)
    with_loss(trainer, torch.zeros(1, 2, requires_grad=True))
    found = callback(trainer)
    trainer.generate(np.ones((1, K * GROUPS)), np.zeros(K * GROUPS))
    trainer._compute_loss(None, {"completion_mask": torch.ones(1, 2), "old_per_token_logps": torch.zeros(1, 2)})
    assert ("policy/ratio_first_minibatch" in found.row(trainer.optimizer)) is afresh


def test_the_vocabulary_knows_what_the_rules_need_of_a_row() -> None:
    trainer = Trainer()
    with_loss(trainer, torch.zeros(1, 2, requires_grad=True))
    found = callback(trainer)
    trainer.generate(np.random.default_rng(0).normal(size=(1, K * GROUPS)), np.ones(K * GROUPS))
    trainer.training_step(1.0)
    trainer._compute_loss(None, {"completion_mask": torch.ones(1, 2), "old_per_token_logps": torch.zeros(1, 2)})
    row = found.row(trainer.optimizer)
    assert {meaning.metric for meaning in map_keys(list(row), "trl", "GRPO").values()} >= {
        "optim/loss_total", "optim/lr", "reward/train_mean", "reward/train_min", "group/zero_std_fraction",
        "group/reward_std_mean", "advantage/std", "advantage/abs_mean", "policy/kl_old", "policy/ratio_max",
        "policy/ratio_first_minibatch", "policy/ess",
    }  # fmt: skip


def test_secrets_among_the_arguments_are_not_told() -> None:
    args = SimpleNamespace(
        beta=0.1, hub_token="s3cret", output_dir="/private", lr_scheduler_type=SimpleNamespace(value="cosine")
    )
    told = callback(Trainer((1.0, 0.0))).settings(args)
    assert told == {"beta": 0.1, "lr_scheduler_type": "cosine", "reward_funcs": ["f0", "f1"]}
