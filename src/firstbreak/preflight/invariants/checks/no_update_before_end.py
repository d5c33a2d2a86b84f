"""Training begins once its waiting at the start is over."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import OFF_POLICY, Bench, skips
from ..starting import started

LONGEST_WAIT = 1_000_000
"""Environment steps. Published waits: 1,000 to 80,000 (Mnih et al. 2015: 50,000; Hessel et al. 2018: 80,000)."""


@check(
    "INV116",
    "no-update-before-end",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    fix="Set the number of steps before the first update to a small part of the run.",
    explained_by=("no-gradient-step-taken",),
)
@skips
def look(bench: Bench) -> Answer:
    """Training begins once its waiting at the start is over.

    Measured: the optimiser steps that the trainer's own loop takes in some hundred steps past the wait that its
    settings name; and whether that wait is longer than any run known.

    Why it hurts: episodes are played and logged, and nothing is learnt.

    Usual causes: the wait counted in another unit (updates, frames, episodes); a wait longer than the buffer or the
    run; a condition on the wrong counter.

    What to try: log the number of updates; it must grow soon after the start.

    Harmless: never.
    """
    bench.only(*OFF_POLICY)
    wait = int(bench.setting("learning_starts"))
    if wait > LONGEST_WAIT:
        return Symptom(
            f"the first update comes after {wait:,} environment steps; 80,000 is the longest wait published",
            "settings['learning_starts']",
            {"learning_starts_steps": wait},
        )
    found = bench.once(started)
    if found.updates:
        return None
    return Symptom(
        f"0 optimiser steps in {found.steps:,} environment steps, though learning starts after {wait:,}",
        "learn",
        {"updates_n": 0, "env_steps_n": found.steps, "learning_starts_steps": wait},
    )
