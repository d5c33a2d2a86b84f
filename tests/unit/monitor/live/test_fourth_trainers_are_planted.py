"""Every fault of the reference trainers and the loops by hand in the fourth live list does what fourth.toml says."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

import fourth_hand
import fourth_reference
from fourth_hand import LATE, LEFT
from fourth_weights import FLIP_EVERY, bit_flips, flipped, gradients_late, transposed
from worlds import Truth


def loop_of(subject: str) -> Any:
    torch.set_num_threads(1)
    return fourth_hand.built(subject, 0, None, Truth())


def trainer_of(subject: str) -> Any:
    torch.set_num_threads(1)
    return fourth_reference.built(subject, 0, None, Truth())


def weights(module: Any) -> torch.Tensor:
    return torch.cat([w.detach().flatten() for w in module.parameters()])


def one_weight() -> tuple[torch.nn.Parameter, Any]:
    weight = torch.nn.Parameter(torch.zeros(1))
    return weight, torch.optim.SGD([weight], lr=1.0)


def test_a_gradient_comes_twenty_steps_late() -> None:
    weight, optimiser = one_weight()
    gradients_late(optimiser)
    found: list[float] = []
    for number in range(25):
        before = weight.item()
        weight.grad = torch.tensor([float(number)])
        optimiser.step()
        found.append(before - weight.item())
    assert found == [0.0] * 21 + [1.0, 2.0, 3.0, 4.0]


def test_a_bit_of_an_exponent_flips() -> None:
    weight = torch.nn.Parameter(torch.tensor([[1.0, 0.5], [0.25, 3.0]]))
    flipped(weight, 2, 23)
    assert weight.tolist() == [[1.0, 0.5], [0.125, 3.0]] or weight.tolist() == [[1.0, 0.5], [0.5, 3.0]]
    flipped(weight, 2, 23)
    assert weight.tolist() == [[1.0, 0.5], [0.25, 3.0]]
    flipped(weight, 0, 30)
    assert math.isinf(weight[0, 0].item())

    layer = torch.nn.Linear(50, 50)
    optimiser = torch.optim.SGD(layer.parameters(), lr=0.0)
    bit_flips(optimiser)
    before = weights(layer)
    for step in range(1, 3 * FLIP_EVERY + 1):
        layer(torch.ones(50)).sum().backward()
        optimiser.step()
        assert int((weights(layer) != before).sum()) == step // FLIP_EVERY


def test_flattened_the_other_way_round() -> None:
    assert transposed(torch.arange(6).reshape(2, 3)).tolist() == [[0, 3, 1], [4, 2, 5]]


@pytest.mark.parametrize(
    ("subject", "fault"), [("hand_a2c_lanes", "gradients-kept"), ("mmrkhs_lanes", "gradients-kept")]
)
def test_gradients_are_added_up(subject: str, fault: str) -> None:
    part = fourth_hand if subject.startswith("hand") else fourth_reference
    trainer = part.built(subject, 0, None, Truth())
    weight = trainer.optimiser.param_groups[0]["params"][0]
    weight.grad = torch.ones_like(weight)
    trainer.optimiser.zero_grad()
    assert weight.grad is None
    weight.grad = torch.ones_like(weight)
    part.PLANTS[fault](trainer)
    trainer.optimiser.zero_grad()
    assert weight.grad.sum() == weight.numel()
    trainer.update(trainer.collect())


def test_the_loss_is_of_another_action() -> None:
    loop = loop_of("hand_ppo_crane")
    obs, action = torch.randn(64, 5), torch.randn(64, 1)
    right = loop.log_prob(obs, action)[0]
    fourth_hand.log_prob_other_action(loop)
    first, second = loop.log_prob(obs, action)[0], loop.log_prob(obs, action)[0]
    assert not torch.allclose(first, right)
    assert not torch.allclose(first, second), "drawn anew each time"
    assert first.requires_grad


def test_targets_are_in_another_order() -> None:
    loop = loop_of("hand_ppo_crane")
    rollout = loop.collect()
    advantage, target = loop.targets(rollout)
    fourth_hand.targets_transposed(loop)
    found = loop.targets(rollout)
    assert torch.equal(found[0], advantage)
    assert not torch.equal(found[1], target)
    assert torch.equal(found[1].flatten().sort().values, target.flatten().sort().values)

    trainer = trainer_of("ppo_stock")
    rollout = trainer.collect()
    right = trainer.advantages(rollout.clone())
    fourth_reference.targets_transposed(trainer)
    wrong = trainer.advantages(rollout.clone())
    assert torch.equal(wrong["advantage"], right["advantage"])
    assert torch.equal(wrong["value_target"], transposed(right["value_target"]))
    assert not torch.equal(wrong["value_target"], right["value_target"])


def test_who_plays_is_late() -> None:
    loop = loop_of("hand_a2c_lanes")
    fourth_hand.actors_late(loop)
    seen: list[torch.Tensor] = []
    for _ in range(LATE + 3):
        seen.append(weights(loop.actor))
        loop.update(loop.collect())
    assert torch.equal(weights(loop.acting()), seen[3])

    trainer = trainer_of("ppo_stock")
    fourth_reference.actors_late(trainer)
    learners: list[Any] = []
    for _ in range(fourth_reference.LATE + 3):
        learners.append(weights(trainer.actor))
        rollout = trainer.collect()
        learner = trainer.actor
        trainer.update(rollout)
        assert trainer.actor is learner
    row = {key: rollout[key].flatten(0, 1) for key in ("obs", "action")}
    torch.nn.utils.vector_to_parameters(learners[2], trainer.actor.parameters())
    assert torch.allclose(trainer.log_prob(row), rollout["log_prob"].flatten(), atol=1e-5)
    torch.nn.utils.vector_to_parameters(learners[-1], trainer.actor.parameters())
    assert not torch.allclose(trainer.log_prob(row), rollout["log_prob"].flatten(), atol=1e-5)


def test_few_copies_still_answer() -> None:
    loop = loop_of("hand_ppo_crane")
    assert len(loop.collect()["obs"][0]) == 8
    before = loop.steps
    fourth_hand.PLANTS["copies-lost"](loop)
    assert len(loop.collect()["obs"][0]) == LEFT
    assert loop.steps - before == LEFT * loop.settings.num_steps
    assert all(math.isfinite(value) for value in loop.update(loop.collect()).values())


def test_probabilities_have_one_decimal() -> None:
    trainer = trainer_of("ppo_stock")
    fourth_reference.log_of_zero(trainer)
    found = trainer.collect()["log_prob"].exp()
    assert torch.allclose(10 * found, (10 * found).round(), atol=1e-4)
    usual = trainer.actor.distribution
    trainer.actor.distribution = lambda obs: torch.distributions.Categorical(
        logits=usual(obs).logits + torch.tensor([0.0, 0, 0, 0, 0, 6])
    )
    assert bool((trainer.collect()["log_prob"] == -math.inf).any())


def test_what_comes_later_weighs_more() -> None:
    trainer = trainer_of("mmrkhs_lanes")
    fourth_reference.trace_diverges(trainer)
    assert trainer.config.gae_lambda * trainer.config.gamma > 1
    rollout = trainer.collect()
    wide = float(trainer.advantages(rollout.clone())["advantage"].abs().max())
    usual = float(trainer_of("mmrkhs_lanes").advantages(rollout.clone())["advantage"].abs().max())
    assert wide > 1.5 * usual


class Kept:
    """A monitor that keeps its rows."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.stop_training = False

    def log(self, row: dict[str, Any], **_: Any) -> Any:
        self.rows.append(row)
        return self


