"""Faults of the fourth live campaign that are planted in trainers of Stable-Baselines3; what they are: fourth.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import torch
from fourth_weights import bit_flips, gradients_late
from third_weights import reborn

LAMBDA = 1.3
"""Of generalised advantage estimation: with its discount, what comes later weighs more."""
DECAY = 1.0
"""Of weights, in a step of RMSprop."""
BIAS = 0.8
"""Mean of the noise on TD3's actions."""
FASTER = 100.0
"""What the learning rate of SAC's temperature is multiplied by."""
CUT = 6
"""Steps after which an episode of the evaluation is cut; a tenth."""
NEVER = 10**9


def log_prob_other_action(switch: Any) -> None:
    """The log-probability in the loss is that of an action that is drawn anew."""
    policy = switch.model.policy
    usual = policy.evaluate_actions

    def evaluate_actions(obs: Any, actions: Any) -> Any:
        with torch.no_grad():
            other = policy.get_distribution(obs).sample()
        return usual(obs, other.reshape(actions.shape))

    policy.evaluate_actions = evaluate_actions


def trace_diverges(switch: Any) -> None:
    switch.model.gae_lambda = switch.model.rollout_buffer.gae_lambda = LAMBDA


def weight_decay(switch: Any) -> None:
    for group in switch.model.policy.optimizer.param_groups:
        group["weight_decay"] = DECAY


def target_fresh(switch: Any) -> None:
    """The target networks have new weights, and stay as they are: the checkpoint had none."""
    model = switch.model
    if hasattr(model, "q_net_target"):
        reborn(model.q_net_target)
        model.target_update_interval = NEVER
    else:
        reborn(model.critic_target)
        model.tau = 0.0


def noise_biased(switch: Any) -> None:
    switch.model.action_noise._mu = switch.model.action_noise._mu + BIAS


def temperature_rate(switch: Any) -> None:
    model = switch.model

    def before(stepped: Any, *_: Any) -> None:
        for group in stepped.param_groups:
            group["lr"] = FASTER * model.lr_schedule(model._current_progress_remaining)

    model.ent_coef_optimizer.register_step_pre_hook(before)


def late(switch: Any) -> None:
    for network in (switch.model.actor, switch.model.critic):
        gradients_late(network.optimizer)


def evaluation_first(switch: Any) -> None:
    """What is evaluated is the checkpoint that is first in the folder, that of a tenth of the run, always."""
    usual = switch.model.policy
    policy = type(usual)(**usual._get_constructor_parameters())
    policy.load_state_dict(switch.kept)
    switch.evaluation.model = Other(switch.model, policy)


class Other:
    """A model as `evaluate_policy` sees it, with the policy of another."""

    def __init__(self, model: Any, policy: Any) -> None:
        self.model, self.policy = model, policy

    def predict(self, *given: Any, **named: Any) -> Any:
        return self.policy.predict(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


def evaluation_cut(switch: Any) -> None:
    """An episode of the evaluation ends after few steps: its time limit is that of a trial."""
    for statistics in switch.evaluation.eval_env.envs:
        statistics.env = gym.wrappers.TimeLimit(statistics.env, CUT)
    switch.evaluation.eval_env.reset()


PLANTS: dict[str, Callable[[Any], None]] = {
    "log-prob-other-action": log_prob_other_action,
    "trace-diverges": trace_diverges,
    "weight-decay": weight_decay,
    "target-fresh": target_fresh,
    "noise-biased": noise_biased,
    "temperature-rate": temperature_rate,
    "gradients-late": late,
    "bit-flips": lambda switch: bit_flips(switch.model.policy.optimizer),
    "evaluation-first": evaluation_first,
    "evaluation-cut": evaluation_cut,
}
