"""At learning rate 0 nothing may move; each planted fault is told by what moves all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from firstbreak.causes import all_causes
from firstbreak.errors import InputError
from firstbreak.monitor.settling import ZeroRateResult, zero_learning_rate
from firstbreak.monitor.settling.zero_rate import _POINTS_AT
from firstbreak.registry import all_rules

torch.set_num_threads(1)

HEALTHY = {"policy/ratio_mean": 1.0, "policy/kl_old": 1e-9, "policy/clip_fraction": 0.0, "optim/weight_delta": 0.0}


class Loop:
    """A policy on a bandit with four arms: sample, score, take two steps on the batch."""

    def __init__(self, optimiser: Callable[[Any], Any] = torch.optim.Adam, dropout: float = 0.0) -> None:
        torch.manual_seed(0)
        self.policy = nn.Sequential(nn.Linear(3, 8), nn.Dropout(dropout), nn.Linear(8, 4))
        self.optimiser = optimiser(self.policy.parameters())

    def update(self) -> dict[str, float]:
        seen = torch.randn(64, 3)
        with torch.no_grad():
            old = torch.distributions.Categorical(logits=self.policy(seen))
            action = old.sample()
            old_log_prob = old.log_prob(action)
        ratios: list[torch.Tensor] = []
        for _ in range(2):
            log_prob = torch.distributions.Categorical(logits=self.policy(seen)).log_prob(action)
            ratio = (log_prob - old_log_prob).exp()
            ratios.append(ratio.detach())
            loss = -(ratio * (action == 0)).mean()
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()
        ratio = torch.cat(ratios)
        return {
            "policy/ratio_mean": float(ratio.mean()),
            "policy/ratio_max": float(ratio.max()),
            "policy/kl_old": float((ratio - 1 - ratio.log()).mean()),
            "reward/train_mean": float((action == 0).float().mean()),
        }


def at_zero(loop: Loop, rows: int = 20) -> ZeroRateResult:
    with zero_learning_rate(loop.optimiser, weights=loop.policy) as zero:
        for _ in range(rows):
            zero.log(loop.update())
    return zero.result()


OPTIMISERS = [
    torch.optim.Adam,
    lambda p: torch.optim.AdamW(p, weight_decay=0.5),
    lambda p: torch.optim.SGD(p, lr=1.0, momentum=0.9, nesterov=True, weight_decay=0.1),
    lambda p: torch.optim.RMSprop(p, lr=0.1),
    lambda p: torch.optim.Adam(p, lr=torch.tensor(0.1), foreach=False, capturable=False),
]


@pytest.mark.parametrize("optimiser", OPTIMISERS, ids=["adam", "adamw", "sgd", "rmsprop", "rate in a tensor"])
def test_a_correct_loop_stands_still_and_then_goes_on(optimiser: Callable[[Any], Any]) -> None:
    loop = Loop(optimiser)
    rate = float(loop.optimiser.param_groups[0]["lr"])
    result = at_zero(loop)
    assert result.verdict == "holds"
    assert (result.steps, result.rows, result.moved) == (40, 20, ())
    assert "stood still" in result.meaning
    assert float(loop.optimiser.param_groups[0]["lr"]) == rate
    before = loop.policy[0].weight.detach().clone()
    loop.update()
    assert not torch.equal(before, loop.policy[0].weight)


def test_a_schedule_is_not_heeded_but_goes_on() -> None:
    loop = Loop(lambda p: torch.optim.Adam(p, lr=1.0))
    schedule = torch.optim.lr_scheduler.StepLR(loop.optimiser, step_size=1, gamma=0.5)
    with zero_learning_rate(loop.optimiser, weights=loop.policy) as zero:
        for _ in range(3):
            zero.log(loop.update())
            schedule.step()
    assert zero.result().moved == ()
    assert loop.optimiser.param_groups[0]["lr"] == pytest.approx(0.125)


def test_the_rate_comes_back_when_the_block_raises() -> None:
    loop = Loop()
    with pytest.raises(ZeroDivisionError), zero_learning_rate(loop.optimiser):
        loop.policy[0].weight.grad = torch.ones(1 // 0)
    before = loop.policy[0].weight.detach().clone()
    loop.update()
    assert not torch.equal(before, loop.policy[0].weight)


def test_dropout_between_acting_and_learning_shows_in_the_ratio() -> None:
    result = at_zero(Loop(dropout=0.5))
    assert result.verdict == "broken"
    assert {"policy/ratio_max", "policy/kl_old"} <= {e.name for e in result.broken}
    assert result.settles == ("wrong-old-logprob",)


def test_a_second_writer_of_the_weights_is_found() -> None:
    loop = Loop()
    update = loop.update

    def averaged() -> dict[str, float]:
        with torch.no_grad():
            loop.policy[2].bias.mul_(0.999)
        return update()

    loop.update = averaged  # type: ignore[method-assign]
    result = at_zero(loop)
    assert result.moved == ("2.bias",)
    assert "another optimiser" in result.meaning


def test_a_sync_that_corrupts_the_sampler_shows_in_the_gap_and_the_reward() -> None:
    loop = Loop()
    with zero_learning_rate(loop.optimiser, weights=loop.policy) as zero:
        for i in range(20):
            zero.log({**loop.update(), "async/logprob_mismatch": 0.01 if i < 10 else 0.4})
    assert [e.name for e in zero.result().broken] == ["async/logprob_mismatch"]
    assert "weights-not-synchronised" in zero.result().settles


def test_a_constant_gap_is_numerics_and_holds() -> None:
    loop = Loop()
    with zero_learning_rate(loop.optimiser, weights=loop.policy) as zero:
        for i in range(20):
            zero.log({**loop.update(), "async/logprob_mismatch": 0.2 + 0.001 * (i % 3)})
    assert zero.result().verdict == "holds"


def test_without_weights_or_steps_nothing_is_proven() -> None:
    loop = Loop()
    with zero_learning_rate(loop.optimiser) as zero:
        zero.log(HEALTHY)
    assert zero.result().verdict == "cannot tell"
    assert "0 optimiser steps" in zero.result().meaning


def test_a_ratio_that_is_no_number_is_broken() -> None:
    loop = Loop()
    with zero_learning_rate(loop.optimiser, weights=loop.policy) as zero:
        loop.update()
        zero.log({"policy/ratio_mean": float("nan")})
    assert zero.result().verdict == "broken"


def test_keys_of_a_framework_can_be_named() -> None:
    loop = Loop()
    with zero_learning_rate(loop.optimiser, weights=loop.policy, names={"ratio": "policy/ratio_mean"}) as zero:
        loop.update()
        zero.log({"ratio": 1.3, "other": "text"})
    assert [e.name for e in zero.result().broken] == ["policy/ratio_mean"]


class Plain:
    """An optimiser of no framework."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights, self.param_groups = weights, [{"lr": 0.5}]

    def step(self) -> str:
        self.weights["w"] = self.weights["w"] - self.param_groups[0]["lr"]
        return "done"


