"""A truncated step keeps its bootstrap."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV041",
    "gae-truncated-loses-bootstrap",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Mask the bootstrap with terminated, not with done.",
)
@skips
def look(bench: Bench) -> Answer:
    """A truncated step keeps its bootstrap.

    Measured: the change of the advantage at a truncated step when the value of the final observation is raised by
    1; gamma is right.

    Why it hurts: a time limit looks like failure; values late in an episode are biased by about gamma V.

    Usual causes: done handed over in the place of terminated; the bootstrap masked by done.

    What to try: cut the trace by done and the bootstrap by terminated only.

    Harmless: when the time limit is part of the task and the time left is observed.

    References: Pardo et al. 2018, arXiv 1712.00378.
    """
    found, gamma = bench.once(responses), float(bench.setting("gamma"))
    if abs(found.bootstrap_truncated) > TOLERANCE or abs(found.bootstrap_last) <= TOLERANCE:
        return None
    return Symptom(
        f"at a time limit the next value enters with weight 0 instead of {gamma:.3g}: it counts as termination",
        "advantages",
        {"weight": found.bootstrap_truncated, "right_weight": gamma},
    )
