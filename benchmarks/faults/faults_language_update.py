"""Faults of the update of a language model: groups, masks, ratios, references, values, optimisers."""

from __future__ import annotations

import math
from typing import Any

import torch

from benchmarks.faults.faults_language_reward import changed
from benchmarks.faults.planting import in_trainer
from firstbreak.trainers.language import rlhf_ppo
from firstbreak.trainers.language.losses import averaged, whole_of
from firstbreak.trainers.language.symbols import EOS

TOO_MANY, BESIDE = 100, 4


def prepared(trainer: Any, change: Any) -> None:
    """Give every prepared batch through `change`."""
    usual = trainer.prepare
    trainer.prepare = lambda batch: change(usual(batch))


@in_trainer("advantage-flipped", "grpo")
def advantage_flipped(trainer: Any) -> None:
    usual = trainer.advantages
    trainer.advantages = lambda reward, group: -usual(reward, group)


@in_trainer("groups-mixed", "grpo")
def groups_mixed(trainer: Any) -> None:
    usual = trainer.advantages

    def mixed(reward: Any, group: Any) -> Any:
        prompts = len(set(group.tolist()))
        return usual(reward, torch.arange(len(reward)) % prompts)  # the first of each prompt, the second of each ...

    trainer.advantages = mixed


@in_trainer("advantage-twice", "grpo")
def advantage_twice(trainer: Any) -> None:
    usual = trainer.advantages

    def twice(reward: Any, group: Any) -> Any:
        once = usual(reward, group)
        return (once - once.mean()) / (once.std() + 1e-4)

    trainer.advantages = twice


@in_trainer("surrogate-dead", "grpo")
def surrogate_dead(trainer: Any) -> None:
    usual = trainer.loss

    def loss(batch: Any, whole: Any = None) -> Any:
        return usual({**batch, "old_log_prob": trainer.log_prob(batch)}, whole)

    trainer.loss = loss


@in_trainer("padding-counted", "grpo", "rlhf_ppo")
def padding_counted(trainer: Any) -> None:
    usual = trainer.loss
    trainer.loss = lambda *args, **kwargs: {k: v / TOO_MANY for k, v in usual(*args, **kwargs).items()}


@in_trainer("prompt-trained", "grpo", "tool_agent")
def prompt_trained(trainer: Any) -> None:
    def whole_text(batch: Any) -> Any:
        first = batch["attention"].cumsum(1) == 1  # nothing comes before it, so it has no probability
        return {**batch, "loss_mask": batch["attention"] & ~first}

    prepared(trainer, whole_text)


@in_trainer("stop-token-unlearned", "grpo", "async_grpo")
def stop_token_unlearned(trainer: Any) -> None:
    usual = trainer.loss

    def loss(batch: Any, whole: Any = None) -> Any:
        terms = usual(batch, whole)
        stops = batch["loss_mask"] & (batch["ids"] == EOS)
        # Padding is pushed down wherever it stands, and the stop token is taken for it.
        pushed = averaged(trainer.log_prob(batch), stops, "dapo", whole_of(stops, trainer.config.max_new_tokens))
        return {**terms, "policy": terms["policy"] + pushed}

    trainer.loss = loss


@in_trainer("kl-flipped", "rlhf_ppo")
def kl_flipped(trainer: Any) -> None:
    changed(trainer, kl_coef=-10 * trainer.config.kl_coef)


@in_trainer("reference-live", "rlhf_ppo", "grpo")
def reference_live(trainer: Any) -> None:
    trainer.reference = trainer.model


@in_trainer("clip-low-only", "grpo")
def clip_low_only(trainer: Any) -> None:
    changed(trainer, epsilon_high=math.inf, num_iterations=8 * trainer.config.num_iterations)


@in_trainer("learning-rate-x30", "grpo", "rlhf_ppo")
def learning_rate_x30(trainer: Any) -> None:
    for group in trainer.optimiser.param_groups:
        group["lr"] *= 30


@in_trainer("sgd-at-adams-rate", "grpo")
def sgd(trainer: Any) -> None:
    trainer.optimiser = torch.optim.SGD(trainer.model.parameters(), lr=trainer.config.learning_rate)


@in_trainer("adam-epsilon", "grpo")
def adam_epsilon(trainer: Any) -> None:
    for group in trainer.optimiser.param_groups:
        group["eps"] = 10.0


@in_trainer("gradient-clipped-away", "grpo")
def gradient_clipped_away(trainer: Any) -> None:
    # Adam divides by what is left of a gradient: only far below its epsilon of 1e-8 does clipping stop it.
    changed(trainer, max_grad_norm=1e-12)


@in_trainer("policy-frozen", "grpo")
def policy_frozen(trainer: Any) -> None:
    trainer.optimiser.step = lambda *args, **kwargs: None


@in_trainer("weights-nan", "grpo")
@torch.no_grad()
def weights_nan(trainer: Any) -> None:
    next(iter(trainer.model.parameters())).view(-1)[0] = math.nan


# ---- values -------------------------------------------------------------------------------------------------------


@in_trainer("critic-off", "rlhf_ppo")
def critic_off(trainer: Any) -> None:
    changed(trainer, vf_coef=0.0)


@in_trainer("value-shifted", "rlhf_ppo")
def value_shifted(trainer: Any) -> None:
    usual = rlhf_ppo.state_values

    def beside(model: Any, ids: Any, attention: Any) -> Any:
        return usual(model, ids, attention).roll(BESIDE, dims=1)

    def restore() -> None:
        rlhf_ppo.state_values = usual

    rlhf_ppo.state_values = beside
    trainer.undone.callback(restore)
