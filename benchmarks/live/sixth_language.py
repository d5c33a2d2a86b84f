"""TRL's GRPO in the sixth live campaign: another task for the tiny language model, and other faults."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from tiny_language_model import LETTERS, grpo
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 200, 12
LEARNING_RATE = 4e-3
ANSWER = 4
"""Letters of an answer; what comes after them is too much."""
GROUP = 8
DROPPED = 0.7
"""Share of the groups whose question is left out."""
A_TOKEN = 0.2
"""What each token pays besides."""
CAP = 3
"""Longest completion, in tokens, once it is cut: an answer and its end have five."""
COLD = 0.3
"""The temperature that completions are drawn at."""
KEPT = 2
"""Tokens, the likeliest, that are drawn from."""
PAID = ("tokens-paid", "cut-unpaid")
"""Faults of what is paid; all others are planted in the trainer."""


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the prompt's letter, counted from the alphabet's other end; excess costs."""
    wanted = LETTERS[len(LETTERS) - 1 - LETTERS.index(prompt[0])]
    return text[:ANSWER].count(wanted) / max(ANSWER, len(text))


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "mirror"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.asked: list[str] = []
        """What was to be asked, where the model was shown something else."""

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(self.asked or prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        if self.truth.fault == "tokens-paid":
            return [paid + A_TOKEN * len(text) for paid, text in zip(true, completions, strict=True)]
        if self.truth.fault == "cut-unpaid":
            return [paid if len(text) < CAP else 0.0 for paid, text in zip(true, completions, strict=True)]
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
        trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[switch], learning_rate=LEARNING_RATE)
        only(trainer, scored)
        if fault in PLANTS:
            switch.plant = lambda: PLANTS[fault](trainer, scored)
        if monitor is not None:
            watch(trainer, monitor)
        trainer.train()


def only(trainer: Any, scored: Scored) -> None:
    """Let `scored` be the only reward function: the tiny trainer's others know another question."""
    trainer.reward_funcs, trainer.reward_func_names = [scored], [scored.__name__]
    trainer.reward_weights, trainer.reward_processing_classes = torch.ones(1), [None]


def question_dropped(trainer: Any, scored: Scored) -> None:
    """The template leaves the question of most groups out."""
    usual, generator = trainer._generate_and_score_completions, np.random.default_rng(0)

    def dropped(inputs: list[Any]) -> Any:
        scored.asked, shown = [one["prompt"] for one in inputs], [*inputs]
        for first in range(0, len(inputs), GROUP):
            if generator.random() < DROPPED:
                shown[first : first + GROUP] = [{**one, "prompt": ">"} for one in inputs[first : first + GROUP]]
        return usual(shown)

    trainer._generate_and_score_completions = dropped


def cut_unpaid(trainer: Any, scored: Scored) -> None:
    del scored
    trainer.generation_config.max_new_tokens = CAP


def changed(change: Callable[[Any, dict[str, Any]], None]) -> Callable[[Any, Scored], None]:
    """Return what lets `change` do what it does to every batch that is generated and scored."""

    def plant(trainer: Any, scored: Scored) -> None:
        del scored
        usual = trainer._generate_and_score_completions

        def generated(inputs: list[Any]) -> Any:
            found = usual(inputs)
            change(trainer, found)
            return found

        trainer._generate_and_score_completions = generated

    return plant


def loss_turned(trainer: Any, found: dict[str, Any]) -> None:
    """The sign of the loss is wrong."""
    del trainer
    found["advantages"] = -found["advantages"]


def groups_half_off(trainer: Any, scored: Scored) -> None:
    """What is compared within a group is one half of a question's answers and one half of the next one's."""
    del scored
    usual = trainer._generate_and_score_completions

    def half_off(inputs: list[Any]) -> Any:
        return usual([*inputs[GROUP // 2 :], *inputs[: GROUP // 2]])

    trainer._generate_and_score_completions = half_off


def sampler_cold(trainer: Any, scored: Scored) -> None:
    del scored
    trainer.generation_config.temperature = COLD


def kept_renormalised(trainer: Any, scored: Scored) -> None:
    """Who generates draws from the likeliest tokens, and says of each how likely it was among these."""
    trainer.generation_config.top_k = KEPT
    changed(among_kept)(trainer, scored)


@torch.no_grad()
def among_kept(trainer: Any, found: dict[str, Any]) -> None:
    ids = torch.cat([found["prompt_ids"], found["completion_ids"]], 1)
    mask = torch.cat([found["prompt_mask"], found["completion_mask"]], 1)
    length = found["completion_ids"].shape[1]
    logits = trainer.model(input_ids=ids, attention_mask=mask).logits[:, -length - 1 : -1]
    chosen = logits.gather(-1, found["completion_ids"].unsqueeze(-1)).squeeze(-1)
    # Where what was drawn is no longer among the likeliest it is counted in, as an engine does.
    kept = logits.topk(KEPT, -1).values.logsumexp(-1)
    found["old_per_token_logps"] = chosen - torch.maximum(kept, chosen)


def resumed(trainer: Any, scored: Scored) -> None:
    """The weights are loaded; the optimiser's moments are not."""
    del scored
    getattr(trainer.optimizer, "optimizer", trainer.optimizer).state.clear()


PLANTS: dict[str, Callable[[Any, Scored], None]] = {
    "question-dropped": question_dropped,
    "cut-unpaid": cut_unpaid,
    "loss-turned": changed(loss_turned),
    "groups-half-off": groups_half_off,
    "sampler-cold": sampler_cold,
    "kept-renormalised": kept_renormalised,
    "resumed-half": resumed,
}
