"""The TD target is computed with the target network."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import GOING_ON, TRUNCATED, target_network_counts, targets
from ..torch_types import load_torch


@check(
    "INV082",
    "td-target-ignores-target-network",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Compute next values with the target network.",
)
@skips
def look(bench: Bench) -> Answer:
    """The TD target is computed with the target network.

    Measured: whether the critic's gradient changes when the target networks are made to return other values.

    Why it hurts: without the lag of a target network the target runs away with the estimate.

    Usual causes: the online network called in the target; the target network updated and never used.

    What to try: call the target network for the next values.

    Harmless: for algorithms without a target network on purpose: leave target_critics empty.

    References: Mnih et al. 2015, doi:10.1038/nature14236.
    """
    torch = load_torch()

    found = bench.once(targets)
    rows = [*range(TRUNCATED.start, GOING_ON.stop)]
    got = found.bootstrap[rows]
    if found.terminal.norm == 0 or not bool(torch.isfinite(got).all()) or float(got.abs().max()) <= found.error:
        return Skip("the TD target does not bootstrap or has no gradient")
    if bench.once(target_network_counts):
        return None
    what, online = "elsewhere", 0.0
    if found.online.numel():
        online = float(torch.corrcoef(torch.stack([got, found.online[rows].max(-1).values]))[0, 1])
        what = "from the online network" if online > 0.9 else what
    return Symptom(
        f"changing the target network changes 0 of {len(rows)} targets: next values come {what}",
        "td_target",
        {"correlation_online": online, "rows_n": len(rows)},
    )
