"""Before training the policy's actions spread over the action range."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..density import draws
from ..torch_types import load_torch

LEAST_FRAC = 0.02
"""Common starts are 0.3 to 1; at 0.02 a sweep of the range takes 2,500 independent draws per dimension to reach 1."""


@check(
    "INV023",
    "policy-without-spread",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    fix="Start log_std near 0 (in units of half the action range) as a trained parameter.",
)
@skips
def look(bench: Bench) -> Answer:
    """Before training the policy's actions spread over the action range.

    Measured: the standard deviation of draws at one observation over half the range of that dimension.

    Why it hurts: what is never tried is never learnt; with a spread near 0 the log-probs are huge and ratios
    explode.

    Usual causes: a log_std fixed or initialised far too low, clamped, or no parameter at all; a scale applied
    twice.

    What to try: start log_std at 0 in units of half the range (about -0.5 is common) and let it train.

    Harmless: when fine-tuning a policy that already works.
    """
    if bench.pieces.settings.get("n_actions"):
        return Skip("actions are discrete")
    low, high = bench.setting("action_low"), bench.setting("action_high")
    _, action, _ = bench.once(draws)
    torch = load_torch()

    low = bench.pieces.settings.get("policy_low", low)
    high = bench.pieces.settings.get("policy_high", high)
    half = (torch.as_tensor(high) - torch.as_tensor(low)) / 2
    share = float((action.reshape(len(action), -1).std(0) / half).min())
    if not share < LEAST_FRAC:
        return None
    return Symptom(
        f"before training the actions spread over {share:.1%} of half their range (standard deviation)",
        "act",
        {"spread_frac": share},
    )
