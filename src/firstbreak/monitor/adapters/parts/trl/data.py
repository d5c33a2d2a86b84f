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
    return name_of(_prompts(dataset)) if _known(dataset) else None


def prompts_of(dataset: Any) -> Iterable[Any]:
    """Return the prompts in `dataset`; none where `prompt_set` is None."""
    return _prompts(dataset) if _known(dataset) else ()


def how_many(dataset: Any) -> int | None:
    """Return the number of different prompts in `dataset`; None where `prompt_set` is."""
    return len(hashes(_prompts(dataset))) if _known(dataset) else None


def name_of(prompts: Iterable[Any]) -> str:
    """Return 12 hexadecimal digits that stand for a set of prompts, texts or messages."""
    return hashlib.blake2b(b"".join(sorted(hashes(prompts))), digest_size=6).hexdigest()


def hashes(prompts: Iterable[Any]) -> set[bytes]:
    """Return 8 bytes for each different prompt, a text or messages."""
    return {hashlib.blake2b(json.dumps(prompt, sort_keys=True, default=str).encode(), digest_size=8).digest()
            for prompt in prompts}  # fmt: skip


def _known(dataset: Any) -> bool:
    size = len(dataset) if hasattr(dataset, "__len__") else LARGEST + 1
    names = cast("list[str]", getattr(dataset, "column_names", None) or [])
    return 0 < size <= LARGEST and "prompt" in names


def _prompts(dataset: Any) -> Iterable[Any]:
    return (prompt for batch in _batches(dataset) for prompt in batch["prompt"])


def _batches(dataset: Any) -> Iterable[Mapping[str, list[Any]]]:
    return dataset.select_columns(["prompt"]).iter(batch_size=1000)
