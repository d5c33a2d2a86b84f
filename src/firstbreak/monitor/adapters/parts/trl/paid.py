"""What a TRL trainer pays for each response in all, where that is more than the weighted sum of its reward functions.

RLOO cuts the sum off at a range and takes the KL to the reference off it (Ahmadian et al. 2024, arXiv 2402.14740,
section 3.1), so that its advantages are in the order of what is left, not in that of the reward. Both log-probabilities
are those that the trainer made itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor


class Paid:
    """Notes scores of tokens while a batch is generated, and makes of rewards what the advantages are made of."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self._open = False
        self._scores: list[tuple[Any, Tensor]] = []
        """Models and the log-probabilities [B, T] that they gave, in order."""

    def begin(self) -> None:
        """Say that a batch is about to be generated."""
        self._open, self._scores = self._anchored(), []

    def note(self, model: Any, logps: Tensor) -> None:
        """Take log-probabilities that the trainer made without a gradient."""
        if self._open:
            self._scores.append((model, logps.detach()))

    @torch.no_grad()
    def in_all(self, rewards: Tensor, found: Mapping[str, Any]) -> Tensor | None:
        """Return what is paid [N] for rewards [N] of the batch; None where a part of it is not known."""
        scores, self._scores, self._open = self._scores, [], False
        limits = getattr(self.trainer, "reward_clip_range", None)
        if limits:
            rewards = rewards.clamp(*limits)
        if not self._anchored():
            return rewards
        mask = found["completion_mask"]
        if len(scores) != 2 or len(rewards) != len(mask) or any(s.shape != mask.shape for _, s in scores):
            return None
        reference = getattr(self.trainer, "ref_model", None)
        if reference is not None and scores[0][0] is reference:
            scores.reverse()
        kl = ((scores[0][1] - scores[1][1]).float() * mask).sum(1)
        return rewards - float(self.trainer.beta) * kl.to(rewards)

    def _anchored(self) -> bool:
        """Whether the KL term is a part of the reward: so it is in RLOO, whose own setting this is."""
        return hasattr(self.trainer, "normalize_advantages") and bool(getattr(self.trainer, "beta", 0.0))
