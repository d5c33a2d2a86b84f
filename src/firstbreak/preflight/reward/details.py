"""The tables of a reward's report: histogram, quantiles, returns, shares. Plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...check import Look
from .judges import assumption
from .learnable import explained
from .measures import covariance_shares, finite, tail_weight, top_share
from .parts import weighed
from .sample import RewardSample
from .shaped import told
from .tables import tables_of

Array = NDArray[np.float64]
BINS = 30
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)

SHAPES = {
    "reward-always-zero": "all 0",
    "reward-too-sparse": "almost all 0",
    "reward-saturated": "almost all at the maximum",
    "reward-long-tail": "long tail",
    "reward-opposes-reference": "sign confusion",
    "reward-unrelated-to-reference": "low correlation with the reference",
}
"""The check whose firing gives a distribution its name."""


def details_of(sample: RewardSample, looks: list[Look]) -> dict[str, Any]:
    """Return what a report shows about `sample` beside the findings."""
    fired = {k.check for k in looks if k.symptom is not None}
    found: dict[str, Any] = {
        "source": sample.source,
        "rows": int(sample.rewards.size),
        "episodes": len(sample.slices),
        "groups": len(sample.groups),
        "gamma": sample.gamma,
        "shapes": [word for name, word in SHAPES.items() if name in fired],
        "reward": summary(sample.rewards),
        "histogram": histogram(sample.rewards),
        "judges": [{"name": j.name, "better": j.way, "guessed": j.guessed} for j in sample.judges],
        "notes": [*sample.notes, *assumption(sample.judges), *weighed(sample), *_tested(sample)],
    }
    if sample.stepwise:
        found["return"] = {**summary(sample.returns), "histogram": histogram(sample.returns)}
        found["discounted_return"] = summary(sample.discounted)
    shares = dict[str, float]()
    if sample.components:
        shares = covariance_shares(dict(sample.components), sample.rewards) if np.isfinite(sample.rewards).all() else {}
        found["components"] = {k: {**summary(v), "share_frac": shares.get(k)} for k, v in sample.components.items()}
    found["tables"] = tables_of(sample, shares)
    if sample.shaping is not None:
        found["shaping"] = told(sample.shaping)
    fits = explained(sample)
    if fits is not None:
        found["held_out_r2"] = asdict(fits)
    return found


def summary(values: Array) -> dict[str, Any]:
    """Count, mean, standard deviation, quantiles and tail of the finite ones of `values` [n]."""
    kept = finite(values)
    if not kept.size:
        return {"count": int(values.size), "finite": 0}
    return {
        "count": int(values.size),
        "finite": int(kept.size),
        "mean": float(kept.mean()),
        "std": float(kept.std()),
        "zero_frac": float((kept == 0).mean()),
        "quantiles": {f"{q:g}": float(v) for q, v in zip(QUANTILES, np.quantile(kept, QUANTILES), strict=True)},
        "top_1_percent_share_frac": top_share(kept),
        "tail_weight": tail_weight(kept),
    }


def histogram(values: Array) -> dict[str, Any]:
    """Counts in `BINS` even bins between the 0.5 and 99.5 % quantile; what lies outside is counted beside."""
    kept = finite(values)
    if not kept.size:
        return {"edges": [], "counts": [], "below": 0, "above": 0}
    low, high = (float(q) for q in np.quantile(kept, [0.005, 0.995]))
    if not high > low:
        low, high = float(kept.min()), float(kept.max())
    if not np.isfinite(high - low) or not high > low + 1e-12 * max(abs(low), abs(high)):
        return {"edges": [low, high], "counts": [int(kept.size)], "below": 0, "above": 0}
    counts, edges = np.histogram(kept, BINS, (low, high))
    below, above = int((kept < low).sum()), int((kept > high).sum())
    return {"edges": edges.tolist(), "counts": counts.tolist(), "below": below, "above": above}


def _tested(sample: RewardSample) -> list[str]:
    """What was looked at of a shaping term in which no fault was found, and why it cannot be told."""
    seen = sample.shaping
    if seen is None or seen.faults:
        return []
    why = [f"the shaping term can be called neither right nor wrong: {seen.undecided}"] if seen.undecided else []
    return [*why, f"shaping term tested on {seen.tested or f'{seen.steps} steps, with its potential'}"]
