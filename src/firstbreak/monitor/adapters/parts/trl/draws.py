"""Whether responses are draws from a policy: sums of martingale differences over the newest looks.

Of a draw, log-probability plus entropy is 0 in the mean at every token, and so is "it ended" less the probability of
the end; the variance of both is what the policy says.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor

WINDOW = 8
"""Looks that are summed up."""


@dataclass(frozen=True)
class Scored:
    """What the model says of responses [B, T].

    Args:
        logps: Log-probability of each token.
        entropy: Entropy at its place.
        variance: Variance of the log-probability of a draw there.
        ends: Probability of the end token there.
        mask: Which tokens are of the response.
    """

    logps: Tensor
    entropy: Tensor
    variance: Tensor
    ends: Tensor
    mask: Tensor


@torch.no_grad()
def drawn(part: Mapping[str, Any], pad: int, end: int) -> Tensor:
    """Return which tokens [B, T] were drawn: all up to the first end, or all there are.

    A response that is left out of the loss since it was cut off has an empty mask. It counts nevertheless: of the
    others alone, more end than the policy says.
    """
    ids, count = part["completion_ids"], part["completion_mask"].sum(1)
    places, ended = torch.arange(ids.shape[1], device=ids.device), ids == end
    whole = ((places + 1) * (ids != pad)).amax(1)
    last = torch.where(ended.any(1), ended.int().argmax(1), torch.where(count > 0, count, whole) - 1)[:, None]
    return (places <= torch.maximum(last, torch.zeros_like(last))).long()


@torch.no_grad()
def score(model: Any, ids: Tensor, seen: Tensor, kept: int, temperature: float, end: int) -> Scored:
    """Score the last `kept` tokens of each row of `ids` [B, P + T], of which `seen` [B, P + T] are no padding."""
    logits = model(input_ids=ids, attention_mask=seen).logits[:, -kept - 1 : -1].float() / temperature
    every = logits.log_softmax(-1)
    chance = every.exp()
    surprise = torch.where(chance > 0, chance * every, 0.0).sum(-1)
    square = torch.where(chance > 0, chance * every.square(), 0.0).sum(-1)
    drawn = every.gather(-1, ids[:, -kept:, None])[..., 0]
    return Scored(drawn, -surprise, (square - surprise.square()).clamp(min=0), chance[..., end], seen[:, -kept:])


@dataclass
class Sum:
    """A sum of martingale differences, with its variance and its largest term."""

    total: float = 0.0
    variance: float = 0.0
    largest: float = 0.0


class Draws:
    """Adds up looks at responses.

    Args:
        sizes: Of how many newest looks at a time; of several, the sum counts that stands out most.
    """

    def __init__(self, sizes: tuple[int, ...] = (WINDOW,)) -> None:
        self._sizes = sizes
        self._drawn: deque[Sum] = deque(maxlen=WINDOW)
        self._ended: deque[Sum] = deque(maxlen=WINDOW)
        self._tokens: deque[int] = deque(maxlen=WINDOW)

    def add(self, scored: Scored, ids: Tensor, end: int) -> tuple[float, float, float]:
        """Take responses `ids` [B, T]; return standard deviations of draws and of ends, and nats a token, so far."""
        mask = scored.mask.float()
        off = (scored.logps + scored.entropy) * mask
        over = ((ids == end).float() - scored.ends) * mask
        spread = scored.ends * (1 - scored.ends) * mask
        sums = [off.sum(), (scored.variance * mask).sum(), off.abs().max(), over.sum(), spread.sum(), mask.sum()]
        values = cast("list[float]", cast(Any, torch.stack([s.float() for s in sums])).tolist())
        total, variance, largest, ended, of_ends, tokens = values
        self._drawn.append(Sum(total, variance, largest))
        self._ended.append(Sum(ended, of_ends, 1.0))
        self._tokens.append(int(tokens))
        whole = sum(s.total for s in self._drawn)
        return self._apart(self._drawn), self._apart(self._ended), whole / max(1, sum(self._tokens))

    def _apart(self, sums: deque[Sum]) -> float:
        newest = list(sums)
        return max((bernstein(newest[-size:]) for size in self._sizes), key=abs)


def bernstein(sums: list[Sum]) -> float:
    """Return the sum over `sums` in standard deviations, shrunk so that it is beyond u with a chance of 2 exp(-u^2/2).

    Freedman 1975, doi:10.1214/aop/1176996452, theorem 1.6: the bound of Bernstein for martingales.
    """
    total, variance = sum(s.total for s in sums), sum(s.variance for s in sums)
    largest = max((s.largest for s in sums), default=0.0)
    spread = variance + largest * abs(total) / 3
    return total / math.sqrt(spread) if spread > 0 else 0.0
