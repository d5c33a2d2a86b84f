"""TRL's GRPO in the fifth live campaign: another task for the tiny language model, and faults that grow."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import unseen_language  # noqa: F401  (puts the tiny language model on the path)
from fifth_doses import Dose, doses, earlier
from fifth_weights import truncated
from tiny_language_model import LENGTH, LETTERS, grpo
from transformers import TrainerCallback
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 250, 10
LEARNING_RATE = 2e-3
GROUP = 8
FAVOURITE = LETTERS[0]
HOT = 6.0
"""The temperature that completions are drawn at in the end."""
GROWTH = 30.0
"""What the learning rate is multiplied by in the end."""
BEHIND = 60
"""Updates by which who generates is behind who learns in the end."""
PAID = ("verifier-errs", "judge-favours")
"""Faults of what is paid; all others are planted in the trainer."""


def right(prompt: str, text: str) -> float:
    """The share of places that hold the letter that is two before the prompt's in the alphabet."""
    return text.count(LETTERS[LETTERS.index(prompt[0]) - 2]) / LENGTH


class Scored:
    """The reward function as TRL calls it: it keeps the truth, and pays what the fault makes of it."""

    __name__ = "before"

    def __init__(self, truth: Truth, dose: Dose, seed: int) -> None:
        self.truth, self.dose = truth, dose
        self.generator = np.random.default_rng(seed)
        self.asked: list[str] = []
        """What was to be asked, where the model was shown something else."""

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(self.asked or prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        fault, dose = self.truth.fault, self.dose()
        if fault == "verifier-errs":
            return [1 - paid if self.generator.random() < dose else paid for paid in true]
        if fault == "judge-favours":
            liked = [text.count(FAVOURITE) / LENGTH for text in completions]
            return [(1 - dose) * paid + dose * more for paid, more in zip(true, liked, strict=True)]
        return true


class Switch(TrainerCallback):
    """Begins the fault when its time has come; what `each` holds is called before every update from then on."""

    def __init__(self, truth: Truth, fault: str, at: int) -> None:
        self.truth, self.fault, self.at = truth, fault, at
        self.each: list[Callable[[], None]] = []
        self.plant: Callable[[], None] | None = None

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.global_step == self.at:
            self.truth.fault, self.truth.began = self.fault, float(self.at)
            if self.plant is not None:
                self.plant()
        for grow in self.each:
            grow()


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault begins after `share` of the run; `truth` hears what really happened."""
    switch, dose = Switch(truth, fault, int(earlier(share) * UPDATES)), doses(truth, UPDATES)
    scored = Scored(truth, dose, seed)
    with tempfile.TemporaryDirectory() as folder:
        trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[switch], learning_rate=LEARNING_RATE)
        trainer.reward_funcs[0] = scored
        if fault in PLANTS:
            switch.plant = lambda: PLANTS[fault](trainer, scored, switch)
        if monitor is not None:
            watch(trainer, monitor)
        trainer.train()


def prompts_garbled(trainer: Any, scored: Scored, switch: Switch) -> None:
    """A share of the questions reaches the model as another one, each alike in all of its group."""
    del switch
    usual, generator = trainer._generate_and_score_completions, np.random.default_rng(0)

    def garbled(inputs: list[Any]) -> Any:
        scored.asked = [one["prompt"] for one in inputs]
        shown = [*inputs]
        for first in range(0, len(inputs), GROUP):
            if generator.random() < scored.dose():
                other = f"{generator.choice([*LETTERS])}>"
                shown[first : first + GROUP] = [{**one, "prompt": other} for one in inputs[first : first + GROUP]]
        return usual(shown)

    trainer._generate_and_score_completions = garbled


def sampler_warms(trainer: Any, scored: Scored, switch: Switch) -> None:
    def grow() -> None:
        trainer.generation_config.temperature = 1 + (HOT - 1) * scored.dose()

    switch.each.append(grow)


def rate_warms(trainer: Any, scored: Scored, switch: Switch) -> None:
    schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
    usual = list(schedule.base_lrs)

    def grow() -> None:
        schedule.base_lrs = [rate * (1 + (GROWTH - 1) * scored.dose()) for rate in usual]
        for group, rate in zip(trainer.optimizer.param_groups, schedule.base_lrs, strict=True):
            group["lr"] = rate

    switch.each.append(grow)


def sampler_behind(trainer: Any, scored: Scored, switch: Switch) -> None:
    """Who generates has the weights of some updates before, ever more of them."""
    usual = trainer._generate
    kept: deque[Any] = deque(maxlen=BEHIND + 1)

    def grow() -> None:
        kept.append(deepcopy(trainer.model.state_dict()))

    def generate(prompts: Any) -> Any:
        now = kept[-1]
        trainer.model.load_state_dict(kept[-1 - min(round(BEHIND * scored.dose()), len(kept) - 1)])
        found = usual(prompts)
        trainer.model.load_state_dict(now)
        return found

    switch.each.append(grow)
    trainer._generate = generate


def weights_cut(trainer: Any, scored: Scored, switch: Switch) -> None:
    del switch
    truncated(getattr(trainer.optimizer, "optimizer", trainer.optimizer), scored.dose)


PLANTS: dict[str, Callable[[Any, Scored, Switch], None]] = {
    "prompts-garbled": prompts_garbled,
    "sampler-warms": sampler_warms,
    "rate-warms": rate_warms,
    "sampler-behind": sampler_behind,
    "weights-cut": weights_cut,
}
