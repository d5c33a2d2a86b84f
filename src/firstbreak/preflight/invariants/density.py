"""Whether log-probabilities are those of the actions that are drawn.

For any density p and any set S, the mean of 1[a in S] / p(a) over draws a ~ p is the volume of S: a density is put to
the test by its own draws, whatever squashing lies between. S is the box between two quantiles of each dimension, found
from other draws, where 1 / p varies little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .owned import plain
from .torch_types import Tensor, load_torch

DRAWS = 20_000
"""Draws at one observation: the volume is then known to about 1 % in two dimensions."""
FEWEST_DRAWS = 20
"""Draws a distinct action from which on the sum over actions is known well enough. Engineering default."""
FEW_DIMENSIONS = 6
"""Up to here the box from the 10 % to the 90 % quantile still holds a quarter of the draws, and tells 4 %."""
MOST_DIMENSIONS = 24
"""Beyond `FEW_DIMENSIONS` the box goes from the 7 % to the 93 % quantile: of a Gaussian the error is then the smallest,
3 % at 8 dimensions and 20 % at 24, where 0.86^24 of the draws fall into it."""


@dataclass(frozen=True)
class Density:
    """Volume by density over true volume, with its standard error; discrete: the sum of all probabilities."""

    ratio: float
    error: float
    dimensions: int
    counted: bool = False
    """Whether actions are discrete, so that their probabilities were summed."""


def one_observation(bench: Bench) -> Tensor:
    """One real observation [1, ...]."""
    bench.need("minibatch")
    return plain(cast(Any, bench.pieces.minibatch)(), 1)["obs"]


def draws(bench: Bench) -> tuple[Tensor, Tensor, Tensor]:
    """`DRAWS` actions of the policy at one observation: (obs [1, ...], actions, log-probs [DRAWS])."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS", "SAC")
    bench.need("act")
    obs = bench.once(one_observation)
    with torch.no_grad():
        action, log_prob = cast(Any, bench.pieces.act)(obs.expand(DRAWS, *obs.shape[1:]).contiguous())
    return obs, action, log_prob


def summed(action: Tensor, log_prob: Tensor) -> Density:
    """Sum the probabilities of the distinct actions among draws [B, A] of a policy over discrete actions.

    What was never drawn is missing from the sum: about the share of draws whose action came up once (Good 1953).

    Raises:
        CannotLookError: most actions were drawn too seldom.
    """
    torch = load_torch()

    every, place, counts = torch.unique(action, dim=0, return_inverse=True, return_counts=True)
    if len(every) * FEWEST_DRAWS > len(action):
        raise cannot(f"{len(every)} different discrete actions in {len(action)} draws are too many to sum over")
    mean = torch.zeros(len(every), dtype=torch.float64).index_add_(0, place, log_prob.exp()) / counts
    unseen = (float((counts == 1).sum()) + 1.0) / len(action)
    return Density(float(mean.sum()), unseen, action.shape[1], counted=True)


def density(bench: Bench) -> Density:
    """Measure `Density`."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS", "SAC")
    n = bench.pieces.settings.get("n_actions")
    if n:
        bench.need("log_prob")
        obs = bench.once(one_observation)
        with torch.no_grad():
            every = cast(Any, bench.pieces.log_prob)(obs.expand(n, *obs.shape[1:]).contiguous(), torch.arange(n))
        return Density(float(every.double().exp().sum()), n * 2.0**-23, 1, counted=True)
    obs, action, log_prob = bench.once(draws)
    if log_prob.numel() != DRAWS:
        raise cannot("the log-probs do not have one number for each action")
    real = action.is_floating_point()
    if not real and bench.pieces.log_prob is not None:
        with torch.no_grad():
            log_prob = bench.pieces.log_prob(obs.expand(DRAWS, *obs.shape[1:]).contiguous(), action)
    action, log_prob = action.reshape(DRAWS, -1).double(), log_prob.reshape(-1).double()
    if not real:
        return summed(action, log_prob)
    width = action.shape[1]
    if width > MOST_DIMENSIONS:
        raise cannot(f"{width} action dimensions; volumes can be told up to {MOST_DIMENSIONS}")
    half = DRAWS // 2
    outer = 0.1 if width <= FEW_DIMENSIONS else 0.07
    edges = torch.quantile(action[:half], torch.tensor([outer, 1 - outer], dtype=torch.float64), dim=0)
    inside = ((action[half:] > edges[0]) & (action[half:] < edges[1])).all(-1)
    volume = float((edges[1] - edges[0]).prod())
    if volume <= 0:
        raise cannot("the policy draws the same action again and again")
    if len(torch.unique(action, dim=0)) * FEWEST_DRAWS <= DRAWS:
        raise cannot("a few actions are drawn again and again: discrete or at a bound", "pieces.settings['n_actions']")
    parts = torch.where(inside, (-log_prob[half:]).exp(), 0.0) / volume
    return Density(float(parts.mean()), float(parts.std()) / half**0.5, width)
