"""Collectors of several TorchRL environments: batches are [N, T], and whoever takes them for [T, N] mixes episodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from tensordict.nn import TensorDictModule
from torch.distributions import Categorical
from torchrl.envs import SerialEnv
from torchrl.modules import ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from firstbreak.diagnosis import Verdict
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.probes.adapters.torchrl import Parts
from tests.unit.probes.torchrl_pairs import AS_IS, Collector, network

HERE = __name__
COLUMNS = ("advantage", "value_target", "state_value")


def two(make_env: Any, total_steps: int, gamma: float, estimating: Callable[[Any], Any]) -> Parts:
    env = SerialEnv(2, lambda: make_env(categorical_action_encoding=True))
    width = env.observation_spec["observation"].shape[-1]
    policy = ProbabilisticActor(
        TensorDictModule(network(width, 3), ["observation"], ["logits"]),
        in_keys=["logits"],
        distribution_class=Categorical,
        return_log_prob=True,
    )
    value = ValueOperator(network(width, 1), in_keys=["observation"])
    loss = ClipPPOLoss(policy, value, entropy_bonus=False, critic_coeff=0.5, loss_critic_type="l2")
    return Parts(
        collector=Collector(env, policy, frames_per_batch=64, total_frames=total_steps, **AS_IS),
        policy=policy,
        loss=loss,
        optimiser=torch.optim.Adam(loss.parameters(), lr=1e-2),
        value=value,
        advantage=estimating(GAE(gamma=gamma, lmbda=0.95, value_network=value, shifted=False, deactivate_vmap=True)),
        epochs=2,
        minibatch=32,
        gamma=gamma,
    )


def by_time(gae: Any, rows: Any) -> Any:
    """Written for [T, N]."""
    turned = rows.contiguous().transpose(0, 1).contiguous()
    gae(turned)
    for name in COLUMNS:
        rows[name] = turned[name].transpose(0, 1)
    return rows


def in_one_row(gae: Any, rows: Any) -> Any:
    """Flattened before the recursion."""
    flat = rows.contiguous().reshape(-1)
    gae(flat)
    for name in COLUMNS:
        rows[name] = flat[name].reshape(*rows.batch_size, 1)
    return rows


def right(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    return two(make_env, total_steps, gamma, lambda gae: gae)


def right_in_a_function(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    return two(make_env, total_steps, gamma, lambda gae: lambda rows: gae(rows))  # noqa: PLW0108 (a function around it)


def mixed_in_a_function(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    return two(make_env, total_steps, gamma, lambda gae: lambda rows: by_time(gae, rows))


def flat_in_a_partial(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    return two(make_env, total_steps, gamma, lambda gae: partial(in_one_row, gae))


@pytest.mark.parametrize("name", ["right", "right_in_a_function"])
def test_an_estimator_that_keeps_the_dimensions_is_healthy(name: str) -> None:
    seen = inspect_trainer(f"torchrl:{HERE}:{name}", isolate=False)
    assert seen.verdict is Verdict.HEALTHY, seen.findings
    assert {"gae-crosses-environments", "gae-differs-from-reference", "rollout-advantage-wrong"} <= {*seen.clear}


@pytest.mark.parametrize("name", ["mixed_in_a_function", "flat_in_a_partial"])
def test_an_estimator_that_mixes_them_is_named(name: str) -> None:
    seen = inspect_trainer(f"torchrl:{HERE}:{name}", isolate=False)
    assert seen.first_break is not None
    assert seen.first_break.name == "gae-crosses-environments"
