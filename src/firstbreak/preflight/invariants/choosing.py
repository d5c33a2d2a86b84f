"""Choosing the rows of a minibatch whose weights in an update can be told apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from .bench import Bench, cannot
from .owned import actor_weights, plain
from .rows import TOO_UNSURE_FRAC, blur_frac, jacobian, most_different
from .torch_types import Tensor, load_torch

CANDIDATES = 64
"""Rows of a minibatch among which is chosen."""
MINIBATCHES = 4
"""Most minibatches that are drawn for it, each the price of one rollout."""


def told_apart(bench: Bench, n: int) -> dict[str, Tensor]:
    """Return the `n` rows of up to `MINIBATCHES` minibatches whose log-probs pull the actor most differently.

    At the start of training most rows are nearly alike, and their weights are lost in rounding. The first rows are
    taken where the pull cannot be had.
    """
    torch = load_torch()

    draw = cast(Callable[[], Any], bench.pieces.minibatch)
    pool = plain(draw(), CANDIDATES)
    if len(pool["obs"]) < n:
        raise cannot(f"a minibatch has only {len(pool['obs'])} rows, {n} are needed")
    pulls = _pulls(bench, pool)
    if pulls is None:
        return _rows_of(pool, list(range(n)))
    for last in (False,) * (MINIBATCHES - 1) + (True,):
        chosen = most_different(pulls, n)
        pool, pulls = _rows_of(pool, chosen), pulls[chosen]
        if last or blur_frac(pulls) <= TOO_UNSURE_FRAC / 2:
            break
        more = plain(draw(), CANDIDATES)
        new = _pulls(bench, more) if more.keys() == pool.keys() else None
        if new is None:
            break
        pool = {k: torch.cat([v, more[k]]) if v.ndim else v for k, v in pool.items()}
        pulls = torch.cat([pulls, new])
    return pool


def _pulls(bench: Bench, batch: Mapping[str, Tensor]) -> Tensor | None:
    """The gradient of each row's log-prob on the actor [B, P]; None where it has none, or not one a row."""
    torch = load_torch()

    n, weights = len(batch["obs"]), actor_weights(bench)
    log_prob = cast(Any, bench.pieces.log_prob)(batch["obs"], batch["action"])
    if log_prob.numel() != n or not log_prob.requires_grad:
        return None
    rows = jacobian(log_prob.reshape(n), weights)
    return rows if bool(torch.isfinite(rows).all()) else None


def _rows_of(batch: Mapping[str, Tensor], chosen: list[int]) -> dict[str, Tensor]:
    n = len(batch["obs"])
    return {k: v[chosen] if v.ndim and len(v) == n else v for k, v in batch.items()}
