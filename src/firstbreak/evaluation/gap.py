"""The gap between acting by chance and acting by the mode, of the same checkpoint on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .protocol.protocol import DifferentProtocolsError, Protocol, differences
from .results.comparing import items_of
from .results.reading import Scores
from .statistics import Interval, paired_difference

FREE = ("control.action_mode", "generation.temperature", "generation.top_p", "generation.top_k", "generation.min_p",
        "generation.samples", "generation.pass_at")  # fmt: skip
"""Fields in which the two protocols differ on purpose."""


@dataclass(frozen=True)
class Gap:
    """Sampled minus deterministic, over the items that both have."""

    sampled_mean: float
    deterministic_mean: float
    difference: Interval
    items: int
    lower: bool = False
    """Whether lower scores are better."""

    @property
    def outcome(self) -> str:
        """sampled better, deterministic better, or undecided."""
        if self.difference.lo <= 0.0 <= self.difference.hi:
            return "undecided"
        return "sampled better" if (self.difference.lo > 0) is not self.lower else "deterministic better"


def gap(sampled: Scores, deterministic: Scores, *, lower: bool = False, level: float = 0.95) -> Gap:
    """Compare one checkpoint with itself, acting by chance and by the mode; `lower` says that lower scores are better.

    Raises:
        DifferentProtocolsError: the protocols differ in more than how actions are taken.
        InputError: fewer than two items are shared, for instance because no column names them.
    """
    if sampled.protocol and deterministic.protocol:
        _only_free(sampled.protocol, deterministic.protocol)
    a, b = items_of(sampled), items_of(deterministic)
    shared = [name for name in a if name in b] if "item" in sampled.columns and "item" in deterministic.columns else []
    if len(shared) < 2:
        raise InputError(
            f"{len(shared)} items or episode seeds are in both files; the gap is a paired comparison.",
            "Evaluate both on the same items or seeds, and name them in a column (item, seed, episode).",
        )
    left, right = np.array([a[n] for n in shared]), np.array([b[n] for n in shared])
    found = paired_difference(left, right, level=level)
    return Gap(float(left.mean()), float(right.mean()), found, len(shared), lower)


def _only_free(one: Protocol, other: Protocol) -> None:
    beyond = [name for name in differences(one, other) if name not in FREE]
    if beyond:
        raise DifferentProtocolsError(
            f"The protocols differ in more than how actions are taken: {', '.join(beyond[:6])}.",
            "Measure both under one protocol but for the action mode or the temperature.",
        )