@pytest.fixture
def plain() -> Plain:
    import numpy as np

    return Plain({"w": np.ones(3)})


def test_anything_with_groups_and_a_step_will_do(plain: Plain) -> None:
    with zero_learning_rate(plain, weights=plain.weights) as zero:
        assert plain.step() == "done"
    assert zero.result().moved == ()
    plain.step()
    assert plain.weights["w"].tolist() == [0.5] * 3


def test_a_wrapped_optimiser_is_found_inside_and_held_once() -> None:
    class Wrapped:
        def __init__(self, optimizer: Any) -> None:
            self.optimizer = optimizer

    loop = Loop()
    with zero_learning_rate(Wrapped(Wrapped(loop.optimiser)), loop.optimiser, weights=loop.policy) as zero:
        loop.update()
    result = zero.result()
    assert (result.steps, result.moved) == (2, ())


def test_what_is_no_optimiser_is_refused() -> None:
    with pytest.raises(InputError, match="param_groups"), zero_learning_rate(object()):
        pass
    with pytest.raises(InputError, match="No optimiser"), zero_learning_rate():
        pass


def test_every_name_it_points_at_exists() -> None:
    known = {r.name for r in all_rules()} | {c.name for c in all_causes()}
    named = {name for names in _POINTS_AT.values() for name in names} | set(ZeroRateResult((), 0, 0).settles)
    assert named <= known
