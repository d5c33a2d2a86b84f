"""The check `episodes-of-few-steps`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..sample import TaskSample

SHORT = 10
LEAST = 20


@check(
    "PTK008",
    "episodes-of-few-steps",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    fix="Make the task more forgiving: wider margins, gentler starts.",
)
def look(sample: TaskSample) -> Answer:
    """Episodes end within 10 steps.

    What is measured:
        The median length for random play and for the best known policy. A warning when both are under 10 steps and
        lengths differ; a note when only random play is known, when the best policy lives longer, or when all episodes
        have one fixed length (a bandit, or a task of few steps by design).

    Why it hurts:
        The agent dies before its actions can matter, and it sees nothing but starts.

    Usual causes:
        Margins that are too tight; starts outside of them; a termination that compares the wrong quantity.

    What to try:
        Widen the margin that ends most episodes; start from safer states.

    When it is harmless:
        One-step tasks, and games that are short by nature.

    References:
        Engineering default of 10 steps.
    """
    lengths = {who: v for who, v in sample.lengths.items() if v.size >= LEAST and np.isfinite(v).all()}
    if not lengths:
        return Skip("the lengths of the episodes are not known", ("episode lengths",))
    medians = {who: float(np.median(v)) for who, v in lengths.items()}
    short = [who for who, m in medians.items() if m < SHORT]
    if not short:
        return None
    skilled = [w for w in ("expert", "trained") if w in medians]
    fixed = all(np.ptp(v) == 0 for v in lengths.values())
    certain = bool(skilled) and all(medians[w] < SHORT for w in medians) and not fixed
    who = short[0]
    return Symptom(
        f"episodes are short: median {medians[who]:.0f} steps for the {who} policy: termination too eager?",
        "episode.length",
        {f"{w}_median_steps": m for w, m in medians.items()},
        severity=None if certain else Severity.INFO,
    )
