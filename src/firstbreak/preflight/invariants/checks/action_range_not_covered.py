"""The actions that reach the environment lie within its bounds, and a squashed policy covers them."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs
from ..torch_types import load_torch

COVERED_FRAC = 0.8
"""A saturated tanh policy reaches 1.0 in a hundred random states; unscaled into a range of 4 it reaches 0.5."""


@check(
    "INV025",
    "action-range-not-covered",
    link=Link.ENVIRONMENT_DATA,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Stretch the squashed action to the environment's bounds before step().",
)
@skips
def look(bench: Bench) -> Answer:
    """The actions that reach the environment lie within its bounds, and a squashed policy covers them.

    Measured: the actions the environments received: whether they are within bounds, and the range they reach with
    the actor's weights blown up.

    Why it hurts: part of the range can never be used; the policy cannot reach what the task needs, or the
    environment clips in silence.

    Usual causes: tanh outputs in [-1, 1] sent unscaled to other bounds; scaling done twice; bounds of another
    environment.

    What to try: map [-1, 1] to [low, high]: low + (a + 1) / 2 (high - low).

    Harmless: for a trained policy that needs only part of the range.
    """
    torch = load_torch()

    if bench.pieces.settings.get("n_actions"):
        return Skip("actions are discrete")
    low, high = (torch.as_tensor(bench.setting(f"action_{side}")) for side in ("low", "high"))
    if not bool(torch.isfinite(low).all() & torch.isfinite(high).all()):
        return Skip("the actions have no bounds")
    received = bench.once(pairs).seen["action"]
    place = (received.float() - low) / (high - low)
    if float(place.max()) > 1.0 + 1e-5 or float(place.min()) < -1e-5:
        worst = float(torch.maximum(place.max() - 1.0, -place.min()))
        return Symptom(
            f"actions go {worst:.0%} of the range beyond the bounds of the environment",
            "action",
            {"beyond_frac": worst},
        )
    if bench.pieces.settings.get("policy_low") is None:
        return None
    from ..stored import extreme_actions

    place = (bench.once(extreme_actions).float() - low) / (high - low)
    covered = float((place.max(0).values - place.min(0).values).min())
    if covered >= COVERED_FRAC:
        return None
    return Symptom(
        f"a policy driven to its extremes reaches {covered:.0%} of the range of one dimension",
        "action",
        {"covered_frac": covered, "steps_n": len(place)},
    )
