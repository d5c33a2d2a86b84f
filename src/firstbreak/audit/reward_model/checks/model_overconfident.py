"""The check `model-overconfident`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..fits import brier, calibration_error, noise_of_calibration, slope
from ..record import Scored

LEAST = 100
"""Pairs. Engineering default."""
LARGE = 0.1
"""Calibration error from which on it is told. Engineering default."""


@check(
    "RWM013",
    "model-overconfident",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.INFO,
    fix="Divide the scores by the fitted factor before reading them as log odds.",
    explained_by=(
        "preferences-reversed",
        "model-scores-constant",
    ),
)
def look(scored: Scored) -> Answer:
    """Score differences, read as log odds, are far too sure of themselves or far too timid.

    What is measured:
        The calibration error of sigmoid(score difference) against what perfectly calibrated scores of this size
        would show, and the factor that makes them calibrated.

    Why it hurts:
        Thresholds, margins and mixtures of rewards that take the difference for log odds are off by that factor.

    Usual causes:
        Training too long on few pairs; a score on a scale of its own.

    What to try:
        Fit the factor on held-out pairs.

    When it is harmless:
        Where only the order of scores is used, as in group-normalised advantages.

    References:
        Guo et al. 2017, arXiv 1706.04599; Bradley and Terry 1952.
    """
    if scored.differences.size < LEAST:
        return Skip(f"{scored.differences.size} scored pairs are too few; {LEAST} are needed", ("--pairs",))
    error = calibration_error(scored.differences)
    chance, most = noise_of_calibration(scored.differences)
    if error <= most or error < LARGE:
        return None
    factor = slope(scored.differences)
    return Symptom(
        f"calibration error {error:.2f} (chance: {chance:.2f}); a factor of {factor:.2g} would mend it",
        "score",
        {
            "calibration_error_frac": error,
            "by_chance_frac": chance,
            "brier": brier(scored.differences),
            "factor": factor,
            "pairs": int(scored.differences.size),
        },
    )
