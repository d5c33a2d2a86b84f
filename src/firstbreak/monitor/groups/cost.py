"""What dynamic sampling costs: how many groups must be drawn for one that teaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...rules.exploration.zero_std_groups import silent_share


@dataclass(frozen=True)
class ResamplingCost:
    """Expected draws; infinite where no group can ever be kept."""

    silent_frac: float
    """Expected share of groups that are all right or all wrong: the mean of p^G + (1-p)^G over the prompts."""
    draws_per_kept: float
    """Groups drawn for each that is kept, when a silent group is replaced by one of another prompt."""
    hopeless_frac: float
    """Share of prompts with pass rate 0 or 1: drawing them again can never help."""
    at_mean_silent_frac: float
    """The share that the mean pass rate alone would suggest; the true one is never lower."""

    @property
    def meaning(self) -> str:
        """What it says, in a sentence."""
        return (
            f"{self.silent_frac:.0%} of groups carry no signal: {self.draws_per_kept:.3g} groups are drawn for each "
            f"kept. It takes answers as independent, rewards as right or wrong, and the pass rates as known."
        )


def resampling_cost(pass_rates: float | Sequence[float], group_size: int) -> ResamplingCost:
    """Expect silent groups and draws from the pass rates of prompts (Yu et al. 2025, arXiv 2503.14476, section 3.2).

    Args:
        pass_rates: Share of right answers of each prompt [n], or of all alike.
        group_size: Answers to each prompt.

    Raises:
        InputError: no pass rate, one outside 0..1, or a group of fewer than 2.
    """
    rates = np.atleast_1d(np.asarray(pass_rates, dtype=np.float64))
    if not rates.size or not bool(((rates >= 0) & (rates <= 1)).all()):
        raise InputError("Pass rates are shares from 0 to 1.", "For example: resampling_cost([0.1, 0.5], group_size=8)")
    if group_size < 2:
        raise InputError(f"group_size = {group_size}: one answer alone has no spread.", "Give 2 or more.")
    silent = float(np.mean([silent_share(float(p), group_size) for p in rates]))
    return ResamplingCost(
        silent_frac=silent,
        draws_per_kept=1.0 / (1.0 - silent) if silent < 1.0 else float("inf"),
        hopeless_frac=float(((rates == 0) | (rates == 1)).mean()),
        at_mean_silent_frac=silent_share(float(rates.mean()), group_size),
    )
