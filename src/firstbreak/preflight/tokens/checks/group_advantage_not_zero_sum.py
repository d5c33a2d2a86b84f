"""The advantages of a group do not add up to 0."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..grouping import GROUPS, grouped

SUM_FRAC = 1e-3
"""Rounding leaves about 1e-6. Engineering default."""


@check(
    "TOK090",
    "group-advantage-not-zero-sum",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Subtract the mean of the group from its rewards.",
    explained_by=("groups-leak-advantage",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The advantages of a group do not add up to 0.

    Measured: the mean advantage of each group over their size, for random rewards of three groups.

    Why it hurts: every completion of a prompt is pushed the same way, whatever its rank: the baseline is
    missing.

    Usual causes: only the standard deviation is applied; the mean is that of the whole batch.

    What to try: rewards 0, 0, 1, 1 must give advantages of both signs.

    Harmless: for REINFORCE without a baseline.

    References: Shao et al. 2024, arXiv 2402.03300, section 4.1.
    """
    found = bench.once(grouped)
    size = float(found.advantages.abs().mean())
    means = [float(found.advantages[found.group == g].mean()) for g in range(GROUPS)]
    worst = max(abs(m) for m in means) / max(size, 1e-30)
    if worst <= SUM_FRAC:
        return None
    return Symptom(
        f"the mean advantage of a group is {worst:.0%} of the mean size of an advantage",
        "advantages",
        {"mean_over_size_frac": worst},
    )
