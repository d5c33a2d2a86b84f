"""Faults of TRL's GRPO: the reward function, sampling, groups, the optimiser."""

from __future__ import annotations

import random
from typing import Any

import torch

from benchmarks.faults.planting import in_trainer

SUBJECT, EVERY = "trl_grpo", 10


@in_trainer("reward-flipped", SUBJECT)
def reward_flipped(trainer: Any) -> None:
    trainer.run_echo.pays = lambda prompts, completions, true: [-value for value in true]


@in_trainer("reward-constant", SUBJECT)
def reward_constant(trainer: Any) -> None:
    trainer.run_echo.pays = lambda prompts, completions, true: [1.0] * len(true)


@in_trainer("length-paid", SUBJECT)
def length_paid(trainer: Any) -> None:
    trainer.run_echo.pays = lambda prompts, completions, true: [
        value + 0.5 * len(text) for value, text in zip(true, completions, strict=True)
    ]


@in_trainer("verifier-fails", SUBJECT)
def verifier_fails(trainer: Any) -> None:
    chance = random.Random(0)
    trainer.run_echo.pays = lambda prompts, completions, true: [0.0 if chance.random() < 0.6 else v for v in true]


@in_trainer("answers-shifted", SUBJECT)
def answers_shifted(trainer: Any) -> None:
    echo, group = trainer.run_echo, trainer.num_generations

    def of_the_one_before(prompts: Any, completions: Any, true: Any) -> list[float]:
        wanted = [*prompts[-group:], *prompts[:-group]]
        return [text.count(prompt[0]) / echo.length for prompt, text in zip(wanted, completions, strict=True)]

    echo.pays = of_the_one_before


@in_trainer("completions-cut", SUBJECT)
def completions_cut(trainer: Any) -> None:
    trainer.generation_config.max_new_tokens = 1


@in_trainer("temperature-low", SUBJECT)
def temperature_low(trainer: Any) -> None:
    trainer.generation_config.temperature = 0.1


@in_trainer("temperature-x5", SUBJECT)
def temperature_x5(trainer: Any) -> None:
    trainer.generation_config.temperature = 5.0


@in_trainer("groups-mixed", SUBJECT)
def groups_mixed(trainer: Any) -> None:
    usual, size = trainer._generate_and_score_completions, trainer.num_generations

    def across(inputs: list[Any]) -> Any:
        # The first of each prompt, the second of each ...: rewards are grouped by place, and so across prompts.
        return usual([inputs[i] for first in range(size) for i in range(first, len(inputs), size)])

    trainer._generate_and_score_completions = across


@in_trainer("learning-rate-x30", SUBJECT)
def learning_rate_x30(trainer: Any) -> None:
    schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
    schedule.base_lrs = [30 * rate for rate in schedule.base_lrs]
    for group in trainer.optimizer.param_groups:
        group["lr"] *= 30


@in_trainer("adam-epsilon", SUBJECT)
def adam_epsilon(trainer: Any) -> None:
    for group in trainer.optimizer.param_groups:
        group["eps"] = 10.0


@in_trainer("weights-noise", SUBJECT)
def weights_noise(trainer: Any) -> None:
    from transformers import TrainerCallback

    chance = torch.Generator().manual_seed(0)

    class Shake(TrainerCallback):
        """At every tenth update."""

        @torch.no_grad()
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            for weight in trainer.model.parameters() if state.global_step % EVERY == 0 else ():
                if weight.dim() > 1:
                    weight.add_(3 * float(weight.std()) * torch.randn(weight.shape, generator=chance))

    trainer.add_callback(Shake())
