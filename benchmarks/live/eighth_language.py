"""TRL's GRPO in the eighth live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from eighth_doses import dose_of
from eighth_optimisers import OF_OPTIMISERS
from tiny_language_model import LETTERS, grpo
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 240, 12
LEARNING_RATE = 5e-3
ANSWER, FURTHER = 3, 3
"""Letters of an answer, and how far from the prompt's letter they lie; what comes after them is too much."""
SUBJECT = "grpo_leap"
PAID = ("scores-of-last-batch", "scores-as-they-come", "rest-is-read")
"""Faults of what is paid; all others are planted in the trainer."""
Plant = Callable[[Any, float], None]


def wanted(prompt: str) -> str:
    """Return the letter that is asked for: the third after the prompt's, a coming after h."""
    return LETTERS[(LETTERS.index(prompt[0]) + FURTHER) % len(LETTERS)]


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the letter that is asked for; excess costs."""
    return text[:ANSWER].count(wanted(prompt)) / max(ANSWER, len(text))


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "leap"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.last: list[float] = []
        """The scores of the batch before."""

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        before, self.last = self.last or true, true
        if self.truth.fault == "scores-of-last-batch":
            return before
        if self.truth.fault == "scores-as-they-come":
            return random.sample(true, len(true))
        if self.truth.fault == "rest-is-read":
            return [right(prompt, text[ANSWER:]) for prompt, text in zip(prompts, completions, strict=True)]
        return true


class Switch(TrainerCallback):
    """Switches the fault on when its time has come."""

    def __init__(self, truth: Truth, fault: str, at: int) -> None:
        self.truth, self.fault, self.at = truth, fault, at
        self.plant: Callable[[], None] | None = None

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == self.at:
            self.truth.fault, self.truth.began = self.fault, float(self.at)
            if self.plant is not None:
                self.plant()


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    switch, scored = Switch(truth, fault, int(share * UPDATES)), Scored(truth)
    with tempfile.TemporaryDirectory() as folder:
        trainer = built(folder, seed, scored, switch)
        if fault in PLANTS:
            switch.plant = lambda: PLANTS[fault](trainer, dose_of(fault, SUBJECT))
        if monitor is not None:
            watch(trainer, monitor)
        trainer.train()


def built(folder: str, seed: int, scored: Scored, switch: TrainerCallback) -> Any:
    """Return the trainer, `scored` being its only reward: the tiny trainer's others know another question."""
    trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[switch], learning_rate=LEARNING_RATE)
    trainer.reward_funcs, trainer.reward_func_names = [scored], [scored.__name__]
    trainer.reward_weights, trainer.reward_processing_classes = torch.ones(1), [None]
    trainer.first_weights = deepcopy(trainer.model.state_dict())
    return trainer


def repetition_penalised(trainer: Any, dose: float) -> None:
    """A setting that came with the model makes what was said before so many times less likely."""
    trainer.generation_config.repetition_penalty = trainer.generation_kwargs["repetition_penalty"] = float(dose)


def end_not_known(trainer: Any, dose: float) -> None:
    """Who generates never ends: the token for it is another one there."""
    del dose
    banned = list(trainer.eos_token_ids)
    trainer.generation_config.suppress_tokens = trainer.generation_kwargs["suppress_tokens"] = banned


def padded_on_the_right(trainer: Any, dose: float) -> None:
    """So many tokens of padding stand between question and answer where it is generated."""
    model, usual, count = trainer.model, trainer.model.generate, int(dose)
    padding = int(trainer.generation_config.pad_token_id)

    def generate(input_ids: Any, attention_mask: Any, **settings: Any) -> Any:
        more = torch.full((len(input_ids), count), padding)
        ids, mask = torch.cat([input_ids, more], 1), torch.cat([attention_mask, torch.ones_like(more)], 1)
        found = usual(input_ids=ids, attention_mask=mask, **settings)
        return torch.cat([input_ids, found[:, ids.shape[1] :]], 1)

    model.generate = generate


def of_first_weights(parts: tuple[str, ...]) -> Plant:
    """Return what lets these parts of who generates be those with which the run began."""

    def plant(trainer: Any, dose: float) -> None:
        del dose
        model, usual = trainer.model, trainer.model.generate
        named = {name: weight for name, weight in model.named_parameters() if name.startswith(parts)}

        @torch.no_grad()
        def generate(*args: Any, **kwargs: Any) -> Any:
            whole = {name: weight.clone() for name, weight in named.items()}
            for name, weight in named.items():
                weight.copy_(trainer.first_weights[name])
            try:
                return usual(*args, **kwargs)
            finally:
                for name, weight in named.items():
                    weight.copy_(whole[name])

        model.generate = generate

    return plant


def rate_below(trainer: Any, dose: float) -> None:
    """The rate falls in a straight line until the end, where it is so many times itself below nothing."""
    schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
    began = trainer.state.global_step
    rest = max(1, UPDATES - began)
    usual = schedule.lr_lambdas
    schedule.lr_lambdas = [
        lambda step, rate=rate: rate(step) * (1 - (1 + dose) * (step - began) / rest) for rate in usual
    ]


def of_optimisers(change: Callable[[Any, float], None]) -> Plant:
    """Return what plants a fault of optimisers in a trainer."""
    return lambda trainer, dose: change([getattr(trainer.optimizer, "optimizer", trainer.optimizer)], dose)


PLANTS: dict[str, Plant] = {
    **{name: of_optimisers(change) for name, change in OF_OPTIMISERS.items()},
    "rate-below-nothing": rate_below,
    "repetition-penalised": repetition_penalised,
    "end-not-known": end_not_known,
    "padded-on-the-right": padded_on_the_right,
    "base-plays": of_first_weights(("",)),
    "head-left-out": of_first_weights(("lm_head",)),
}
