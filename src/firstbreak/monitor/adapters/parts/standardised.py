"""Actions that were done, less what they should be around, over how far they should scatter: draws of N(0, 1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....series import Floats

METRIC = "exploration/draws_unlike_nats"
BOUND = 0.9999
"""Squashed actions count as no nearer to their bounds of -1 and 1: beyond it, single precision does not know well what
was drawn before squashing."""

Draws = tuple[Floats, Floats, Floats]
"""Draws, and the bounds at which they were cut off, all in standard deviations from the mean [D]."""


def noise(done: Any, meant: Any, mean: Any, spread: Any) -> Draws:
    """Return the noise on actions within bounds of -1 and 1, of which mean and spread are known.

    Args:
        done: Actions that were done [N, A].
        meant: What an actor said [N, A].
        mean: Of the noise [A].
        spread: Its standard deviation [A]; 0 makes bounds of no room, so that nothing is counted.
    """
    one, two = np.asarray(done, np.float64), np.asarray(meant, np.float64) + np.asarray(mean, np.float64)
    width = np.broadcast_to(np.asarray(spread, np.float64), one.shape)
    return _over(one - two, -1 - two, 1 - two, width)


def squashed(done: Any, mean: Any, spread: Any) -> Draws:
    """Return what a policy drew before its actions were squashed by tanh to bounds of -1 and 1.

    Args:
        done: Actions that were done [N, A].
        mean: Of the policy before squashing [N, A].
        spread: Its standard deviation [N, A].
    """
    before = np.arctanh(np.clip(np.asarray(done, np.float64), -BOUND, BOUND))
    middle, width, end = np.asarray(mean, np.float64), np.asarray(spread, np.float64), np.arctanh(BOUND)
    return _over(before - middle, -end - middle, end - middle, width)


def plain(done: Any, mean: Any, spread: Any) -> Draws:
    """Return what a policy of Gaussians drew; nothing cuts it off before it is stored.

    Args:
        done: Actions as they were drawn [N, A].
        mean: Of the policy [N, A].
        spread: Its standard deviation [N, A].
    """
    draws, width = np.asarray(done, np.float64) - np.asarray(mean, np.float64), np.asarray(spread, np.float64)
    endless = np.full_like(draws, np.inf)
    return _over(draws, -endless, endless, width)


def _over(draws: Floats, low: Floats, high: Floats, width: Floats) -> Draws:
    """Each over `width`, in one row; of no width as no number, with no room."""
    known = width > 0
    safe = np.where(known, width, 1.0)
    return (
        np.where(known, draws / safe, np.nan).reshape(-1),
        np.where(known, low / safe, 0.0).reshape(-1),
        np.where(known, high / safe, 0.0).reshape(-1),
    )
