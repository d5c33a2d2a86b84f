"""Whether Adam's two moments can belong to one and the same gradients.

Both are sums over the same gradients, so that by Cauchy and Schwarz the square of the first is at most
(1 - b1)^2 / ((1 - b2) (1 - b1^2 / b2)) times the second, for every entry and whatever the gradients were (from Kingma
and Ba 2015, arXiv 1412.6980, algorithm 1; it is why a step is bounded). Second moments that were lost, rounded to zero
or belong to another weight break it, and the step divides by nearly nothing.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor

BROKEN = "optim/moment_bound_broken_frac"
SAMPLED = 16_384
"""Entries that are looked at."""
SLACK = 4.0
"""Factor by which the bound must be broken: states of 16 bits are rounded, and so is the sum."""
LEAST = 1e-30
"""Squares of first moments below which the second may be too small for its format."""


class AdamBound:
    """Looks at a fixed sample of an optimiser's state."""

    def __init__(self) -> None:
        self._places: dict[tuple[int, torch.device], Tensor] = {}
        """Entries that are looked at, by the size of a tensor and where it lies."""

    @torch.no_grad()
    def look(self, optimizer: Any, given: tuple[float, float] | None = None) -> dict[str, float]:
        """Return the share of the entries at which the bound is broken; nothing without both moments.

        Args:
            optimizer: Adam or one of its kind.
            given: The betas of the settings, where they may have been others before.
        """
        inner = getattr(optimizer, "optimizer", optimizer)
        if "adam" not in type(inner).__name__.lower():
            return {}
        groups = cast("list[dict[str, Any]]", getattr(inner, "param_groups", []))
        pairs = [pair for group in groups for pair in _moments(inner, group)]
        total = sum(first.numel() for first, _, _ in pairs)
        counts: list[Tensor] = []
        for first, second, betas in pairs:
            at = self._at(first, total)
            square, rest = first.reshape(-1)[at].float().square(), second.reshape(-1)[at].float()
            seen = square > LEAST
            limit = SLACK * _factor(betas, given)
            counts.append(torch.stack([(seen & (square > limit * rest)).sum(), seen.sum()]).to(pairs[0][0].device))
        if not counts:
            return {}
        broken, judged = cast("list[int]", cast(Any, torch.stack(counts).sum(0)).tolist())  # one transfer for all
        return {BROKEN: broken / judged} if judged else {}

    def _at(self, moment: Tensor, total: int) -> Tensor:
        key = moment.numel(), moment.device
        if key not in self._places:
            count = max(1, round(SAMPLED * key[0] / total))
            drawn = torch.randint(key[0], (count,), generator=torch.Generator().manual_seed(0), device="cpu")
            self._places[key] = drawn.to(moment.device)
        return self._places[key]


def _moments(optimizer: Any, group: dict[str, Any]) -> list[tuple[Tensor, Tensor, tuple[float, float]]]:
    """Return both moments of each weight of a group that has both, plain tensors, with its betas."""
    betas = group.get("betas")
    found: list[tuple[Tensor, Tensor, tuple[float, float]]] = []
    for weight in cast("list[Tensor]", group["params"]) if isinstance(betas, tuple | list) else []:
        state = cast("dict[str, Any]", optimizer.state.get(weight) or {})
        first, second = state.get("exp_avg"), state.get("exp_avg_sq")
        if type(first) is Tensor and type(second) is Tensor and first.shape == second.shape and first.numel():
            one, two = cast("tuple[Any, Any]", betas)
            found.append((first, second, (float(one), float(two))))
    return found


def _factor(betas: tuple[float, float], given: tuple[float, float] | None) -> float:
    """Return the largest factor that either pair of betas allows: the state may be older than those in force."""
    pairs = [betas, *([given] if given else [])]
    one, two = min(p[0] for p in pairs), min(max(p[1] for p in pairs), 1 - 1e-9)
    rest = 1 - one * one / two
    return (1 - one) ** 2 / ((1 - two) * rest) if rest > 0 else float("inf")
