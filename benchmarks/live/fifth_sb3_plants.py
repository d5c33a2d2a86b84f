"""Faults of the fifth live campaign that are planted in trainers of Stable-Baselines3; what they are: fifth.toml."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from fifth_doses import between
from fifth_weights import truncated

ENTROPY = 30.0
"""What a nat of entropy is worth in the end, in PPO's loss of normalised advantages."""
GROWTH = 100.0
"""What a learning rate is multiplied by in the end."""
GAMMA = 1.4
"""The discount in the end."""
RISE = 4.0
"""Nats by which the target of SAC's entropy is higher in the end: above what two bounded actions can have, 1.39."""
FEW = 8
"""Rows, the oldest, that replay still draws from in the end."""
LOUD = 2.0
"""Spread of the noise on the weights of who plays in the end, in spreads of each layer's weights."""
ANEW = 30
"""Actions after which that noise is drawn anew."""


def bonus_climbs(switch: Any) -> None:
    model, first = switch.model, switch.model.ent_coef

    def grow() -> None:
        model.ent_coef = between(first, ENTROPY, switch.dose())

    switch.each.append(grow)


def rate_warms(switch: Any) -> None:
    model, usual = switch.model, switch.model.lr_schedule
    model.lr_schedule = lambda left: usual(left) * (1 + (GROWTH - 1) * switch.dose())


def discount_creeps(switch: Any) -> None:
    model, first = switch.model, switch.model.gamma

    def grow() -> None:
        model.gamma = first + (GAMMA - first) * switch.dose()

    switch.each.append(grow)


def entropy_target_climbs(switch: Any) -> None:
    model, first = switch.model, switch.model.target_entropy

    def grow() -> None:
        model.target_entropy = first + RISE * switch.dose()

    switch.each.append(grow)


def replay_narrows(switch: Any) -> None:
    """Replay draws from ever fewer rows, the oldest."""
    buffer = switch.model.replay_buffer

    def sample(batch_size: int, env: Any = None) -> Any:
        width = max(1, int(between(buffer.size(), FEW, switch.dose())))
        return buffer._get_samples(np.random.randint(width, size=batch_size), env=env)

    buffer.sample = sample


def parameter_noise_grows(switch: Any) -> None:
    """Who plays has weights with noise, ever more of it; who learns has none."""
    learner, generator = switch.model.q_net, torch.Generator().manual_seed(0)
    player, count = deepcopy(learner), [0]

    @torch.no_grad()
    def predict(obs: Any, deterministic: bool = True) -> Any:
        if count[0] % ANEW == 0:
            for mine, theirs in zip(player.parameters(), learner.parameters(), strict=True):
                noise = torch.randn(theirs.shape, generator=generator)
                mine.copy_(theirs + LOUD * switch.dose() * float(theirs.std(correction=0)) * noise)
        count[0] += 1
        return player._predict(obs, deterministic=deterministic)

    switch.model.policy._predict = predict


def weights_cut(switch: Any) -> None:
    policy = switch.model.policy
    for network in (policy.actor, policy.critic) if hasattr(policy, "actor") else (policy,):
        truncated(network.optimizer, switch.dose)


PLANTS: dict[str, Callable[[Any], None]] = {
    "bonus-climbs": bonus_climbs,
    "rate-warms": rate_warms,
    "discount-creeps": discount_creeps,
    "entropy-target-climbs": entropy_target_climbs,
    "replay-narrows": replay_narrows,
    "parameter-noise-grows": parameter_noise_grows,
    "weights-cut": weights_cut,
}
