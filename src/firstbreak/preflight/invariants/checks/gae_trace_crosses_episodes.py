"""The trace of advantages is cut at every end of an episode."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..gae import TOLERANCE, responses


@check(
    "INV042",
    "gae-trace-crosses-episodes",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Cut the trace by done: terminated or truncated.",
    explained_by=("gae-crosses-environments",),
)
@skips
def look(bench: Bench) -> Answer:
    """The trace of advantages is cut at every end of an episode.

    Measured: the change of the advantage at an ending step when the reward after it, of the next episode, is raised
    by 1; 0 is right.

    Why it hurts: an episode is credited with what the next one earns.

    Usual causes: the trace cut by terminated only, flags one step off.

    What to try: A_t = delta_t + gamma lambda (1 - done_t) A_(t+1) with done = terminated or truncated.

    Harmless: never.

    References: Schulman et al. 2015, arXiv 1506.02438.
    """
    found = bench.once(responses)
    ends = {"terminated": found.over_terminated, "truncated": found.over_truncated}
    name, worst = max(ends.items(), key=lambda item: abs(item[1]))
    if abs(worst) <= TOLERANCE:
        return None
    return Symptom(
        f"a reward of the next episode changes the advantage of a {name} step by {worst:.3g} per unit",
        "advantages",
        {"weight_terminated": found.over_terminated, "weight_truncated": found.over_truncated},
    )
