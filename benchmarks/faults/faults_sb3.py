"""Faults of SB3 trainers that all of them share, and those of the evaluation."""

from __future__ import annotations

import types
from typing import Any

import torch

from benchmarks.faults.planting import in_settings, in_trainer

ALL = ("sb3_ppo", "sb3_a2c", "sb3_dqn", "sb3_sac")


def optimisers_of(model: Any) -> list[Any]:
    """Every optimiser that takes steps."""
    if model.__class__.__name__ == "SAC":
        return [model.actor.optimizer, model.critic.optimizer, model.ent_coef_optimizer]
    return [model.policy.optimizer]


def policy_weights(model: Any) -> list[torch.Tensor]:
    """The weights that choose actions."""
    if model.__class__.__name__ == "DQN":
        return list(model.q_net.parameters())
    if model.__class__.__name__ == "SAC":
        return list(model.actor.parameters())
    policy = model.policy
    spread = [policy.log_std] if hasattr(policy, "log_std") else []
    return [*policy.mlp_extractor.policy_net.parameters(), *policy.action_net.parameters(), *spread]


def before_training(model: Any, first: Any) -> None:
    """Call `first()` before every `train` of the model."""
    usual = model.train

    def train(*args: Any, **kwargs: Any) -> Any:
        first()
        return usual(*args, **kwargs)

    model.train = train


@in_trainer("learning-rate-x30", *ALL)
def learning_rate_x30(model: Any) -> None:
    usual = model.lr_schedule
    model.lr_schedule = lambda left: 30 * usual(left)


@in_trainer("learning-rate-inverted", "sb3_ppo")
def learning_rate_inverted(model: Any) -> None:
    usual = model.lr_schedule
    model.lr_schedule = lambda left: 20 * (1 - left) * usual(left)


@in_trainer("sgd-at-adams-rate", "sb3_ppo", "sb3_dqn")
def sgd(model: Any) -> None:
    model.policy.optimizer = torch.optim.SGD(model.policy.parameters(), lr=model.lr_schedule(1.0))


@in_trainer("adam-epsilon", "sb3_ppo")
def adam_epsilon(model: Any) -> None:
    for group in model.policy.optimizer.param_groups:
        group["eps"] = 10.0


@in_trainer("gradient-clipped-away", "sb3_ppo")
def gradient_clipped_away(model: Any) -> None:
    model.max_grad_norm = 1e-7


@in_trainer("policy-frozen", "sb3_ppo")
def policy_frozen(model: Any) -> None:
    for weight in policy_weights(model):
        weight.requires_grad_(False)


@in_trainer("policy-overconfident", "sb3_ppo")
@torch.no_grad()
def policy_overconfident(model: Any) -> None:
    for weight in model.policy.action_net.parameters():
        weight.mul_(100)


@in_trainer("discount-above-one", "sb3_ppo", "sb3_dqn")
def discount_above_one(model: Any) -> None:
    discount(model, 1.2)


@in_trainer("discount-short", "sb3_ppo", "sb3_sac", "sb3_dqn")
def discount_short(model: Any) -> None:
    discount(model, 0.3)


def discount(model: Any, gamma: float) -> None:
    """Set gamma wherever it is kept."""
    model.gamma = gamma
    if getattr(model, "rollout_buffer", None) is not None:
        model.rollout_buffer.gamma = gamma


@in_settings("units-saturated", "sb3_ppo")
def units_saturated(change: dict[str, Any]) -> None:
    change["settings"]["policy_kwargs"] = {"activation_fn": torch.nn.Sigmoid}


@in_trainer("units-saturated", "sb3_ppo")
@torch.no_grad()
def first_weights_large(model: Any) -> None:
    for net in (model.policy.mlp_extractor.policy_net, model.policy.mlp_extractor.value_net):
        net[0].weight.mul_(50)


# ---- evaluation ---------------------------------------------------------------------------------------------------


@in_trainer("eval-normaliser-fresh", "sb3_ppo")
def eval_normaliser_fresh(model: Any) -> None:
    model.evaluation.fresh_normaliser = True


@in_trainer("eval-random-actions", "sb3_ppo")
def eval_random_actions(model: Any) -> None:
    model.evaluation.random_frac = 0.5


@in_trainer("eval-one-episode", "sb3_ppo")
def eval_one_episode(model: Any) -> None:
    model.evaluation.episodes = 1


@in_trainer("eval-best-reported", "sb3_ppo")
def eval_best_reported(model: Any) -> None:
    model.evaluation.reports_best = True


@in_trainer("resume-without-normaliser", "sb3_ppo")
def resume_without_normaliser(model: Any) -> None:
    """What a script does that loads the weights and makes everything else anew."""
    normaliser = model.get_vec_normalize_env()
    normaliser.obs_rms = type(normaliser.obs_rms)(shape=normaliser.obs_rms.mean.shape)
    normaliser.ret_rms = type(normaliser.ret_rms)(shape=())
    # The statistics are not loaded, and as in evaluation scripts they are not filled again either.
    normaliser.training = False
    model.policy.optimizer.state.clear()


def bound(function: Any, owner: Any) -> Any:
    """`function` as a method of `owner`."""
    return types.MethodType(function, owner)
