"""Equal policies have no distance: the MMD term is 0 on average."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..kernel_terms import terms

SIGMAS = 6.0
"""Six standard errors."""


@check(
    "INV104",
    "mmd-not-zero-for-equal-policies",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Use E k(x,x') + E k(y,y') - 2 E k(x,y) without a clamp.",
)
@skips
def look(bench: Bench) -> Answer:
    """Equal policies have no distance: the MMD term is 0 on average.

    Measured: the mean of the MMD term over several draws before any step, with its standard error.

    Why it hurts: a wrong cross term pays for distance; a clamp at 0 adds a floor and takes the gradient away half
    of the time.

    Usual causes: the sign of the cross term, clamp(min=0), diagonal terms kept in an unbiased estimate.

    What to try: use the closed form; keep negative estimates.

    Harmless: for the biased V-statistic, whose floor is known: subtract it.

    References: Gretton et al. 2012, lemma 6.
    """
    if bench.pieces.settings.get("form") == "draft":
        return Skip("the draft form keeps the cross term only")
    found = bench.once(terms)
    beta = float(found.state.get("beta") or 1.0)
    room = SIGMAS * found.mmd_equal_error + 1e-5 * abs(beta)
    if abs(found.mmd_equal) <= room:
        return None
    return Symptom(
        f"for equal policies the MMD term is {found.mmd_equal:.2g} instead of 0 (beta {beta:.2g})",
        "losses",
        {"mmd_term": found.mmd_equal, "room": room, "beta": beta},
    )
