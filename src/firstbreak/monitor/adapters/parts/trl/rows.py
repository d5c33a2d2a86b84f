"""Whether what reaches the reward functions of a TRL trainer is what its data and its sampler hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from .data import LARGEST

CHANGED, FOREIGN, TEXT_OFF = "data/answer_changed_frac", "data/prompt_foreign_frac", "data/scored_text_off_frac"
READ = 32
"""Responses whose text is compared with their tokens, at most."""


class DataRows:
    """Compares the rows that are scored with the data set, read once; streams and large sets are left alone."""

    def __init__(self, dataset: Any, column: str) -> None:
        self._answers: dict[str, Any] = {}
        self._several: set[str] = set()
        names = cast("list[str]", getattr(dataset, "column_names", None) or [])
        if not hasattr(dataset, "__len__") or len(dataset) > LARGEST or not {"prompt", column} <= set(names):
            return
        for batch in dataset.select_columns(["prompt", column]).iter(batch_size=1000):
            for prompt, answer in zip(batch["prompt"], batch[column], strict=True):
                key = _key(prompt)
                if self._answers.setdefault(key, answer) != answer:
                    self._several.add(key)

    def note(self, inputs: Sequence[Mapping[str, Any]], column: str) -> dict[str, float]:
        """Return the share of the prompts scored that the data lack, and of those with another reference answer."""
        if not self._answers:
            return {}
        rows = {_key(row.get("prompt")): row.get(column) for row in inputs}
        known = [key for key in rows if key in self._answers]
        row = {FOREIGN: 1 - len(known) / len(rows)}
        single = [key for key in known if key not in self._several]
        return row | ({CHANGED: sum(rows[k] != self._answers[k] for k in single) / len(single)} if single else {})


def texts_off(trainer: Any, completions: Sequence[Any], ids: Sequence[Any]) -> dict[str, float]:
    """Return the share of responses, plain texts, that are not what the tokenizer makes of their tokens."""
    tokenizer = getattr(trainer, "processing_class", None)
    tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
    some = [
        (text, list(row)) for text, row in list(zip(completions, ids, strict=False))[:READ] if isinstance(text, str)
    ]
    if tokenizer is None or not some:
        return {}
    off = [text != tokenizer.decode(row, skip_special_tokens=True) for text, row in some]
    return {TEXT_OFF: sum(off) / len(off)}


def _key(prompt: Any) -> str:
    return prompt if isinstance(prompt, str) else json.dumps(prompt, sort_keys=True, default=str)
