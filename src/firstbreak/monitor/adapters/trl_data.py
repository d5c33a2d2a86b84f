"""Which prompts a TRL trainer is given, as one short name, so that runs on other data are known as such."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

LARGEST = 200_000
"""Rows above which a data set is not named: reading it would hold up the start. Engineering default."""


def prompt_set(dataset: Any) -> str | None:
    """Return a name of the set of prompts in `dataset`; None for a stream, a large one or one without prompts.

    The order and repeats do not count, nor do other columns: the same questions with other answers are the same set.
    """
    size = len(dataset) if hasattr(dataset, "__len__") else LARGEST + 1
    names = cast("list[str]", getattr(dataset, "column_names", None) or [])
    if not 0 < size <= LARGEST or "prompt" not in names:
        return None
    return name_of(prompt for batch in _batches(dataset) for prompt in batch["prompt"])


def name_of(prompts: Iterable[Any]) -> str:
    """Return 12 hexadecimal digits that stand for a set of prompts, texts or messages."""
    known = {hashlib.blake2b(json.dumps(prompt, sort_keys=True, default=str).encode(), digest_size=8).digest()
             for prompt in prompts}  # fmt: skip
    return hashlib.blake2b(b"".join(sorted(known)), digest_size=6).hexdigest()


def _batches(dataset: Any) -> Iterable[Mapping[str, list[Any]]]:
    return dataset.select_columns(["prompt"]).iter(batch_size=1000)
