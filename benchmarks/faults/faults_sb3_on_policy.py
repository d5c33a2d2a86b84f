"""Faults of PPO and A2C as SB3 has them: rollouts, advantages, ratios, epochs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from benchmarks.faults.planting import in_trainer

KEPT = ("observations", "actions", "values", "log_probs", "advantages", "returns", "episode_starts", "rewards")
BESIDE = 10


def after_advantages(model: Any, change: Any) -> None:
    """Call `change(buffer)` whenever a rollout has its advantages, before it is flattened."""
    buffer = model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        change(buffer)

    buffer.compute_returns_and_advantage = compute


def minibatches(model: Any, change: Any) -> None:
    """Give every minibatch through `change`."""
    usual = model.rollout_buffer.get

    def get(batch_size: Any = None) -> Any:
        for data in usual(batch_size):
            yield change(data)

    model.rollout_buffer.get = get


@in_trainer("advantage-flipped", "sb3_ppo", "sb3_a2c")
def advantage_flipped(model: Any) -> None:
    def flip(buffer: Any) -> None:
        buffer.advantages = -buffer.advantages

    after_advantages(model, flip)


@in_trainer("surrogate-dead", "sb3_ppo")
def surrogate_dead(model: Any) -> None:
    def anew(data: Any) -> Any:
        actions = data.actions.long().flatten() if hasattr(model.action_space, "n") else data.actions
        return data._replace(old_log_prob=model.policy.evaluate_actions(data.observations, actions)[1])

    minibatches(model, anew)


@in_trainer("logprob-broadcast", "sb3_ppo")
def logprob_broadcast(model: Any) -> None:
    minibatches(model, lambda data: data._replace(old_log_prob=data.old_log_prob.reshape(-1, 1)))


@in_trainer("returns-forward", "sb3_ppo", "sb3_a2c")
def returns_forward(model: Any) -> None:
    buffer = model.rollout_buffer

    def compute(last_values: torch.Tensor, dones: Any) -> None:
        last = last_values.clone().cpu().numpy().flatten()
        values = np.concatenate([buffer.values, last[None]])
        goes_on = 1.0 - np.concatenate([buffer.episode_starts[1:], np.asarray(dones, np.float32)[None]])
        trace = np.zeros_like(last)
        for t in range(buffer.buffer_size):  # the sum runs with time, where it has to run against it
            delta = buffer.rewards[t] + buffer.gamma * values[t + 1] * goes_on[t] - values[t]
            trace = delta + buffer.gamma * buffer.gae_lambda * goes_on[t] * trace
            buffer.advantages[t] = trace
        buffer.returns = buffer.advantages + buffer.values

    buffer.compute_returns_and_advantage = compute


@in_trainer("advantage-in-pairs", "sb3_ppo")
def advantage_in_pairs(model: Any) -> None:
    def pair(buffer: Any) -> None:
        pairs = buffer.advantages.reshape(-1, 2)
        scaled = (pairs - pairs.mean(1, keepdims=True)) / (pairs.std(1, ddof=1, keepdims=True) + 1e-8)
        buffer.advantages = scaled.reshape(buffer.advantages.shape).astype(np.float32)

    model.normalize_advantage = False
    after_advantages(model, pair)


@in_trainer("epochs-x10", "sb3_ppo")
def epochs_x10(model: Any) -> None:
    model.n_epochs *= 10
    model.clip_range = lambda _: 1e9


@in_trainer("critic-off", "sb3_ppo", "sb3_a2c")
def critic_off(model: Any) -> None:
    model.vf_coef = 0.0


@in_trainer("gae-off-by-one", "sb3_ppo")
def gae_off_by_one(model: Any) -> None:
    buffer = model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        right = buffer.episode_starts
        buffer.episode_starts = np.roll(right, -BESIDE, axis=0)
        usual(last_values, dones)
        buffer.episode_starts = right

    buffer.compute_returns_and_advantage = compute


@in_trainer("entropy-bonus", "sb3_ppo", "sb3_a2c")
def entropy_bonus(model: Any) -> None:
    model.ent_coef = 10.0


@in_trainer("spread-frozen", "sb3_ppo")
@torch.no_grad()
def spread_frozen(model: Any) -> None:
    model.policy.log_std.fill_(-5.0)
    model.policy.log_std.requires_grad_(False)


@in_trainer("rollout-stale", "sb3_ppo")
def rollout_stale(model: Any) -> None:
    kept: dict[str, Any] = {}

    def keep(buffer: Any) -> None:
        if not kept:
            kept.update({name: getattr(buffer, name).copy() for name in KEPT})
        for name in KEPT:
            setattr(buffer, name, kept[name].copy())

    after_advantages(model, keep)
