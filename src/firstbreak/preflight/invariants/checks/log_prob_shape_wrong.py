"""An action has one log-prob, whatever its dimensions."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..torch_types import load_torch


@check(
    "INV020",
    "log-prob-shape-wrong",
    link=Link.POLICY_UPDATE,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Sum the log-prob over the action dimensions and return shape [B].",
)
@skips
def look(bench: Bench) -> Answer:
    """An action has one log-prob, whatever its dimensions.

    Measured: the shape of the log-probs of 5 actions.

    Why it hurts: [B, 1] against [B] broadcasts to [B, B] in the ratio; [B, A] counts every dimension as a sample of
    its own.

    Usual causes: log_prob of a Normal not summed over its last axis, keepdim=True, a missing squeeze.

    What to try: sum over the action dimensions; wrap the distribution in Independent.

    Harmless: where the loss reshapes both sides alike; say so by returning [B] from the piece.
    """
    from typing import Any, cast

    torch = load_torch()

    from ..density import one_observation

    bench.only("PPO", "A2C", "MM-RKHS", "SAC")
    bench.need("act")
    obs = bench.once(one_observation)
    rows = 5
    with torch.no_grad():
        action, log_prob = cast(Any, bench.pieces.act)(obs.expand(rows, *obs.shape[1:]).contiguous())
        shapes = {"act": tuple(log_prob.shape)}
        if bench.pieces.log_prob is not None:
            batch = obs.expand(rows, *obs.shape[1:]).contiguous()
            shapes["log_prob"] = tuple(bench.pieces.log_prob(batch, action).shape)
    for name, shape in shapes.items():
        if shape != (rows,):
            return Symptom(
                f"{name}() gives log-probs of shape {list(shape)} for {rows} actions, not [{rows}]",
                name,
                {"shape": str(list(shape)), "rows_n": rows},
            )
    return None
