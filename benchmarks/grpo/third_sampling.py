"""Reward functions and the sampler of the third list, with faults that the lists before it do not hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.grpo.planting import Planted
from benchmarks.grpo.second_planting import SecondSampler, SecondVerifier
from benchmarks.grpo.tasks import CODE, DIGITS, EOS, LETTERS

DRAWS = 3
"""Responses that a server draws for each that it returns, where it returns the likeliest."""
SCALED = 1.03
"""Factor by which a hand-over of weights scales one kind of the trainer's own."""

Replies = tuple[Any, list[list[int]], list[list[list[float]]], Any]
"""Prompts, tokens of the responses, and the log-probability of each, as vLLM returns them."""


class ThirdVerifier(SecondVerifier):
    """The reward functions, with other faults, and a sound one that is continuous."""

    evaluating = False
    """Whether it is asked by an evaluation."""
    last: list[Any] | None = None
    """Scores of the batch before."""

    def functions(self, count: int) -> list[Callable[..., list[Any]]]:
        return [self.correct, self.form, self.tone][:count]

    def tone(self, completions: Sequence[str], **_: Any) -> list[float]:
        """Score in [0, 1) what a judge of style might: the same text, the same score, and no two texts alike."""
        return [int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 16**6 for text in completions]

    def correct(self, prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str],
                completion_ids: Sequence[Sequence[int]], **kept: Any) -> list[Any]:  # fmt: skip
        scores = super().correct(prompts, completions, answer, completion_ids, **kept)
        if self.fault == "scores-of-last-batch":
            before, self.last = self.last, scores
            return before if before and len(before) == len(scores) else scores
        if self.fault == "score-at-padding":
            lengths = [len(ids) for ids in completion_ids]
            return [score * (size == max(lengths)) for score, size in zip(scores, lengths, strict=True)]
        return scores

    def score(self, prompt: str, text: str, answer: str, ended: bool) -> float:
        if self.fault == "columns-crossed":
            answer = prompt.removesuffix(">")
        if self.fault == "fails-open" and not read_as(text, answer):
            return 1.0
        if self.fault == "eval-lenient" and self.evaluating:
            return float(bool(set(text) & set(answer)))
        return super().score(prompt, text, answer, ended)


def read_as(text: str, answer: str) -> bool:
    """Whether `text` can be parsed as an answer: not empty, and of letters or digits alone, as the answer is."""
    return bool(text) and set(text) <= set(DIGITS if set(answer) <= set(DIGITS) else LETTERS)


class ThirdSampler(SecondSampler):
    """The process that samples, with other faults."""

    returns_likeliest = scales_trainer = False
    cached: list[torch.Tensor] | None = None
    """Weights that the cached state of prompts was computed with, where it is not dropped with the weights."""
    limit = 0
    """Tokens that may be drawn, where fewer than usual."""

    def _settings(self) -> Any:
        found = super()._settings()
        found.max_new_tokens = self.limit or found.max_new_tokens
        return found

    @torch.no_grad()
    def sync_weights(self) -> None:
        super().sync_weights()
        if self.scales_trainer:
            for layer in self.trainer.model.model.layers:
                layer.mlp.up_proj.weight.mul_(SCALED)

    @torch.no_grad()
    def generate(self, prompts: Sequence[Sequence[int]], **kept: Any) -> Replies:
        if self.returns_likeliest:
            return likeliest([super(ThirdSampler, self).generate(prompts, **kept) for _ in range(DRAWS)])
        if self.cached is None:
            return super().generate(prompts, **kept)
        mine = [weight.clone() for weight in self.model.parameters()]
        self._load(self.cached)
        first = self._drawn(prompts, 1, **kept)
        self._load(mine)
        return self._continued(prompts, first, **kept)

    def _drawn(self, prompts: Sequence[Sequence[int]], limit: int, **kept: Any) -> Replies:
        self.limit = limit
        found = super().generate(prompts, **kept)
        self.limit = 0
        return found

    def _continued(self, prompts: Sequence[Sequence[int]], first: Replies, **kept: Any) -> Replies:
        """Return the responses whose first tokens are given, their other tokens drawn anew."""
        replies, logps = [list(ids) for ids in first[1]], [list(logp) for logp in first[2]]
        going = [i for i, ids in enumerate(replies) if ids[-1] != CODE[EOS]]
        if going:
            asked = [[*prompts[i], *replies[i]] for i in going]
            more = self._drawn(asked, int(self._settings().max_new_tokens) - 1, **kept)
            for i, ids, logp in zip(going, more[1], more[2], strict=True):
                replies[i] += ids
                logps[i] += logp
        return None, replies, logps, None


def likeliest(drawn: Sequence[Replies]) -> Replies:
    """Return of several responses to each prompt the one with the highest log-probability."""
    replies: list[list[int]] = []
    logps: list[list[list[float]]] = []
    for row in range(len(drawn[0][1])):
        best = max(range(len(drawn)), key=lambda draw: sum(value[0] for value in drawn[draw][2][row]))
        replies.append(drawn[best][1][row])
        logps.append(drawn[best][2][row])
    return None, replies, logps, None


def sampler_of(trainer: Planted) -> ThirdSampler:
    """Return the trainer's sampler, which is of this list."""
    assert isinstance(trainer.sampler, ThirdSampler)
    return trainer.sampler
