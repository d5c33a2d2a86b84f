"""Faults of the seventh live campaign that are planted in the reference trainers; what they are: seventh.toml.

Each is handed the trainer and how large it is to be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from seventh_reference_replay import OF_REPLAY, OTHER, Plant


def of_rollouts(change: Callable[[Any, float], Any]) -> Plant:
    """Return what lets `change` do what it does to every rollout."""

    def plant(trainer: Any, dose: float) -> None:
        usual = trainer.collect
        trainer.collect = lambda: change(usual(), dose)

    return plant


def shuffled(rollout: Any, dose: float) -> Any:
    """The steps of a rollout come back in random order."""
    del dose
    return rollout[:, torch.randperm(rollout.shape[1])]


def ends_late(rollout: Any, dose: float) -> Any:
    """The ends of episodes are looked up some steps late."""
    for name in ("terminated", "truncated"):
        rollout[name] = rollout[name].roll(int(dose), 1)
    return rollout


def paths_apart(rollout: Any, dose: float) -> Any:
    """The path that scores what was played differs from the one that learns by so much of a log-probability."""
    rollout["log_prob"] = rollout["log_prob"] + dose * torch.randn(rollout["log_prob"].shape)
    return rollout


def reward_averaged(rollout: Any, dose: float) -> Any:
    """One reward, the mean over all copies, is handed to every copy."""
    del dose
    rollout["reward"] = rollout["reward"].mean(0, keepdim=True).expand_as(rollout["reward"]).clone()
    return rollout


def of_advantages(change: Callable[[Any, Callable[[Any], Any], float], Any]) -> Plant:
    """Return what lets `change` compute advantages with what usually does."""

    def plant(trainer: Any, dose: float) -> None:
        usual = trainer.advantages
        trainer.advantages = lambda rollout: change(rollout, usual, dose)

    return plant


def returns_forward(rollout: Any, usual: Callable[[Any], Any], dose: float) -> Any:
    """What was summed up from the end is not turned round."""
    del dose
    found = usual(rollout)
    for name in ("advantage", "value_target"):
        found[name] = found[name].flip(1)
    return found


def trace_ends_early(rollout: Any, usual: Callable[[Any], Any], dose: float) -> Any:
    """Traces are cut so many steps before an episode's end, and go on over the end itself."""
    moved = rollout.clone()
    for name in ("terminated", "truncated"):
        moved[name] = moved[name].roll(-int(dose), 1)
    found = usual(moved)
    return rollout.update({name: found[name] for name in ("advantage", "value_target")})


def normalised_in_pairs(trainer: Any, dose: float) -> None:
    """Advantages are normalised two by two."""
    del dose
    usual = trainer.prepare

    def prepare(rollout: Any) -> Any:
        found = usual(rollout)
        pairs = found["advantage"].reshape(-1, 2)
        scaled = (pairs - pairs.mean(1, keepdim=True)) / (pairs.std(1, keepdim=True) + 1e-8)
        found["advantage"] = scaled.reshape(found["advantage"].shape)
        return found

    trainer.prepare = prepare


def entropy_paid(trainer: Any, dose: float) -> None:
    trainer.config = replace(trainer.config, entropy_coef=dose)


def sampler_miscopied(trainer: Any, dose: float) -> None:
    """Who plays has the weights of now, of which one matrix was written the wrong way round."""
    del dose
    played_by(trainer, transpose)


def transpose(network: Any) -> None:
    """Turn the weights between the hidden layers of a policy."""
    with torch.no_grad():
        network.net[2].weight.copy_(network.net[2].weight.T.clone())


def rollouts_kept(trainer: Any, dose: float) -> None:
    """The buffer is not cleared: what was collected before is learned from again."""
    usual, kept = trainer.collect, deque[Any](maxlen=int(dose))

    def collect() -> Any:
        kept.append(usual())
        return torch.cat([rollout.clone() for rollout in kept])

    trainer.collect = collect


def rate_too_high(trainer: Any, dose: float) -> None:
    for group in trainer.optimiser.param_groups:
        group["lr"] *= dose


def epochs_many(trainer: Any, dose: float) -> None:
    trainer.config = replace(trainer.config, epochs=int(dose * trainer.config.epochs))


def ratios_of_all_pairs(trainer: Any, dose: float) -> None:
    """New log-probabilities are a column, old ones a row: their difference is a table."""
    del dose
    usual = trainer.loss

    def loss(minibatch: Any) -> dict[str, Any]:
        straight = trainer.log_prob
        trainer.log_prob = lambda rows: straight(rows).reshape(-1, 1)
        try:
            return usual(minibatch)
        finally:
            trainer.log_prob = straight

    trainer.loss = loss


def sampler_rounded(trainer: Any, dose: float) -> None:
    """Who plays has the weights of now, rounded to so many steps on either side of nothing."""
    played_by(trainer, lambda player: round_weights(player, dose))


def played_by(trainer: Any, change: Callable[[Any], None]) -> None:
    """Let who plays be a copy that `change` does something to, every time."""
    usual = trainer.collect

    def collect() -> Any:
        learner, trainer.actor = trainer.actor, deepcopy(trainer.actor)
        change(trainer.actor)
        rows = usual()
        trainer.actor = learner
        if hasattr(trainer, "old_actor"):
            trainer.old_actor.load_state_dict(learner.state_dict())
        return rows

    trainer.collect = collect


@torch.no_grad()
def round_weights(network: Any, steps: float) -> None:
    """Round each matrix of weights to `steps` steps on either side of nothing, the largest weight being the last."""
    for weight in network.parameters():
        if weight.dim() > 1:
            step = weight.abs().max() / steps
            weight.copy_((weight / step).round() * step)


def resumed_unlearned(trainer: Any, dose: float) -> None:
    """Actor and critic have the weights of new ones; all else goes on."""
    del dose
    torch.manual_seed(OTHER)
    for network in (trainer.actor, trainer.critic):
        linear = [layer for layer in network.net if isinstance(layer, torch.nn.Linear)]
        for layer in linear:
            torch.nn.init.orthogonal_(layer.weight, 0.01 if layer is linear[-1] and network is trainer.actor else 1.4)
            torch.nn.init.zeros_(layer.bias)


PLANTS: dict[str, Plant] = OF_REPLAY | {
    "rollout-shuffled": of_rollouts(shuffled),
    "ends-late": of_rollouts(ends_late),
    "reward-averaged": of_rollouts(reward_averaged),
    "returns-forward": of_advantages(returns_forward),
    "trace-ends-early": of_advantages(trace_ends_early),
    "normalised-in-pairs": normalised_in_pairs,
    "entropy-paid": entropy_paid,
    "sampler-miscopied": sampler_miscopied,
    "rollouts-kept": rollouts_kept,
    "rate-far-too-high": rate_too_high,
    "epochs-many": epochs_many,
    "ratios-of-all-pairs": ratios_of_all_pairs,
    "sampler-rounded": sampler_rounded,
    "resumed-unlearned": resumed_unlearned,
    "paths-apart": of_rollouts(paths_apart),
}
