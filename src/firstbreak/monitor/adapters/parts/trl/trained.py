"""Whether a TRL trainer learns from the responses that it has just drawn, with the advantages that they were given.

Between the batch as it was generated and scored and the micro-batch of the loss lie a buffer, a shuffle and a split:
each row of the loss is one of those generated last, and its advantage the one that was computed for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor

from ....tensors.token_loss import BASES, signatures

OTHERS, ALTERED = "data/trained_unlike_drawn_frac", "advantage/altered_frac"
SAME = 1e-4
"""Difference of two advantages, over the largest, that may be rounding to 16 bits and back."""


class Trained:
    """Compares the micro-batches of the loss with the responses that were generated last."""

    def __init__(self) -> None:
        self._drawn: tuple[Tensor, Tensor] | None = None
        """Of each response: what tells it apart, and its advantage."""
        self._counts: list[Tensor] = []
        """Of each micro-batch: rows, those that were drawn, and of these those whose advantage was altered."""

    def generated(self, found: Mapping[str, Any], pad: int | None) -> None:
        """Take a generated batch."""
        a = found.get("advantages")
        self._drawn = None
        if pad is not None and isinstance(a, Tensor) and a.dim() == 1 and len(a) == len(found["completion_ids"]):
            self._drawn = row_signatures(found["prompt_ids"], found["completion_ids"], pad), a.detach().float()

    @torch.no_grad()
    def trained(self, inputs: Mapping[str, Any], pad: int | None) -> None:
        """Take a micro-batch of the loss."""
        a = inputs.get("advantages")
        if self._drawn is None or pad is None or not isinstance(a, Tensor) or a.dim() != 1:
            return
        known, drawn = self._drawn
        own = row_signatures(inputs["prompt_ids"], inputs["completion_ids"], pad)
        if len(own) != len(a):
            return
        same = own[:, None] == known.to(own.device)
        found = same.any(1)
        near = (a.float()[:, None] - drawn.to(own.device)).abs() <= SAME * drawn.abs().max().to(own.device)
        altered = found & ~(same & near).any(1)
        self._counts.append(torch.stack([torch.ones_like(found).sum(), found.sum(), altered.sum()]))

    def row(self) -> dict[str, float]:
        """Return the shares of this update, and forget them: rows nobody drew, and of the others, altered ones."""
        counts, self._counts = self._counts, []
        if not counts:
            return {}
        rows, found, altered = cast("list[int]", cast(Any, torch.stack(counts).sum(0)).tolist())
        return {OTHERS: 1 - found / rows, **({ALTERED: altered / found} if found else {})}


def row_signatures(prompt_ids: Tensor, ids: Tensor, pad: int) -> Tensor:
    """A number [B] for each prompt with its response that does not change with the padding."""
    prompt = signatures((prompt_ids - pad).flip(1), BASES[0])
    return prompt + signatures(ids - pad, BASES[1])
