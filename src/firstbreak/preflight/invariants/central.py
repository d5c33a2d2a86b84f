"""Where the deterministic action lies among the policy's own draws at the same observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .owned import plain
from .torch_types import Tensor, load_torch

OBSERVATIONS, DRAWS = 8, 100
"""Observations, and draws at each of them."""
FACTORS = (1.0, 2.0, 4.0, 8.0)
"""On the actor's weight matrices: an untrained policy's mean is near 0, where a squashed mean and a mean are alike."""
OUTSIDE_FRAC = 0.02
"""Share of the draws beyond which an action lies outside of them. The middle of a density has half of them on either
side; the mean of a skewed one (a tanh of a wide Gaussian near its bound) still has a fifth."""
LIKELIHOOD_ROOM_NATS = 0.05
"""The likeliest action may be that much less likely than the deterministic one: two actions that nearly tie."""


@dataclass(frozen=True)
class Central:
    """The weights' factor at which most deterministic actions lie apart from the draws, and how many there."""

    apart_frac: float
    factor: float
    discrete: bool


def central(bench: Bench) -> Central:
    """Measure `Central`."""
    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS", "SAC")
    bench.need("actor", "predict", "minibatch", "act")
    obs = plain(cast(Any, bench.pieces.minibatch)(), OBSERVATIONS)["obs"]
    n = bench.pieces.settings.get("n_actions")
    if n:
        bench.need("log_prob")
    elif bench.pieces.settings.get("action_low") is None:
        raise cannot("actions are neither counted nor bounded", "pieces.settings['action_low']")
    matrices = [w for w in cast(Any, bench.pieces.actor).parameters() if w.dim() > 1]
    kept = [w.detach().clone() for w in matrices]
    worst = Central(0.0, 1.0, bool(n))
    for factor in FACTORS:
        with torch.no_grad():
            for weight, old in zip(matrices, kept, strict=True):
                weight.copy_(old * factor)
            chosen = cast(Any, bench.pieces.predict)(obs, True)
            apart = _less_likely(bench, obs, chosen, int(n)) if n else _outside(bench, obs, chosen)
        if apart > worst.apart_frac:
            worst = Central(apart, factor, bool(n))
    return worst


def _less_likely(bench: Bench, obs: Tensor, chosen: Tensor, n: int) -> float:
    """Share of observations at which another action is clearly likelier than the deterministic one."""
    torch = load_torch()

    score = cast(Any, bench.pieces.log_prob)
    every = torch.stack([score(obs, torch.full((len(obs),), a)).reshape(-1) for a in range(n)], -1)
    picked = chosen.reshape(-1).long()
    if len(picked) != len(obs) or not bool(((picked >= 0) & (picked < n)).all()):
        raise cannot("deterministic actions are not counted from 0")
    own = every.gather(-1, picked.unsqueeze(-1)).squeeze(-1)
    return float((every.max(-1).values - own > LIKELIHOOD_ROOM_NATS).float().mean())


def _outside(bench: Bench, obs: Tensor, chosen: Tensor) -> float:
    """Share of (observation, dimension) at which nearly all draws lie on one side of the deterministic action."""
    many = obs.repeat_interleave(DRAWS, 0)
    drawn = cast(Any, bench.pieces.act)(many)[0]
    sent = bench.pieces.executed
    drawn = (sent(drawn) if sent is not None else drawn).reshape(len(obs), DRAWS, -1).double()
    middle = chosen.reshape(len(obs), 1, -1).double()
    if middle.shape[-1] != drawn.shape[-1]:
        raise cannot("deterministic actions have another shape than drawn ones")
    room = 1e-4 * (drawn.max() - drawn.min()).clamp_min(1e-12)
    below = (drawn < middle - room).double().mean(1)
    above = (drawn > middle + room).double().mean(1)
    return float(((below > 1 - OUTSIDE_FRAC) | (above > 1 - OUTSIDE_FRAC)).float().mean())
