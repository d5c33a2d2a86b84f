"""`TokenTask`: what a rung gives a trainer of language models: prompts, a reward, a tiny model, a few settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PAD, BOS, END = 0, 1, 2
VOCABULARY = 16
LETTERS = tuple(range(3, VOCABULARY))
"""Tokens that mean nothing but themselves."""
PROMPTS: tuple[tuple[int, ...], ...] = ((BOS, 3), (BOS, 4, 4), (BOS, 5, 5, 5), (BOS, 6))
"""Of different lengths, so that a batch holds padding."""

Tokens = Sequence[int]
Score = Callable[[tuple[int, ...], tuple[int, ...]], float]
"""(prompt, completion with its end token if it has one) -> reward."""


class TooSlow(Exception):
    """Raised by the reward when a training has used up its time."""


@dataclass
class TokenTask:
    """Ask for the reward with `rewards`, for a model with `model`; token ids are below `vocabulary`."""

    name: str
    score: Score
    longest: int
    """Most tokens of a completion, the end token among them."""
    seed: int = 0
    beta: float = 0.0
    """Weight of the KL to the starting policy."""
    group_size: int = 8
    """Completions for each prompt of a batch, where the trainer uses groups."""
    prompts: tuple[tuple[int, ...], ...] = PROMPTS
    vocabulary: int = VOCABULARY
    pad_id: int = PAD
    begin_id: int = BOS
    end_id: int = END
    beat: Callable[[int], None] | None = None
    """Hears how many completions were scored; may raise to stop the training."""
    scored: int = 0
    scored_prompts: set[tuple[int, ...]] = field(default_factory=set[tuple[int, ...]])
    """Prompts of the task for which a reward was asked."""
    made: list[int] = field(default_factory=list[int])
    """Seeds of the models that were asked for."""

    def rewards(self, prompts: Sequence[Tokens], completions: Sequence[Tokens]) -> list[float]:
        """Score completions: token ids up to and with the first end token, padding of either left out."""
        asked = [tuple(int(t) for t in prompt if int(t) != self.pad_id) for prompt in prompts]
        found = [
            self.score(prompt, self._trimmed(completion)) for prompt, completion in zip(asked, completions, strict=True)
        ]
        self.scored += len(found)
        self.scored_prompts |= set(asked) & set(self.prompts)
        if self.beat is not None:
            self.beat(self.scored)
        return found

    def _trimmed(self, completion: Tokens) -> tuple[int, ...]:
        tokens = [int(t) for t in completion]
        if self.end_id in tokens:
            tokens = tokens[: tokens.index(self.end_id) + 1]
        return tuple(t for t in tokens if t != self.pad_id)

    def model(self, seed: int | None = None) -> Any:
        """A fresh Llama of 20,000 weights from transformers, called with input_ids and attention_mask.

        Raises:
            MissingExtraError: transformers is not installed.
        """
        from .model import tiny_llama

        chosen = self.seed if seed is None else seed
        self.made.append(chosen)
        return tiny_llama(self.vocabulary, self.pad_id, self.begin_id, self.end_id, chosen)
