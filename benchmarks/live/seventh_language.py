"""TRL's GRPO in the seventh live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import random
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch
import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from seventh_doses import dose_of
from tiny_language_model import LENGTH, LETTERS, grpo
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 220, 12
LEARNING_RATE = 4e-3
ANSWER = 4
"""Letters of an answer; what comes after them is too much."""
GROUP = 8
PADDING = slice(11, 21)
"""Ids of the vocabulary that no question or answer has: the digits."""
UNCLIPPED = 1e9
SUBJECT = "grpo_swap"
PAID = (
    "labels-off", "pattern-narrow", "substring-enough", "form-outweighs", "verifier-falls-over", "judge-swapped",
)  # fmt: skip
"""Faults of what is paid; all others are planted in the trainer."""


def wanted(prompt: str) -> str:
    """Return the letter that is asked for: the prompt's neighbour, a and b being neighbours, c and d, and so on."""
    return LETTERS[LETTERS.index(prompt[0]) ^ 1]


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the letter that is asked for; excess costs."""
    return text[:ANSWER].count(wanted(prompt)) / max(ANSWER, len(text))


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "swap"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        if self.truth.fault not in PAID:
            return true
        return paid(self.truth.fault, dose_of(self.truth.fault, SUBJECT), prompts, completions, true)


def paid(
    fault: str, dose: float, prompts: Sequence[str], completions: Sequence[str], true: Sequence[float]
) -> list[float]:
    """Return what a fault pays.

    Args:
        fault: One of `PAID`.
        dose: How large it is.
        prompts: What was asked.
        completions: What was answered.
        true: What should be paid.
    """
    if fault == "labels-off":
        shift = int(dose) * GROUP
        others = [*prompts[-shift:], *prompts[:-shift]]
        return [right(prompt, text) for prompt, text in zip(others, completions, strict=True)]
    if fault == "pattern-narrow":
        unknown = set(LETTERS[len(LETTERS) - int(dose) :])
        return [0.0 if set(text) & unknown else level for text, level in zip(completions, true, strict=True)]
    if fault == "substring-enough":
        return [float(wanted(prompt) in text) for prompt, text in zip(prompts, completions, strict=True)]
    if fault == "verifier-falls-over":
        return [0.0 if random.random() < dose else level for level in true]
    if fault == "judge-swapped":
        return [
            text[:ANSWER].count(prompt[0]) / max(ANSWER, len(text))
            for prompt, text in zip(prompts, completions, strict=True)
        ]
    return [level + dose * (len(text) >= LENGTH) for text, level in zip(completions, true, strict=True)]


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
    return trainer


def room_too_short(trainer: Any, dose: float) -> None:
    """There is room for so many tokens, fewer than an answer has."""
    trainer.generation_config.max_new_tokens = int(dose)


def padding_sampled(trainer: Any, dose: float) -> None:
    """Who generates puts so large a share on tokens that only pad the vocabulary."""
    model, usual = trainer.model, trainer.model.generate

    def hook(module: Any, args: Any, logits: Any) -> Any:
        del module, args
        probs = (1 - dose) * logits.softmax(-1)
        probs[..., PADDING] += dose / (PADDING.stop - PADDING.start)
        return probs.log()

    def generate(*args: Any, **kwargs: Any) -> Any:
        handle = model.lm_head.register_forward_hook(hook)
        try:
            return usual(*args, **kwargs)
        finally:
            handle.remove()

    model.generate = generate


def changed(change: Callable[[Any, dict[str, Any], float], dict[str, Any]]) -> Callable[[Any, float], None]:
    """Return what lets `change` do what it does to every batch that is generated and scored."""

    def plant(trainer: Any, dose: float) -> None:
        usual = trainer._generate_and_score_completions

        def generated(inputs: list[Any]) -> Any:
            found = usual(inputs)
            found["old_per_token_logps"] = log_probs(trainer, found)
            return change(trainer, found, dose)

        trainer._generate_and_score_completions = generated

    return plant


@torch.no_grad()
def log_probs(trainer: Any, found: dict[str, Any], temperature: float = 1.0) -> torch.Tensor:
    """Return what the model says, at a temperature, of each token of each completion."""
    ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
    mask = torch.cat([found["prompt_mask"], found["completion_mask"]], 1)
    length = found["completion_ids"].shape[1]
    logits = trainer.model(input_ids=ids, attention_mask=mask).logits[:, -length - 1 : -1]
    return (logits / temperature).log_softmax(-1).gather(-1, found["completion_ids"].unsqueeze(-1)).squeeze(-1)


def infinity_masked(trainer: Any, found: dict[str, Any], dose: float) -> dict[str, Any]:
    """What comes after the end has no probability, and is masked by a multiplication with nothing."""
    del trainer, dose
    gone = found["completion_mask"] == 0
    found["old_per_token_logps"] = found["old_per_token_logps"].masked_fill(gone, float("-inf"))
    return found


def paths_apart(trainer: Any, found: dict[str, Any], dose: float) -> dict[str, Any]:
    """The path that scores what was generated differs from the one that learns by so much of a log-probability."""
    del trainer
    old = found["old_per_token_logps"]
    found["old_per_token_logps"] = old + dose * torch.randn(old.shape)
    return found


@torch.no_grad()
def scored_at_another_heat(trainer: Any, found: dict[str, Any], dose: float) -> dict[str, Any]:
    """Log-probabilities of what was generated are those of the distribution at another temperature."""
    found["old_per_token_logps"] = log_probs(trainer, found, dose)
    return found


def rollouts_behind(trainer: Any, dose: float) -> None:
    """What is learned from was generated so many updates ago, and the ratio has no bounds."""
    queue = deque[dict[str, Any]](maxlen=int(dose) + 1)
    trainer.epsilon_low = trainer.epsilon_high = UNCLIPPED

    def late(trainer: Any, found: dict[str, Any], dose: float) -> dict[str, Any]:
        del trainer, dose
        queue.append(found)
        return queue[0]

    changed(late)(trainer, dose)


PLANTS: dict[str, Callable[[Any, float], None]] = {
    "room-too-short": room_too_short,
    "scored-at-another-heat": changed(scored_at_another_heat),
    "padding-sampled": padding_sampled,
    "infinity-masked": changed(infinity_masked),
    "paths-apart": changed(paths_apart),
    "rollouts-behind": rollouts_behind,
}
