"""Every row of the replay buffer can be sampled."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs

SEEN_FRAC = 0.9
"""Uniform draws miss a row with a chance of e^-20; prioritised ones may miss some."""


@check(
    "INV035",
    "replay-sampling-not-uniform",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Draw indices uniformly from all filled rows.",
    explained_by=("replay-keeps-oldest",),
)
@skips
def look(bench: Bench) -> Answer:
    """Every row of the replay buffer can be sampled.

    Measured: how many different rows come up in 20 draws for each row of the buffer.

    Why it hurts: a corner of the buffer is learnt by heart; correlated rows make TD learning unstable.

    Usual causes: indices drawn from the first batch_size slots, the last rows returned instead of random ones.

    What to try: draw indices uniformly from the filled part.

    Harmless: with prioritised replay, where rare rows come up rarely; the share reached still grows with draws.
    """
    if bench.on_policy:
        return Skip("there is no replay buffer")
    found = bench.once(pairs)
    size = int(bench.setting("buffer_size"))
    kinds = found.index.unique()
    share = len(kinds) / min(size, found.rows)
    if share >= SEEN_FRAC:
        return None
    middle = found.rows - size / 2
    where = "newest" if float(kinds.float().mean()) > middle else "oldest"
    return Symptom(
        f"{len(found.index)} sampled rows reach {share:.0%} of the buffer, the {where} part only",
        "minibatch",
        {"reached_frac": share, "draws_n": len(found.index)},
    )
