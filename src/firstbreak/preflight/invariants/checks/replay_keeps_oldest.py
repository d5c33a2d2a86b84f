"""A full replay buffer replaces its oldest rows."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs


@check(
    "INV034",
    "replay-keeps-oldest",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Let the write position wrap around, so that new rows replace the oldest.",
)
@skips
def look(bench: Bench) -> Answer:
    """A full replay buffer replaces its oldest rows.

    Measured: the age of sampled rows after the buffer was filled one and a half times.

    Why it hurts: learning goes on with the first, mostly random, behaviour; what the policy does now is never seen.

    Usual causes: new rows dropped once full, a write position that does not wrap around.

    What to try: write at position modulo size.

    Harmless: for an offline data set that is to stay as it is.
    """
    if bench.on_policy:
        return Skip("there is no replay buffer")
    found = bench.once(pairs)
    size = int(bench.setting("buffer_size"))
    oldest = found.rows - size
    if oldest <= 1:
        return Skip("the buffer has not been filled yet", withholds=True)
    stale = float((found.index < oldest - 1).float().mean())
    if not stale:
        return None
    newest = int(found.index.max()) + 1
    return Symptom(
        f"{stale:.0%} of sampled rows are too old for a buffer of {size}; the newest is row {newest} of {found.rows}",
        "minibatch",
        {"stale_frac": stale, "newest_row": newest, "rows_n": found.rows},
    )
