"""Equal advantages do not break the update."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..capture import gradients
from ..owned import actor_weights
from ..policy_rows import base_batch
from ..rows import vector
from ..torch_types import load_torch


@check(
    "INV050",
    "zero-advantage-not-finite",
    link=Link.NUMERICS,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Add a small epsilon to the standard deviation of the advantages.",
)
@skips
def look(bench: Bench) -> Answer:
    """Equal advantages do not break the update.

    Measured: the gradient of the trainer's update on a minibatch whose advantages are all 0.

    Why it hurts: one flat minibatch (constant reward, solved task) puts NaN into every weight.

    Usual causes: advantages divided by their bare standard deviation.

    What to try: divide by (std + 1e-8).

    Harmless: never.

    References: Stable-Baselines3 issue 265.
    """
    torch = load_torch()

    batch = bench.once(base_batch)
    found = gradients(bench.pieces, batch, bench.seed)
    assert found is not None
    broken = int((~torch.isfinite(vector(found, actor_weights(bench)))).sum())
    if not broken:
        return None
    return Symptom(
        f"equal advantages give {broken} gradient entries that are not finite: 0/0 in the normalisation",
        "update",
        {"entries_n": broken},
    )
