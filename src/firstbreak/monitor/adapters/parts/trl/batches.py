"""Whether a TRL trainer is given something new: prompts of the batch before, a batch that was drawn before, and whether
a prompt still becomes the tokens that it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor

from ....tensors.token_loss import BASES, signatures

AGAIN, EXPECTED = "data/prompt_repeat_frac", "data/prompt_repeat_expected_frac"
REPEATED, GROUPS_AGAIN = "data/repeat_fraction", "data/group_repeat_frac"
CHANGED, OFF = "data/template_changed", "data/prompt_tokens_off"
REMEMBERED = 1024
"""Batches that a later one is compared with, the newest. Engineering default."""
VARIED = 2
"""Groups with more than one response that a batch needs for its repeat to say something: a policy without doubt gives
one and the same answers to the same prompts."""
DISTINCT = 3
"""Different responses of a group below which it may come again by chance, word for word and in the same order."""


class Batches:
    """Compares each generated batch with those before; of one process, its own part."""

    def __init__(self) -> None:
        self.prompts_in_all: int | None = None
        """Different prompts in the data set; None where that is not known."""
        self._last: set[int] = set()
        self._seen: dict[int, None] = {}
        self._groups: dict[int, None] = {}

    def note(self, found: Mapping[str, Any], size: int, pad: int) -> dict[str, float]:
        """Return what of a generated batch was there before.

        Args:
            found: What TRL made of it: token ids of prompts, padded on the left, and of responses, on the right.
            size: Responses to a prompt, in a row.
            pad: The padding.
        """
        asked = _numbers(signatures((found["prompt_ids"] - pad).flip(1), BASES[0]))
        said = _numbers(signatures(found["completion_ids"] - pad, BASES[1]))
        prompts, row = set(asked), dict[str, float]()
        if self._last and self.prompts_in_all:
            row[AGAIN] = len(prompts & self._last) / len(prompts)
            row[EXPECTED] = min(1.0, len(prompts) / self.prompts_in_all)
        self._last = prompts
        groups = [said[start : start + size] for start in range(0, len(said), size)]
        if sum(len(set(group)) > 1 for group in groups) >= VARIED:
            row[REPEATED] = float(_met(self._seen, [hash((tuple(asked), tuple(said)))], REMEMBERED))
        several = [
            hash((asked[place * size], tuple(group)))
            for place, group in enumerate(groups)
            if len(set(group)) >= DISTINCT
        ]
        if several:
            row[GROUPS_AGAIN] = _met(self._groups, several, REMEMBERED * VARIED) / len(several)
        return row


def _met(seen: dict[int, None], names: Sequence[int], most: int) -> int:
    """Return how many of `names` were there before; they are now, and the oldest beyond `most` are forgotten."""
    met = sum(name in seen for name in names)
    seen.update(dict.fromkeys(names))
    for old in list(seen)[:-most]:
        del seen[old]
    return met


class Template:
    """Turns one prompt into tokens again at every generated batch, by the trainer's own method.

    The prompt is that of the first batch. Its tokens may neither change, nor, where it is a plain text, differ from
    what the tokenizer makes of it.
    """

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._prompt: Any = None
        self._first: list[int] | None = None

    def note(self, inputs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """Return whether the tokens of the kept prompt changed, and whether they are not the tokenizer's."""
        make = getattr(self.trainer, "_tokenize_prompts", None)
        if make is None or getattr(self.trainer, "environment_factories", None) is not None:
            return {}
        if self._prompt is None:
            self._prompt = inputs[0].get("prompt")
        if not is_plain(self._prompt):
            return {}
        ids = ids_of(make([self._prompt])[0])
        self._first = self._first or ids
        row = {CHANGED: float(ids != self._first)}
        if isinstance(self._prompt, str):
            row[OFF] = float(ids != ids_of(self.trainer.processing_class(text=[self._prompt])["input_ids"]))
        return row


def is_plain(prompt: Any) -> bool:
    """Whether a prompt is text, or messages of text only."""
    if isinstance(prompt, str):
        return True
    turns = cast("list[Any]", prompt if isinstance(prompt, list) else [])
    return bool(turns) and all(
        isinstance(turn, dict) and isinstance(cast(Any, turn).get("content"), str) for turn in turns
    )


def ids_of(rows: Any) -> list[int]:
    """Return the tokens of the first of `rows`."""
    first = rows[0]
    return _numbers(first) if isinstance(first, Tensor) else [int(token) for token in first]


def _numbers(values: Tensor) -> list[int]:
    return cast("list[int]", cast(Any, values).tolist())
