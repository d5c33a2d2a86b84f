"""Faults of the third live campaign that are planted in trainers of Stable-Baselines3; what they are: third.toml."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from third_weights import coarse, reborn

GROWTH = 100.0
"""What a learning rate, and TD3's noise, is multiplied by at the end of the run."""
FEW = 64
"""Rows that the replay buffer has left."""


def noise_grows(switch: Any) -> None:
    model, began, left = switch.model, switch.truth.began, switch.total - switch.truth.began
    usual = model.action_noise

    class Louder(type(usual)):
        def __call__(self) -> Any:
            return usual() * GROWTH ** ((model.num_timesteps - began) / left)

    model.action_noise = Louder(usual._mu, usual._sigma)


def entropy_sign(switch: Any) -> None:
    """The bonus becomes a fine: a tenth of a nat, as others have it, with the wrong sign."""
    switch.model.ent_coef = -0.1


@torch.no_grad()
def std_reset(switch: Any) -> None:
    switch.model.policy.log_std.fill_(1.0)


def rate_rises(switch: Any) -> None:
    model, remaining = switch.model, switch.model._current_progress_remaining
    usual = model.lr_schedule
    model.lr_schedule = lambda left: usual(left) * GROWTH ** (1 - left / remaining)


def checkpoint_old(switch: Any) -> None:
    switch.model.policy.load_state_dict(switch.kept)


def moments_lost(switch: Any) -> None:
    """Second moments are zero again, first moments and the count of steps are not: nothing corrects their bias."""
    for network in (switch.model.actor, switch.model.critic):
        for state in network.optimizer.state.values():
            state["exp_avg_sq"].zero_()


def advantages_shuffled(switch: Any) -> None:
    buffer = switch.model.rollout_buffer
    usual, generator = buffer.compute_returns_and_advantage, np.random.default_rng(0)

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        buffer.advantages = generator.permuted(buffer.advantages.reshape(-1)).reshape(buffer.advantages.shape)

    buffer.compute_returns_and_advantage = compute


def ends_bootstrapped(switch: Any) -> None:
    """What is stored says of no step that an episode ended there."""
    buffer = switch.model.replay_buffer
    usual = buffer.add

    def add(obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        usual(obs, next_obs, action, reward, np.zeros_like(done), infos)

    buffer.add = add
    buffer.dones[:] = 0


def critic_reborn(switch: Any) -> None:
    policy = switch.model.policy
    for part in (policy.mlp_extractor.value_net, policy.value_net):
        reborn(part)


def actor_lifts_critic(switch: Any) -> None:
    """The actor's optimiser holds the critic's weights, too: its loss is lowered by a critic that promises more."""
    model = switch.model
    model.actor.optimizer.add_param_group({"params": list(model.critic.parameters())})


def buffer_small(switch: Any) -> None:
    """The place to write to wraps round after a few rows, and only these are drawn."""
    buffer = switch.model.replay_buffer
    buffer.buffer_size, buffer.pos, buffer.full = FEW, 0, True


def log_probs_old(switch: Any) -> None:
    """The log-probabilities that are kept with a rollout are those of the rollout before."""
    buffer = switch.model.rollout_buffer
    usual = buffer.compute_returns_and_advantage
    before = [buffer.log_probs.copy()]

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        buffer.log_probs, before[0] = before[0], buffer.log_probs.copy()

    buffer.compute_returns_and_advantage = compute


def weights_coarse(switch: Any) -> None:
    model = switch.model
    for network in (model.actor, model.critic):
        coarse(network.optimizer)


def normaliser_lost(switch: Any) -> None:
    """Evaluation has statistics of its own, which are those of nothing seen: mean 0, variance 1."""
    env = switch.evaluation.eval_env
    env.normalize_obs = lambda obs: np.clip(obs, -env.clip_obs, env.clip_obs)


def evaluation_explores(switch: Any) -> None:
    """Nine in ten of the actions of an evaluation are random: its policy still has the epsilon of the start."""
    switch.evaluation.deterministic = False
    switch.evaluation.model = Exploring(switch.model)


class Exploring:
    """A model as `evaluate_policy` sees it."""

    def __init__(self, model: Any) -> None:
        self.model, self.generator = model, np.random.default_rng(0)

    def predict(self, observation: Any, **named: Any) -> Any:
        actions, state = self.model.predict(observation, **named)
        if self.generator.random() < 0.9:
            actions = np.array([self.model.action_space.sample() for _ in actions])
        return actions, state

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


PLANTS: dict[str, Callable[[Any], None]] = {
    "noise-grows": noise_grows,
    "entropy-sign": entropy_sign,
    "std-reset": std_reset,
    "rate-rises": rate_rises,
    "checkpoint-old": checkpoint_old,
    "moments-lost": moments_lost,
    "advantages-shuffled": advantages_shuffled,
    "ends-bootstrapped": ends_bootstrapped,
    "critic-reborn": critic_reborn,
    "actor-lifts-critic": actor_lifts_critic,
    "buffer-small": buffer_small,
    "log-probs-old": log_probs_old,
    "weights-coarse": weights_coarse,
    "evaluation-normaliser-lost": normaliser_lost,
    "evaluation-explores": evaluation_explores,
}
