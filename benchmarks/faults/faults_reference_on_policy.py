"""Faults of the reference PPO and MM-RKHS: rollouts, advantages, ratios, kernels."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.faults.faults_reference import changed
from benchmarks.faults.planting import in_trainer

BESIDE = 10


def after(trainer: Any, method: str, change: Any) -> None:
    """Give what a method returns through `change`."""
    usual = getattr(trainer, method)
    setattr(trainer, method, lambda *args, **kwargs: change(usual(*args, **kwargs)))


@in_trainer("advantage-flipped", "ppo", "mmrkhs")
def advantage_flipped(trainer: Any) -> None:
    def flip(rollout: Any) -> Any:
        rollout["advantage"] = -rollout["advantage"]
        return rollout

    after(trainer, "advantages", flip)


@in_trainer("advantage-in-pairs", "ppo")
def advantage_in_pairs(trainer: Any) -> None:
    def pair(rollout: Any) -> Any:
        pairs = rollout["advantage"].reshape(-1, 2)
        scaled = (pairs - pairs.mean(1, keepdim=True)) / (pairs.std(1, keepdim=True) + 1e-8)
        rollout["advantage"] = scaled.reshape(rollout["advantage"].shape)
        return rollout

    changed(trainer, normalises_advantage=False)
    after(trainer, "advantages", pair)


@in_trainer("rollout-stale", "ppo", "mmrkhs")
def rollout_stale(trainer: Any) -> None:
    kept: list[Any] = []

    def old(fresh: Any) -> Any:  # the environment goes on and its returns are true; the trainer gets the old rollout
        if not kept:
            kept.append(fresh.clone())
        return kept[0].clone()

    after(trainer, "collect", old)


@in_trainer("gae-off-by-one", "ppo")
def gae_off_by_one(trainer: Any) -> None:
    usual = trainer.advantages

    def beside(rollout: Any) -> Any:
        right = {name: rollout[name] for name in ("terminated", "truncated")}
        for name, flags in right.items():
            rollout[name] = flags.roll(BESIDE, dims=1)
        rollout = usual(rollout)
        for name, flags in right.items():
            rollout[name] = flags
        return rollout

    trainer.advantages = beside


@in_trainer("next-observation-of-reset", "ppo")
def next_of_reset(trainer: Any) -> None:
    def of_reset(rollout: Any) -> Any:
        over = rollout["terminated"] | rollout["truncated"]
        # What follows an end is the value of the next row's observation, which is the first of the next episode.
        following = torch.cat([rollout["value"][:, 1:], rollout["next_value"][:, -1:]], 1)
        rollout["next_value"] = torch.where(over, following, rollout["next_value"])
        rollout["terminated"] = torch.zeros_like(rollout["terminated"])
        rollout["truncated"] = over
        return rollout

    after(trainer, "collect", of_reset)


@in_trainer("surrogate-dead", "ppo")
def surrogate_dead(trainer: Any) -> None:
    usual = trainer.loss

    def loss(minibatch: Any) -> Any:
        return usual({**dict(minibatch.items()), "log_prob": trainer.log_prob(minibatch)})

    trainer.loss = loss


@in_trainer("logprob-broadcast", "ppo")
def logprob_broadcast(trainer: Any) -> None:
    usual = trainer.loss

    def loss(minibatch: Any) -> Any:
        return usual({**dict(minibatch.items()), "log_prob": minibatch["log_prob"].reshape(-1, 1)})

    trainer.loss = loss


@in_trainer("learning-rate-inverted", "ppo")
def learning_rate_inverted(trainer: Any) -> None:
    rate, usual = trainer.config.learning_rate, trainer.update

    def update(rollout: Any) -> Any:
        for group in trainer.optimiser.param_groups:
            group["lr"] = 20 * rate * trainer.env_steps / trainer.run_total
        return usual(rollout)

    trainer.update = update


@in_trainer("epochs-x10", "ppo")
def epochs_x10(trainer: Any) -> None:
    changed(trainer, update_epochs=10 * trainer.config.update_epochs, clip_range=1e9)


@in_trainer("critic-off", "ppo")
def critic_off(trainer: Any) -> None:
    changed(trainer, value_coef=0.0)


@in_trainer("spread-frozen", "ppo", "mmrkhs")
@torch.no_grad()
def spread_frozen(trainer: Any) -> None:
    trainer.actor.log_std.fill_(-5.0)
    trainer.actor.log_std.requires_grad_(False)


@in_trainer("units-saturated", "ppo")
@torch.no_grad()
def units_saturated(trainer: Any) -> None:
    for net in (trainer.actor.net, trainer.critic.net):
        net[0].weight.mul_(50)
        for i, layer in enumerate(net):
            if isinstance(layer, torch.nn.Tanh):
                net[i] = torch.nn.Sigmoid()


# ---- MM-RKHS ------------------------------------------------------------------------------------------------------


@in_trainer("critic-learning-rate-x1000", "mmrkhs")
def critic_learning_rate(trainer: Any) -> None:
    held = {id(weight) for weight in trainer.critic.parameters()}
    for group in trainer.optimiser.param_groups:
        if any(id(weight) in held for weight in group["params"]):
            group["lr"] *= 1000


@in_trainer("bandwidth-tiny", "mmrkhs")
def bandwidth_tiny(trainer: Any) -> None:
    usual = trainer.set_weights

    def set_weights(rollout: Any) -> None:
        usual(rollout)
        trainer.bandwidth /= 100
        trainer.beta *= 1000

    trainer.set_weights = set_weights


@in_trainer("kl-weight-negative", "mmrkhs")
def kl_weight_negative(trainer: Any) -> None:
    usual = trainer.set_weights

    def set_weights(rollout: Any) -> None:
        usual(rollout)
        trainer.eta = -abs(trainer.eta)

    trainer.set_weights = set_weights
