"""The soft target subtracts alpha times the log-prob of the next action."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import DRAWS, GOING_ON, TRUNCATED, next_log_probs, targets

SIGMAS = 6.0
"""Six standard errors of the mean over rows and draws."""
ROUNDING = 1e-3
"""Of what is read off a gradient in float32; a policy of hardly any spread has no other room."""


@check(
    "INV090",
    "td-entropy-term-wrong",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Subtract alpha log pi(a'|s') inside the bootstrap.",
    explained_by=("log-prob-not-a-density",),
)
@skips
def look(bench: Bench) -> Answer:
    """The soft target subtracts alpha times the log-prob of the next action.

    Measured: the change of the target with the temperature, random numbers held, against log-probs of draws at the
    next observations.

    Why it hurts: without it the critic does not value exploration, and the actor is paid for entropy the critic
    does not know.

    Usual causes: the term forgotten, its sign wrong, log-probs of stored actions, a mean over dimensions.

    What to try: target = r + gamma (1 - terminated) (min Q' - alpha log pi').

    Harmless: for variants that leave the entropy out of the target on purpose.

    References: Haarnoja et al. 2018, arXiv 1812.05905, eq. 3.
    """
    bench.only("SAC")
    found = bench.once(targets)
    if found.log_prob is None:
        return Skip("the temperature is not learnt", ("pieces.log_temperature",))
    rows = [*range(TRUNCATED.start, GOING_ON.stop)]
    if float(found.bootstrap[rows].abs().max()) <= found.error:
        return Skip("the target does not bootstrap")
    got = found.log_prob[rows]
    mean, spread = bench.once(next_log_probs)
    expected = float(mean[rows].mean())
    draws = DRAWS * (1 if bench.pieces.settings.get("shared_noise") else len(rows))
    room = SIGMAS * float(spread[rows].mean()) / draws**0.5 + ROUNDING * (1 + abs(expected))
    evidence = {"log_prob_nats": float(got.mean()), "expected_nats": expected, "room_nats": room}
    if float(got.abs().max()) <= 10 * found.error:
        return Symptom("the temperature does not change the target: the entropy term is missing", "td_target", evidence)
    if abs(float(got.mean()) - expected) <= room:
        return None
    return Symptom(
        f"the target subtracts alpha times {float(got.mean()):.2f} nats; log pi of next actions is {expected:.2f}",
        "td_target",
        evidence,
    )
