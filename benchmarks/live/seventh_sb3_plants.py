"""Faults of the seventh live campaign that are planted in trainers of Stable-Baselines3; what they are: seventh.toml.

Each is handed the callback that switches it on and how large it is to be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from seventh_sb3_replay import OF_REPLAY, Plant

ROWS = ("observations", "actions", "rewards", "episode_starts", "values", "log_probs")
"""What a rollout buffer holds before returns are computed."""
ALL = (*ROWS, "advantages", "returns")
UNCLIPPED = 1e9


def before_returns(change: Callable[[Any, float], None]) -> Plant:
    """Return what lets `change` do what it does to a rollout before returns are computed."""

    def plant(switch: Any, dose: float) -> None:
        buffer = switch.model.rollout_buffer
        usual = buffer.compute_returns_and_advantage

        def compute(last_values: Any, dones: Any) -> None:
            change(buffer, dose)
            usual(last_values, dones)

        buffer.compute_returns_and_advantage = compute

    return plant


def shuffled(buffer: Any, dose: float) -> None:
    """The steps of a rollout come back in random order."""
    del dose
    order = np.random.permutation(len(buffer.rewards))
    for name in ROWS:
        setattr(buffer, name, getattr(buffer, name)[order])


def ends_late(buffer: Any, dose: float) -> None:
    """The ends of episodes are looked up some steps late."""
    buffer.episode_starts = np.roll(buffer.episode_starts, int(dose), axis=0)


def rollouts_behind(switch: Any, dose: float) -> None:
    """What is learned from was collected so many updates ago, and the ratio has no bounds."""
    model = switch.model
    buffer, queue = model.rollout_buffer, deque[dict[str, Any]](maxlen=int(dose) + 1)
    usual, model.clip_range = buffer.compute_returns_and_advantage, lambda _: UNCLIPPED

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        queue.append({name: getattr(buffer, name).copy() for name in ALL})
        for name in ALL:
            setattr(buffer, name, queue[0][name].copy())

    buffer.compute_returns_and_advantage = compute


def returns_forward(switch: Any, dose: float) -> None:
    """What was summed up from the end is not turned round."""
    del dose
    buffer = switch.model.rollout_buffer
    usual = buffer.compute_returns_and_advantage

    def compute(last_values: Any, dones: Any) -> None:
        usual(last_values, dones)
        buffer.advantages, buffer.returns = buffer.advantages[::-1].copy(), buffer.returns[::-1].copy()

    buffer.compute_returns_and_advantage = compute


def entropy_paid(switch: Any, dose: float) -> None:
    switch.model.ent_coef = dose


def overflow_applied(switch: Any, dose: float) -> None:
    """Gradients are kept in half precision, scaled; one that overflowed is applied like any other."""
    model = switch.model
    optimisers = [model.policy.optimizer] if hasattr(model, "rollout_buffer") else [model.critic.optimizer]
    optimisers += [model.actor.optimizer] if hasattr(model, "actor") else []

    def halve(optimiser: Any, args: Any, kwargs: Any) -> None:
        del args, kwargs
        for group in optimiser.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    weight.grad.copy_((weight.grad * dose).half().float() / dose)

    for optimiser in optimisers:
        optimiser.register_step_pre_hook(halve)


def rate_too_high(switch: Any, dose: float) -> None:
    usual = switch.model.lr_schedule
    switch.model.lr_schedule = lambda left: dose * usual(left)


def schedule_inverted(switch: Any, dose: float) -> None:
    """The rate rises in a straight line, to so many times what it was."""
    model, usual = switch.model, switch.model.lr_schedule
    remaining = model._current_progress_remaining
    model.lr_schedule = lambda left: usual(left) * (1 + (dose - 1) * (1 - left / remaining))


def sampler_rounded(switch: Any, dose: float) -> None:
    """Who plays has the weights of now, rounded to so many steps on either side of nothing."""
    policy = switch.model.policy
    networks = (policy.mlp_extractor.policy_net, policy.action_net)
    weights = [w for network in networks for w in network.parameters() if w.dim() > 1]

    def rounded() -> None:
        for weight in weights:
            step = weight.abs().max() / dose
            weight.copy_((weight / step).round() * step)

    played_with(switch.model, weights, rounded)


def sampler_miscopied(switch: Any, dose: float) -> None:
    """Who plays has the weights of now, of which one matrix was written the wrong way round."""
    del dose
    weight = switch.model.policy.mlp_extractor.policy_net[2].weight
    played_with(switch.model, [weight], lambda: weight.copy_(weight.T.clone()))


def played_with(model: Any, weights: list[Any], change: Callable[[], Any]) -> None:
    """Let rollouts be collected with `weights` as `change` makes them; what is learned is not changed."""
    usual = model.collect_rollouts

    def collect_rollouts(*args: Any, **kwargs: Any) -> Any:
        whole = [weight.detach().clone() for weight in weights]
        with torch.no_grad():
            change()
        try:
            return usual(*args, **kwargs)
        finally:
            with torch.no_grad():
                for weight, kept in zip(weights, whole, strict=True):
                    weight.copy_(kept)

    model.collect_rollouts = collect_rollouts


def spread_frozen(switch: Any, dose: float) -> None:
    """The logarithm of the spread is so far below nothing, and is not learned."""
    with torch.no_grad():
        switch.model.policy.log_std.fill_(-dose)
    switch.model.policy.log_std.requires_grad_(False)


def spread_unbounded(switch: Any, dose: float) -> None:
    """The spread is a plain number that goes down by so much at every step; nothing keeps it above nothing."""

    def lower() -> None:
        with torch.no_grad():
            log_std = switch.model.policy.log_std
            log_std.copy_((log_std.exp() - dose).log())

    switch.each.append(lower)


PLANTS: dict[str, Plant] = OF_REPLAY | {
    "returns-forward": returns_forward,
    "entropy-paid": entropy_paid,
    "overflow-applied": overflow_applied,
    "sampler-miscopied": sampler_miscopied,
    "spread-unbounded": spread_unbounded,
    "rollout-shuffled": before_returns(shuffled),
    "ends-late": before_returns(ends_late),
    "rollouts-behind": rollouts_behind,
    "rate-far-too-high": rate_too_high,
    "schedule-inverted": schedule_inverted,
    "sampler-rounded": sampler_rounded,
    "spread-frozen": spread_frozen,
}
