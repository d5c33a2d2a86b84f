"""Whether the trainer's own loop ever gets from collecting to learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import OFF_POLICY, Bench, cannot
from .capture import watching

PAST_THE_WAIT, LONGEST = 300, 2_000
"""Environment steps played past the wait; and a wait that is still played here."""


@dataclass(frozen=True)
class Started:
    """Optimiser steps in so many environment steps."""

    updates: int
    steps: int


def started(bench: Bench) -> Started:
    """Measure `Started`; the weights are held while the loop runs."""
    bench.only(*OFF_POLICY)
    bench.need("learn")
    wait = int(bench.setting("learning_starts"))
    if wait > LONGEST:
        raise cannot(f"the wait of {wait:,} environment steps before the first update is too long to be played here")
    with watching() as seen:
        cast(Any, bench.pieces.learn)(wait + PAST_THE_WAIT)
    return Started(len(seen.steps), wait + PAST_THE_WAIT)
