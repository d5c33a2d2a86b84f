"""pass@k without bias, with an interval over prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...series import Floats
from .aggregates import MEAN
from .intervals import REPS, Interval, interval
from .proportion import wilson
from .runs import SingleSeedError


def pass_at_k_each(samples: Sequence[int], passed: Sequence[int], k: int) -> Floats:
    """Return 1 - C(n - c, k) / C(n, k) for each prompt [P] (Chen et al. 2021, arXiv 2107.03374, section 2.1).

    Args:
        samples: Answers sampled for each prompt, n [P].
        passed: Of these the right ones, c [P].
        k: At most the fewest samples of a prompt.

    Raises:
        InputError: k is larger than that, or the counts are no counts.
    """
    n, c = np.asarray(samples, np.int64), np.asarray(passed, np.int64)
    if n.shape != c.shape or n.ndim != 1 or not n.size or (c < 0).any() or (c > n).any():
        raise InputError("Samples and passed samples do not belong together.", "Give both for every prompt.")
    if k < 1:
        raise InputError(f"pass@{k} is nothing: k is a number of answers.", "Give k of 1 or more.")
    if k > int(n.min()):
        raise InputError(
            f"pass@{k} cannot be estimated: one prompt has {count_of(int(n.min()))}.",
            f"Sample at least {k} answers for every prompt, or ask for a smaller k.",
        )
    return np.array([_one(int(a), int(b), k) for a, b in zip(n, c, strict=True)])


def count_of(samples: int) -> str:
    """Return `1 sample`, `2 samples`."""
    return f"{samples} sample{'' if samples == 1 else 's'}"


def _one(n: int, c: int, k: int) -> float:
    """Return the estimate as a product, which neither overflows nor cancels."""
    if n - c < k:
        return 1.0
    places: NDArray[np.float64] = np.arange(n - c + 1, n + 1, dtype=np.float64)
    return float(1.0 - np.prod(1.0 - k / places))


def pass_at_k(
    samples: Sequence[int],
    passed: Sequence[int],
    k: int,
    *,
    level: float = 0.95,
    reps: int = REPS,
    seed: int = 0,
) -> Interval:
    """Return pass@k with its interval over prompts; it says nothing about other training seeds.

    Raises:
        SingleSeedError: there is a single prompt.
        InputError: k is larger than the fewest samples of a prompt.
    """
    each = pass_at_k_each(samples, passed, k)
    if each.size < 2:
        raise SingleSeedError("An interval of pass@k needs at least 2 prompts.", "Evaluate more prompts.")
    if np.ptp(each) == 0 and each[0] in (0.0, 1.0):
        return wilson(float(each.sum()), each.size, level=level)
    found = interval(each, MEAN, level=level, reps=reps, seed=seed)
    return replace(found, lo=max(found.lo, 0.0), hi=min(found.hi, 1.0))
