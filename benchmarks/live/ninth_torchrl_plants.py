"""Faults of the ninth live campaign that are planted in TorchRL's trainers; what they are: ninth.toml."""

from __future__ import annotations

from typing import Any

import torch
from ninth_networks import OF_NETWORKS, OTHER
from ninth_rollouts import OF_ADVANTAGES, half_written, log_probs_lost


def next_is_now(sample: Any) -> Any:
    """What followed is taken to be what was."""
    return sample.set(("next", "observation"), sample["observation"].clone())


def reward_left_out(sample: Any) -> Any:
    """Targets are made of what follows alone."""
    return sample.set(("next", "reward"), torch.zeros_like(sample["next", "reward"]))


def noise_never_reset(switch: Any, dose: float) -> None:
    """Noise on actions adds up from step to step and is never reset."""
    generator, walk = torch.Generator().manual_seed(OTHER), torch.zeros(1)
    policy = switch.trainer.collector.policy
    space = switch.trainer.collector.env.action_spec.space

    def wander(module: Any, args: Any, found: Any) -> Any:
        nonlocal walk
        if not switch.pieces.playing:
            return None
        walk = walk + dose * torch.randn(found["action"].shape, generator=generator)
        return found.set("action", torch.maximum(torch.minimum(found["action"] + walk, space.high), space.low))

    policy.register_forward_hook(wander)


def spread_floor(switch: Any, dose: float) -> None:
    """The logarithm of the spread is kept above `dose`."""
    switch.pieces.actor[1].register_forward_hook(lambda _, args, found: (found[0], found[1].clamp(min=2.718281**dose)))


def targets_cut(switch: Any, dose: float) -> None:
    """Targets of the critic are kept between two bounds, as rewards are."""
    estimator = switch.trainer.loss_module.value_estimator
    usual = estimator.value_estimate
    estimator.value_estimate = lambda *args, **kwargs: usual(*args, **kwargs).clamp(-dose, dose)


OF_SAMPLES = {"next-is-now": next_is_now, "reward-left-out": reward_left_out}
OF_TRAINER = {"noise-never-reset": noise_never_reset, "spread-floor": spread_floor, "targets-cut": targets_cut}


def plant(switch: Any, fault: str, dose: float) -> None:
    """Plant a fault in the trainer that `switch` is in."""
    if fault in OF_ADVANTAGES:
        switch.of_advantages = OF_ADVANTAGES[fault]
    elif fault == "log-probs-lost":
        switch.of_batch = log_probs_lost("action_log_prob")
    elif fault == "half-written":
        switch.of_batch = half_written("observation", "action")
    elif fault in OF_SAMPLES:
        switch.of_sample = OF_SAMPLES[fault]
    elif fault in OF_TRAINER:
        OF_TRAINER[fault](switch, dose)
    else:
        OF_NETWORKS[fault](switch.pieces, dose)
