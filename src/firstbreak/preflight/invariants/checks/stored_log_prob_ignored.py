"""The ratio is taken to the stored log-prob."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..quadrants import quadrant_rows


@check(
    "INV057",
    "stored-log-prob-ignored",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Use the log-prob stored at collection as the old log-prob.",
    explained_by=(
        "policy-loss-without-gradient",
        "policy-loss-broadcasts",
    ),
)
@skips
def look(bench: Bench) -> Answer:
    """The ratio is taken to the stored log-prob.

    Measured: the rows' weights when the stored log-probs are moved well beyond the clip range; they must change.

    Why it hurts: without the old policy the ratio is always 1, nothing is ever clipped, and later epochs run away.

    Usual causes: the old log-prob recomputed at every minibatch (log_prob.detach()).

    What to try: store the log-prob when the action is drawn and never overwrite it.

    Harmless: with one update per rollout: then ratio and clip have no effect anyway.
    """
    found = bench.once(quadrant_rows)
    if found.by_ratio > 0.5:
        return None
    return Symptom(
        f"a stored log-prob {found.log_ratio:.2f} nats off changes nothing: the ratio stays 1 and nothing is clipped",
        "update",
        {"log_ratio_nats": found.log_ratio, "answer_frac": found.by_ratio},
    )
