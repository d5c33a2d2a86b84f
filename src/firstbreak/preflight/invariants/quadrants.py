"""What clipping does to rows whose ratio has moved well beyond the clip range, on the right and on the wrong side."""

from __future__ import annotations

from dataclasses import dataclass

from .bench import Bench, cannot
from .policy_rows import policy_rows

BEYOND = [0, 1, 2, 9, 10, 11]
"""Rows that went where their advantage asked them to: ratio high and A > 0, or low and A < 0."""
CORRECTIVE = [3, 4, 5, 6, 7, 8]
"""Rows that went the wrong way."""


@dataclass(frozen=True)
class QuadrantRows:
    """Shares of the unclipped weight, -A ratio / B, that rows keep."""

    log_ratio: float
    by_ratio: float
    """Largest change of a weight when its stored log-prob moves, as a share of the weight; 0 where it is ignored."""
    beyond: float
    corrective: float
    held_back_frac: float
    """What pulls the policy back there though all advantages are 0, over the usual gradient: a penalty."""


def quadrant_rows(bench: Bench) -> QuadrantRows:
    """Measure `QuadrantRows`."""
    found = bench.once(policy_rows)
    if found.quadrants is None or found.log_ratio is None or found.quadrant_advantage is None:
        raise cannot("the policy loss does not clip its ratio", *_unlock(bench))
    advantage, signs = found.advantage.double(), found.quadrant_advantage.double()
    slope = float(found.fit.weights @ advantage / (advantage @ advantage))
    if found.fit.norm <= 1e-3 * found.expected_norm or not slope:
        raise cannot("the policy loss has no gradient at ratio 1")
    if not found.quadrants.sure and found.quadrants.norm > 1e-3 * found.expected_norm:
        raise cannot("the rows' weights cannot be told apart")
    flat = found.quadrants.weights / (slope * signs)
    full = flat / found.log_ratio.double().exp()
    return QuadrantRows(
        float(found.log_ratio.max()),
        float((flat - 1.0).abs().max()),
        float(full[BEYOND].mean()),
        float(full[CORRECTIVE].mean()),
        found.held_back_frac,
    )


def _unlock(bench: Bench) -> tuple[str, ...]:
    return ("pieces.settings['clip_range']",) if bench.pieces.algorithm == "PPO" else ()
