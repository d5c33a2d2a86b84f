"""A deterministic action is the same each time it is asked for."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..torch_types import load_torch


@check(
    "INV024",
    "deterministic-action-random",
    link=Link.EXPLORATION,
    component=Component.EVALUATION,
    severity=Severity.ERROR,
    fix="Return the mode of the distribution when a deterministic action is asked for.",
)
@skips
def look(bench: Bench) -> Answer:
    """A deterministic action is the same each time it is asked for.

    Measured: three calls of predict(obs, deterministic=True) on the same observations.

    Why it hurts: evaluation then measures the policy with its exploration noise: worse and noisier than what was
    learnt.

    Usual causes: the flag is not passed on, exploration is applied after it, dropout is left on.

    What to try: return the mode of the distribution; put the network into evaluation mode.

    Harmless: when a stochastic policy is evaluated on purpose and the flag is known to do nothing.
    """
    from typing import Any, cast

    torch = load_torch()

    bench.need("predict", "minibatch")
    from ..owned import plain

    obs = plain(cast(Any, bench.pieces.minibatch)(), 8)["obs"]
    with torch.no_grad():
        first, second, third = (cast(Any, bench.pieces.predict)(obs, True).clone() for _ in range(3))
    moved = (first != second) | (first != third)
    share = float(moved.float().mean())
    if not share:
        return None
    return Symptom(
        f"deterministic actions for the same observations differ in {share:.0%} of the values from call to call",
        "predict",
        {"changed_frac": share},
    )
