"""Pairs of a TorchRL collector and loss as their users write them: healthy ones have no fault, planted bugs a name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tensordict.nn import NormalParamExtractor, TensorDictModule
from torch import nn
from torchrl.modules import OneHotCategorical, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import A2CLoss, ClipPPOLoss
from torchrl.objectives.value import GAE

from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity
from firstbreak.inspection import Inspection
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.probes.adapters.torchrl import Parts
from tests.unit.probes import torchrl_pairs as pairs
from tests.unit.probes.torchrl_pairs import AS_IS, Collector, network

HERE = __name__


def inspect(name: str) -> Inspection:
    return inspect_trainer(f"torchrl:{name}", isolate=False)


def pair(env: Any, policy: Any, loss: Any, value: Any, gamma: float, total_steps: int) -> Parts:
    gae = GAE(gamma=gamma, lmbda=0.9, value_network=value, shifted=False, deactivate_vmap=True)
    return Parts(
        collector=Collector(env, policy, frames_per_batch=64, total_frames=total_steps, **AS_IS),
        policy=policy,
        loss=loss,
        optimiser=torch.optim.Adam(loss.parameters(), lr=1e-3),
        value=value,
        advantage=gae,
        epochs=2,
        minibatch=32,
    )


def choosing(env: Any, distribution: Any) -> Any:
    width, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    net = TensorDictModule(network(width, actions), ["observation"], ["logits"])
    kind: dict[str, Any] = {"distribution_class": distribution, "return_log_prob": True}
    return ProbabilisticActor(net, in_keys=["logits"], **kind)


def a2c_one_hot(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    """Actions as one-hot rows, which is what TorchRL does where nobody says otherwise; A2C with an entropy bonus."""
    env = make_env()
    policy = choosing(env, OneHotCategorical)
    value = ValueOperator(network(env.observation_spec["observation"].shape[-1], 1), in_keys=["observation"])
    loss = A2CLoss(policy, value, entropy_coeff=0.01, loss_critic_type="l2")
    return pair(env, policy, loss, value, gamma, total_steps)


def continuous(make_env: Any, *, total_steps: int, seed: int, gamma: float, detached: bool = False) -> Parts:
    """A squashed Gaussian, advantages normalised in the loss."""
    env = make_env()
    width, space = env.observation_spec["observation"].shape[-1], env.action_spec.space
    net = nn.Sequential(network(width, 2 * len(space.low)), NormalParamExtractor())
    policy = ProbabilisticActor(
        TensorDictModule(net, ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        distribution_kwargs={"low": space.low, "high": space.high, "tanh_loc": False},
        return_log_prob=True,
    )
    value = ValueOperator(network(width, 1), in_keys=["observation"])
    kind = Detached if detached else ClipPPOLoss
    loss = kind(policy, value, entropy_bonus=False, normalize_advantage=True, critic_coeff=1.0, loss_critic_type="l2")
    return pair(env, policy, loss, value, gamma, total_steps)


class Detached(ClipPPOLoss):
    """The objective is logged and its gradient thrown away."""

    def forward(self, tensordict: Any) -> Any:
        found = super().forward(tensordict)
        found["loss_objective"] = found["loss_objective"].detach().requires_grad_()
        return found


def detached(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    return continuous(make_env, total_steps=total_steps, seed=seed, gamma=gamma, detached=True)


def critic_left_out(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    parts = pairs.ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma)
    parts.optimiser = torch.optim.Adam(parts.policy.parameters(), lr=1e-2)
    return parts


def own_loop(make_env: Any, *, total_steps: int, seed: int, gamma: float) -> Parts:
    parts = pairs.ppo(make_env, total_steps=total_steps, seed=seed, gamma=gamma)
    parts.update = lambda batch: None
    return parts


continuous.actions = detached.actions = ("continuous",)


@pytest.mark.parametrize("name", [f"{pairs.__name__}:ppo", f"{HERE}:a2c_one_hot", f"{HERE}:continuous"])
def test_a_right_pair_has_no_fault_and_nearly_everything_is_looked_at(name: str) -> None:
    seen = inspect(name)
    assert [f.message for f in seen.findings if f.severity is not Severity.INFO] == []
    assert seen.errors == ()
    assert seen.verdict is Verdict.HEALTHY
    expected = {"ratio-not-one-on-fresh-data", "gae-differs-from-reference", "policy-loss-sign-flipped"}
    assert expected | {"value-loss-rows-distorted", "stored-reward-differs", "critic-does-not-fit-batch"} <= {
        *seen.clear
    }


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (f"{pairs.__name__}:ppo_wrong_gamma", "gae-discount-wrong"),
        (f"{pairs.__name__}:ppo_truncation_cut", "truncation-stored-as-termination"),
        (f"{HERE}:detached", "policy-loss-without-gradient"),
        (f"{HERE}:critic_left_out", "parameter-not-in-optimiser"),
    ],
)
def test_one_mistake_in_a_pair_is_the_first_break(name: str, fault: str) -> None:
    seen = inspect(name)
    assert seen.first_break is not None
    assert seen.first_break.name == fault, [f.name for f in seen.findings]


def test_a_loop_of_the_users_own_is_looked_at_as_far_as_its_parts_show() -> None:
    seen = inspect(f"{HERE}:own_loop")
    assert "gae-differs-from-reference" in seen.clear
    assert any("pieces.update" in s.unlock_with for s in seen.skipped)
