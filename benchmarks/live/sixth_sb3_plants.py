"""Faults of the sixth live campaign that are planted in trainers of Stable-Baselines3; what they are: sixth.toml."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

OVERWRITTEN = 0.7
"""Share of the stored transitions whose observation is the next one."""
SWIFT = 0.9
"""By how much of the way targets follow, at every step."""
RANDOM = 0.8
"""The share of random actions at the end of the run."""
SERVED = 15
"""How often a rollout is served."""
FEW = 200
"""Rows that the replay buffer has left."""
VALUE_CLIP = 0.2
"""How far a value may be from what it was, in units of the reward."""


def observations_overwritten(switch: Any) -> None:
    """The environment hands out one array, and writes into it: what is stored as before is often what came after."""
    buffer, generator = switch.model.replay_buffer, np.random.default_rng(0)
    usual = buffer.add

    def add(obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        usual(next_obs if generator.random() < OVERWRITTEN else obs, next_obs, action, reward, done, infos)

    buffer.add = add


def before_returns(switch: Any, change: Callable[[Any], None]) -> None:
    """Let `change` do what it does to a rollout before returns are computed."""
    buffer = switch.model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        change(buffer)
        usual(last_values, dones)

    buffer.compute_returns_and_advantage = compute


def after_returns(switch: Any, change: Callable[[Any], None]) -> None:
    """Let `change` do what it does to a rollout when returns are computed."""
    buffer = switch.model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        change(buffer)

    buffer.compute_returns_and_advantage = compute


def rewards_shifted(switch: Any) -> None:
    """The buffer keeps, with a step, the reward of the step before it in the episode; the last one is lost."""

    def shift(buffer: Any) -> None:
        rewards = np.roll(buffer.rewards, 1, axis=0)
        buffer.rewards = np.where(buffer.episode_starts.astype(bool), 0.0, rewards).astype(np.float32)
        buffer.rewards[0] = 0.0

    before_returns(switch, shift)


def loss_turned(switch: Any) -> None:
    """The sign of the policy's loss is wrong."""

    def turn(buffer: Any) -> None:
        buffer.advantages = -buffer.advantages

    after_returns(switch, turn)


def values_clipped_stale(switch: Any) -> None:
    """The critic may not go far from what it was, where that is what it was at the rollout before, at other rows."""
    switch.model.clip_range_vf = lambda _: VALUE_CLIP
    before: list[Any] = []

    def stale(buffer: Any) -> None:
        before.append(buffer.values.copy())
        buffer.values = before[0].copy()
        del before[:-1]

    after_returns(switch, stale)


def batch_served_again(switch: Any) -> None:
    """The queue serves a rollout again and again, and throws away what was collected meanwhile."""
    names = ("observations", "actions", "advantages", "returns", "values", "log_probs")
    served: list[dict[str, Any]] = []

    def again(buffer: Any) -> None:
        if len(served) % SERVED == 0:
            served[:] = [{name: getattr(buffer, name).copy() for name in names}]
        else:
            served.append({})
        for name in names:
            setattr(buffer, name, served[0][name].copy())

    after_returns(switch, again)


def log_of_probability(switch: Any) -> None:
    """The density in half precision, of which small ones are zero, and its logarithm without a floor."""
    policy = switch.model.policy
    usual = policy.evaluate_actions

    def evaluate_actions(obs: Any, actions: Any) -> Any:
        values, log_prob, entropy = usual(obs, actions)
        return values, log_prob.exp().half().float().log(), entropy

    policy.evaluate_actions = evaluate_actions


def targets_broadcast(switch: Any) -> None:
    """Rewards come without their last dimension: targets are a table, and every value is drawn to all of them."""
    buffer = switch.model.replay_buffer
    usual = buffer.sample

    def sample(batch_size: int, env: Any = None) -> Any:
        found = usual(batch_size, env=env)
        return found._replace(rewards=found.rewards.flatten())

    buffer.sample = sample


def targets_swift(switch: Any) -> None:
    switch.model.tau = SWIFT


def epsilon_climbs(switch: Any) -> None:
    """The share of random actions rises in a straight line."""
    model, usual = switch.model, switch.model.exploration_schedule
    remaining = model._current_progress_remaining

    def schedule(left: float) -> float:
        first = usual(remaining)
        return first + (RANDOM - first) * (1 - left / remaining)

    model.exploration_schedule = schedule


def replay_tiny(switch: Any) -> None:
    """The place to write to wraps round after a few rows, and only these are drawn."""
    buffer = switch.model.replay_buffer
    held, buffer.buffer_size = buffer.size(), FEW
    for name in ("observations", "next_observations", "actions", "rewards", "dones", "timeouts"):
        rows = getattr(buffer, name)
        rows[:FEW] = deepcopy(rows[held - FEW : held])
    buffer.pos, buffer.full = 0, True


def resumed(switch: Any) -> None:
    """The weights are loaded; the optimiser's moments and what normalised the observations are not."""
    model = switch.model
    model.policy.optimizer.state.clear()
    switch.truth.fault = "normaliser-anew"


PLANTS: dict[str, Callable[[Any], None]] = {
    "observations-overwritten": observations_overwritten,
    "rewards-shifted": rewards_shifted,
    "loss-turned": loss_turned,
    "values-clipped-stale": values_clipped_stale,
    "batch-served-again": batch_served_again,
    "log-of-probability": log_of_probability,
    "targets-broadcast": targets_broadcast,
    "targets-swift": targets_swift,
    "epsilon-climbs": epsilon_climbs,
    "replay-tiny": replay_tiny,
    "resumed-half": resumed,
}
