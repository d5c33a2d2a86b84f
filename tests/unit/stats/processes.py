"""Random series with known properties, for the twins and the Monte-Carlo checks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.signal import lfilter

from firstbreak.series import Floats


def autoregressive(rng: np.random.Generator, n: int, rho: float) -> Floats:
    """A stationary AR(1) series [n] of standard deviation 1 and lag-1 correlation `rho`."""
    burn_in = 100
    shocks = rng.standard_normal(n + burn_in) * np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], shocks)[burn_in:])


def many(count: int, n: int, rho: float, seed: int = 0) -> Iterator[Floats]:
    """`count` independent series of `autoregressive`, the same ones for the same arguments."""
    rng = np.random.default_rng([seed, n, round(100 * rho)])
    for _ in range(count):
        yield autoregressive(rng, n, rho)
