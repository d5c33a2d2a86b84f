"""TRL's GRPO in the ninth live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import torch
import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from eighth_language import Switch
from ninth_doses import dose_of
from ninth_networks import OF_NETWORKS
from ninth_pieces import Pieces
from tiny_language_model import LETTERS, grpo
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 240, 12
LEARNING_RATE = 5e-3
ANSWER = 2
"""Letters of an answer; what comes after them is too much."""
SUBJECT = "grpo_across"
Plant = Callable[[Any, float], None]


def wanted(prompt: str) -> str:
    """Return the letter that is asked for: the one across from the prompt's where letters stand in a ring."""
    return LETTERS[(LETTERS.index(prompt[0]) + len(LETTERS) // 2) % len(LETTERS)]


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the letter that is asked for; excess costs."""
    return text[:ANSWER].count(wanted(prompt)) / max(ANSWER, len(text))


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "across"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        fault = self.truth.fault
        if fault == "read-backwards":
            return [right(prompt, text[::-1]) for prompt, text in zip(prompts, completions, strict=True)]
        if fault == "diversity-paid":
            dose = dose_of(fault, SUBJECT)
            return [score + dose * len(set(text)) / len(LETTERS) for score, text in zip(true, completions, strict=True)]
        if fault == "rank-for-score":
            return [float(place) for place in ranks(true)]
        return true


def ranks(scores: Sequence[float]) -> list[int]:
    """Return the place of each score, the best being first."""
    return [sum(other > score for other in scores) + 1 for score in scores]


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    switch, scored = Switch(truth, fault, int(share * UPDATES)), Scored(truth)
    with tempfile.TemporaryDirectory() as folder:
        trainer = built(folder, seed, scored, switch)
        switch.plant = lambda: plant(trainer, fault)
        if monitor is not None:
            watch(trainer, monitor)
        trainer.train()


def plant(trainer: Any, fault: str) -> None:
    """Plant a fault in the trainer; one of what is paid is none."""
    if fault in PLANTS:
        PLANTS[fault](trainer, dose_of(fault, SUBJECT))
    elif fault in OF_NETWORKS:
        optimiser = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
        pieces = Pieces([optimiser], trainer.model, trainer.model.lm_head)
        first = {id(w): trainer.first_weights[name] for name, w in trainer.model.named_parameters()}
        pieces.kept = [first[id(weight)] for weight in pieces.weights]
        trainer.model.generate = pieces.play(trainer.model.generate)
        OF_NETWORKS[fault](pieces, dose_of(fault, SUBJECT))


def built(folder: str, seed: int, scored: Scored, switch: Any) -> Any:
    """Return the trainer, `scored` being its only reward: the tiny trainer's others know another question."""
    trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[switch], learning_rate=LEARNING_RATE)
    trainer.reward_funcs, trainer.reward_func_names = [scored], [scored.__name__]
    trainer.reward_weights, trainer.reward_processing_classes = torch.ones(1), [None]
    trainer.first_weights = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    return trainer


def of_prompts(change: Callable[[Any, list[int], int], list[int]]) -> Plant:
    """Return what lets `change` do what it does to the tokens of every question."""

    def plant_it(trainer: Any, dose: float) -> None:
        usual = trainer._tokenize_prompts

        def tokenize(prompts: Any) -> Any:
            ids, *others = usual(prompts)
            return [change(trainer.processing_class, list(row), int(dose)) for row in ids], *others

        trainer._tokenize_prompts = tokenize

    return plant_it


def ids_shifted(tokenizer: Any, row: list[int], dose: int) -> list[int]:
    """Letters have the numbers of those so many places after them: another version of the vocabulary."""
    letters = tokenizer.convert_tokens_to_ids(list(LETTERS))
    return [letters[(letters.index(one) + dose) % len(letters)] if one in letters else one for one in row]


def template_longer(tokenizer: Any, row: list[int], dose: int) -> list[int]:
    """So many tokens that no question had stand before it."""
    return [tokenizer.convert_tokens_to_ids("0")] * dose + row


def words_banned(trainer: Any, dose: float) -> None:
    """So many letters are never drawn: a list of words that are not to be said."""
    banned = trainer.processing_class.convert_tokens_to_ids(list(LETTERS[: int(dose)]))
    trainer.generation_config.suppress_tokens = trainer.generation_kwargs["suppress_tokens"] = banned


def advantages_unsigned(trainer: Any, dose: float) -> None:
    """Advantages are taken without their sign."""
    del dose
    usual = trainer._generate_and_score_completions

    def scored(inputs: Any) -> Any:
        found = usual(inputs)
        return {**found, "advantages": found["advantages"].abs()}

    trainer._generate_and_score_completions = scored


PLANTS: dict[str, Plant] = {
    "ids-shifted": of_prompts(ids_shifted),
    "template-longer": of_prompts(template_longer),
    "words-banned": words_banned,
    "advantages-unsigned": advantages_unsigned,
}
