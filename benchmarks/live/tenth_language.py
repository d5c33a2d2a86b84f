"""TRL's GRPO in the tenth live campaign: another question for the tiny language model, and faults that are known."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import eighth_language
import fifth_language
import ninth_language
import seventh_language
import sixth_language
import third_language
import torch
import unseen_language
from eighth_language import Switch
from fifth_doses import doses
from tenth_origins import dose_of, enter_dose, first_list, list_of
from tiny_language_model import LETTERS, grpo
from worlds import Truth

from firstbreak.monitor.adapters.trl import watch

UPDATES, WINDOW = 230, 15
SETTINGS: dict[str, Any] = {"learning_rate": 5e-3}
ANSWER = 3
"""Letters of an answer; what comes after them is too much."""
SUBJECT = "grpo_back"
MODULES: dict[str, Any] = {
    "unseen": unseen_language, "third": third_language, "fifth": fifth_language, "sixth": sixth_language,
    "seventh": seventh_language, "eighth": eighth_language, "ninth": ninth_language,
}  # fmt: skip
"""Each list's GRPO, but the first's, whose question stands in its reward itself."""


def wanted(prompt: str) -> str:
    """Return the letter that is asked for: the one before the prompt's, h coming before a."""
    return LETTERS[LETTERS.index(prompt[0]) - 1]


def right(prompt: str, text: str) -> float:
    """The share of an answer's places with the letter that is asked for; excess costs."""
    return text[:ANSWER].count(wanted(prompt)) / max(ANSWER, len(text))


@contextmanager
def asking(module: Any) -> Iterator[None]:
    """Let a list's reward ask this list's question, for as long as the list that it is of is not needed itself."""
    ours = {"right": right, "wanted": wanted, "UPDATES": UPDATES}
    theirs = {name: getattr(module, name) for name in ours if hasattr(module, name)}
    for name in theirs:
        setattr(module, name, ours[name])
    try:
        yield
    finally:
        for name, value in theirs.items():
            setattr(module, name, value)


class Scored:
    """The reward function of a twin, and of the first list's faults of what is paid."""

    __name__ = "back"

    def __init__(self, truth: Truth) -> None:
        self.truth = truth

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [right(prompt, text) for prompt, text in zip(prompts, completions, strict=True)]
        self.truth.steps += 1
        self.truth.episodes.append((self.truth.steps, sum(true) / len(true)))
        if self.truth.fault == "reward-flipped":
            return [-value for value in true]
        return [1.0] * len(true) if self.truth.fault == "reward-constant" else true


def scored_of(fault: str, truth: Truth, seed: int) -> Any:
    """Return the reward function that a fault may be planted in."""
    origin = list_of(fault) if fault else "faults"
    if origin == "faults" or origin not in MODULES:
        return Scored(truth)
    if origin == "fifth":
        return fifth_language.Scored(truth, doses(truth, UPDATES), seed)
    return MODULES[origin].Scored(truth)


def train(fault: str, seed: int, share: float, monitor: Any, truth: Truth) -> None:
    """Train once; the fault comes after `share` of the run; `truth` hears what really happened."""
    module = MODULES.get(list_of(fault), ninth_language) if fault else ninth_language
    switch, scored = Begun(truth, fault, int(share * UPDATES)), scored_of(fault, truth, seed)
    with tempfile.TemporaryDirectory() as folder, asking(module):
        trainer = built(folder, seed, scored, switch)
        switch.plant = lambda: plant(trainer, fault, scored, switch)
        if monitor is not None:
            watch(trainer, monitor)
        trainer.train()


class Begun(Switch):
    """As in the eighth list; what `each` holds is called before every update from then on."""

    def __init__(self, truth: Truth, fault: str, at: int) -> None:
        super().__init__(truth, fault, at)
        self.each: list[Callable[[], None]] = []

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        super().on_step_begin(args, state, control, **kwargs)
        for grow in self.each:
            grow()


def built(folder: str, seed: int, scored: Any, switch: Any) -> Any:
    """Return the trainer, `scored` being its only reward: the tiny trainer's others know another question."""
    trainer = grpo(folder, steps=UPDATES, seed=seed, callbacks=[switch], **SETTINGS)
    trainer.reward_funcs, trainer.reward_func_names = [scored], [scored.__name__]
    trainer.reward_weights, trainer.reward_processing_classes = torch.ones(1), [None]
    trainer.first_weights = {name: weight.detach().clone() for name, weight in trainer.model.named_parameters()}
    return trainer


def plant(trainer: Any, fault: str, scored: Any, switch: Any) -> None:
    """Plant a fault in the trainer, as the list that it is of does; one of what is paid is none."""
    if not fault:
        return
    origin, dose = list_of(fault), dose_of(fault)
    if origin == "ninth":
        enter_dose(fault, ninth_language.SUBJECT)
        ninth_language.plant(trainer, fault)
        return
    plants = (first_list("language") if origin == "faults" else MODULES[origin]).PLANTS
    given = {
        "faults": (trainer,), "unseen": (trainer,), "third": (trainer, scored), "fifth": (trainer, scored, switch),
        "sixth": (trainer, scored), "seventh": (trainer, dose), "eighth": (trainer, dose),
    }  # fmt: skip
    if fault in plants:
        plants[fault](*given[origin])
