"""The last row of a rollout bootstraps when the episode goes on."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV043",
    "gae-last-row-not-bootstrapped",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Bootstrap the last row with the value of the observation that follows it.",
)
@skips
def look(bench: Bench) -> Answer:
    """The last row of a rollout bootstraps when the episode goes on.

    Measured: the change of the last advantage when the value after it is raised by 1; gamma is right.

    Why it hurts: every rollout seems to end in disaster at its last step; with short rollouts this is most of the
    signal.

    Usual causes: the value after the last step not computed, zeros put in its place, the end of the batch taken as
    done.

    What to try: compute V of the observation after the last step and pass it on.

    Harmless: when rollouts always end with the episode.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found, gamma = bench.once(responses), float(bench.setting("gamma"))
    if abs(found.bootstrap_last) > TOLERANCE:
        return None
    return Symptom(
        f"the last row of an unfinished episode bootstraps with weight 0 instead of {gamma:.3g}",
        "advantages",
        {"weight": found.bootstrap_last, "right_weight": gamma},
    )
