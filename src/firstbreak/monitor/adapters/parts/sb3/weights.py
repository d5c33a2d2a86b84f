"""Which weights of a Stable-Baselines3 model belong to whom, and what a checkpoint of it holds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..weights.at_rest import OF_CRITIC, OF_POLICY


def optimisers(model: Any) -> dict[str, torch.optim.Optimizer]:
    """Return name -> optimiser; `policy` where one trains everything."""
    if getattr(model, "actor", None) is None:
        return {"policy": model.policy.optimizer}
    found = {"actor": model.actor.optimizer, "critic": model.critic.optimizer}
    alpha = getattr(model, "ent_coef_optimizer", None)
    return found if alpha is None else found | {"alpha": alpha}


def networks(model: Any) -> dict[str, list[Tensor]]:
    """Return metric -> weights of the policy and of the critic; nothing where one network is both, as in DQN."""
    if getattr(model, "actor", None) is not None:
        return {OF_POLICY: list(model.actor.parameters()), OF_CRITIC: list(model.critic.parameters())}
    policy = model.policy
    heads = [getattr(part, "value_net", None) for part in (policy, getattr(policy, "mlp_extractor", None))]
    critic = [weight for head in heads if head is not None for weight in head.parameters()]
    if not critic:
        return {}
    known = {id(weight) for weight in critic}
    return {OF_POLICY: [w for w in model.policy.parameters() if id(w) not in known], OF_CRITIC: critic}


def parts(model: Any) -> dict[str, Any]:
    """Return what a checkpoint holds: networks, optimisers, the temperature."""
    found = {"policy": model.policy} | {f"{name}_optimizer": one for name, one in optimisers(model).items()}
    alpha = getattr(model, "log_ent_coef", None)
    return found if alpha is None else found | {"log_ent_coef": alpha}
