"""Reward functions and the sampler of the fourth list, with faults that the lists before it do not hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import torch

from benchmarks.grpo.third_sampling import Replies, ThirdSampler, ThirdVerifier

REPEATED = 0.5
"""Points for a character that repeats the one before it, where they should be taken away."""
NOVEL = 1.5
"""Points for a response that no other of its group gave."""
SATURATED = 14.0
"""Where on the sigmoid the score of a wrong answer lies; that of a right one lies at 15."""
SEEN = 3
"""Tokens of a prompt that are left where one of another length is cut from the left."""
RELOADED = 4
"""Of so many hand-overs of weights one is followed by a reload of those of the beginning."""
NOISE = 0.02
"""Spread of the noise of a judge that is well."""


class FourthVerifier(ThirdVerifier):
    """The reward functions, with other faults, and sound ones: a penalty of length, and a judge with little noise."""

    def functions(self, count: int) -> list[Callable[..., list[Any]]]:
        return [self.correct, self.form, self.overlong, self.judge][:count]

    def overlong(self, completions: Sequence[str], **_: Any) -> list[float]:
        """Score 0 for a response of up to half of the cap, and less for a longer one, to -1 at the cap."""
        soft = self.cap / 2
        return [-max(0.0, len(text) - soft) / (self.cap - soft) for text in completions]

    def judge(self, completions: Sequence[str], answer: Sequence[str], **_: Any) -> list[float]:
        """Score right answers as a judge does whose scores differ a little from time to time."""
        return [
            float(text == right) + self.rng.gauss(0, NOISE) for text, right in zip(completions, answer, strict=True)
        ]

    def correct(self, prompts: Sequence[str], completions: Sequence[str], answer: Sequence[str],
                completion_ids: Sequence[Sequence[int]], **kept: Any) -> list[Any]:  # fmt: skip
        if self.fault == "answers-tiled":
            answer = tiled(answer, self.group)
        scores = super().correct(prompts, completions, answer, completion_ids, **kept)
        if self.fault == "ranks-break-ties":
            return [rank for group in batched(scores, self.group) for rank in ranks(group)]
        if self.fault == "novelty-outweighs":
            bonus = [new for group in batched(completions, self.group) for new in alone(group)]
            return [score + NOVEL * new for score, new in zip(scores, bonus, strict=True)]
        return scores

    def score(self, prompt: str, text: str, answer: str, ended: bool) -> float:
        if self.fault == "matches-counted":
            return sum(character in answer for character in text) / len(answer)
        exact = super().score(prompt, text, answer, ended)
        if self.fault == "repetition-paid":
            return exact + REPEATED * sum(a == b for a, b in pairwise(text))
        return 1 / (1 + math.exp(-SATURATED - exact)) if self.fault == "score-saturated" else exact


def batched(values: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return the groups of a batch."""
    return [values[i : i + size] for i in range(0, len(values), size)]


def tiled(answers: Sequence[str], size: int) -> list[str]:
    """Return the answer of each group once, and then all again, where each should come `size` times on end."""
    once = answers[::size]
    return [once[i % len(once)] for i in range(len(answers))]


def ranks(scores: Sequence[float]) -> list[float]:
    """Return the ranks in a group, from 0 to 1; of equal scores the later one ranks higher."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    return [order.index(i) / max(1, len(scores) - 1) for i in range(len(scores))]


def alone(texts: Sequence[str]) -> list[bool]:
    """Return which responses no other of the group gave."""
    counts = Counter(texts)
    return [counts[text] == 1 for text in texts]


class FourthSampler(ThirdSampler):
    """The process that samples, with other faults."""

    truncates = reloads = False

    @torch.no_grad()
    def sync_weights(self) -> None:
        super().sync_weights()
        if self.reloads and not self.calls % RELOADED:
            self._load(self.first)

    def generate(self, prompts: Sequence[Sequence[int]], **kept: Any) -> Replies:
        return super().generate([ids[-SEEN:] for ids in prompts] if self.truncates else prompts, **kept)
