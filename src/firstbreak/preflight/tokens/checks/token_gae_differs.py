"""The advantages are not GAE of the stated discount and trace."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..sequences import gae


@check(
    "TOK105",
    "token-gae-differs",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Compare with the definition token by token, from the last one back.",
    explained_by=(
        "gae-beyond-last-token",
        "gae-crosses-rows",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The advantages are not GAE of the stated discount and trace.

    Measured: the advantages of made-up rewards and values against GAE by its definition over trained tokens.

    Why it hurts: credit goes to the wrong tokens or decays at another rate.

    Usual causes: gamma and lambda exchanged; an off-by-one; a recursion from the front.

    What to try: compare for a row of three tokens by hand.

    Harmless: with another estimator on purpose (leave gamma and gae_lambda out of the settings then).

    References: Schulman et al. 2016, arXiv 1506.02438.
    """
    found = bench.once(gae)
    if found.expected is None:
        return Skip("gamma and gae_lambda are not known", ("pieces.settings['gamma']", "pieces.settings['gae_lambda']"))
    mask = found.mask > 0
    off = float((found.advantages - found.expected)[mask].norm() / found.expected[mask].norm())
    if off <= 1e-3:
        return None
    return Symptom(f"advantages differ by {off:.0%} from GAE by its definition", "gae", {"difference_frac": off})
