"""Whether the prompts and responses that a TRL trainer learns from are those that were scored together.

Both are known twice: as they went to the reward functions, and as tokens in the batch of the loss. A row of the batch
is one of the pairs that were scored, its prompt the tokens that this prompt always becomes. Neither depends on a task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor

from .batches import OFF, ids_of, is_plain

SWAPPED, VARIES = "data/prompt_swapped_frac", "data/prompt_tokens_vary_frac"
KEPT = 4096
"""Prompts of which the tokens are remembered, the newest."""
Key = int


class Pairs:
    """Notes what is scored while a batch is generated, and compares the batch with it."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._scored: dict[Key, set[Any]] = {}
        """The prompts that each response was scored with, while a batch is generated."""
        self._open = False
        self._tokens: dict[Any, Key] = {}
        """What the tokenizer makes of a prompt of plain text."""
        self._first: dict[Any, Key] = {}
        """What a prompt became when it was met first."""
        self._pad: int | None = None
        score = getattr(trainer, "_calculate_rewards", None)
        if score is not None:
            trainer._calculate_rewards = self._scoring(score)

    def begin(self, pad: int | None) -> None:
        """Say that a batch is about to be generated."""
        self._scored, self._open, self._pad = {}, pad is not None, pad

    def end(self, found: Mapping[str, Any]) -> dict[str, float]:
        """Return which rows of the batch are no pair that was scored, as shares of those whose response was."""
        scored, self._scored, self._open = self._scored, {}, False
        if not scored or "tool_mask" in found or "pixel_values" in found or self._written_by_others():
            return {}
        prompts = _rows(found["prompt_ids"], found["prompt_mask"])
        texts = {text for several in scored.values() for text in several}
        plain = {text: self._plain(text) for text in texts if isinstance(text, str)}
        swapped, varied, unlike, known = 0, 0, 0, 0
        for ids, response in zip(prompts, _lists(found["completion_ids"]), strict=True):
            own = scored.get(self._key(response))
            if not own:
                continue
            known, key = known + 1, hash(tuple(ids))
            if not own <= plain.keys():
                varied += self._varies(own, key)
                continue
            if key in {plain[text] for text in own}:
                continue
            swapped += key in plain.values()
            unlike += 1
            varied += self._varies(own, key)
        if not known:
            return {}
        row = {SWAPPED: swapped / known, VARIES: varied / known}
        return row | ({OFF: float(unlike > 0)} if plain else {})

    def _varies(self, own: set[Any], key: Key) -> bool:
        """Whether the one prompt of a response became other tokens at an earlier batch, or in this one."""
        if len(own) != 1:
            return False
        (text,) = own
        first = self._first.setdefault(text, key)
        for old in list(self._first)[:-KEPT]:
            del self._first[old]
        return first != key

    def _plain(self, text: str) -> Key:
        if text not in self._tokens:
            self._tokens[text] = hash(tuple(ids_of(self.trainer.processing_class(text=[text])["input_ids"])))
            for old in list(self._tokens)[:-KEPT]:
                del self._tokens[old]
        return self._tokens[text]

    def _scoring(self, score: Any) -> Any:
        def scored(inputs: Any, prompts: Any, completions: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
            if self._open:
                for prompt, response in zip(prompts, ids, strict=False):
                    if is_plain(prompt):
                        text = prompt if isinstance(prompt, str) else (repr(prompt),)
                        self._scored.setdefault(self._key(response), set()).add(text)
            return score(inputs, prompts, completions, ids, *args, **kwargs)

        return scored

    def _key(self, response: Sequence[int]) -> Key:
        """A number for a response that does not depend on padding at its end."""
        size = len(response)
        while size and response[size - 1] == self._pad:
            size -= 1
        return hash(tuple(response[:size]))

    def _written_by_others(self) -> bool:
        names = "tools", "rollout_func", "environments", "environment_factories"
        return any(getattr(self.trainer, name, None) for name in names)


def _lists(ids: Tensor) -> list[list[int]]:
    return cast("list[list[int]]", cast(Any, ids).tolist())


def _rows(ids: Tensor, mask: Tensor) -> list[list[int]]:
    """Return the tokens of each row that are no padding."""
    pairs = zip(_lists(ids), _lists(mask), strict=True)
    return [[i for i, seen in zip(row, on, strict=True) if seen] for row, on in pairs]