@pytest.mark.parametrize("subject", sorted(fourth_hand.SUBJECTS))
def test_a_loop_logs_what_it_says(subject: str) -> None:
    loop, monitor = loop_of(subject), Kept()
    truth = Truth()
    loop = fourth_hand.built(subject, 0, None, truth)
    stops: list[int] = []
    loop.learn(3000, monitor, stops.append)
    size = loop.settings.num_envs * loop.settings.num_steps
    assert stops == [size * (i + 1) for i in range(len(monitor.rows))]
    assert truth.steps == stops[-1]
    told = [row["charts/episodic_return"] for row in monitor.rows if "charts/episodic_return" in row]
    assert min(t for _, t in truth.episodes) <= np.mean(told) <= max(t for _, t in truth.episodes)
    assert all(math.isfinite(value) for row in monitor.rows for value in row.values())
    last = monitor.rows[-1]
    assert last["losses/grad_norm"] > 0
    if subject == "hand_ppo_crane":
        assert 0 <= last["losses/approx_kl"] < 0.2
        assert 0 <= last["losses/clipfrac"] < 0.6


def test_the_advantages_of_a_loop_are_those_of_the_reference() -> None:
    loop, trainer = loop_of("hand_ppo_crane"), trainer_of("ppo_stock")
    trainer.config = fourth_reference.replace(
        trainer.config, gamma=loop.settings.gamma, gae_lambda=loop.settings.gae_lambda
    )
    rollout = loop.collect()
    names = ("reward", "value", "next_value", "terminated")
    columns = {name: rollout[name].T for name in names} | {"truncated": rollout["done"].T - rollout["terminated"].T}
    columns = {k: v.bool() if k in ("terminated", "truncated") else v for k, v in columns.items()}
    found = trainer.advantages(Columns(columns))
    assert torch.allclose(found["advantage"], loop.targets(rollout)[0].T, atol=1e-4)
    assert torch.allclose(found["value_target"], loop.targets(rollout)[1].T, atol=1e-4)


class Columns(dict[str, Any]):
    """Answers to `update` as a TensorDict does."""

    def update(self, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().update(*args, **kwargs)
        return self
