"""A drawn action has the same log-prob when it is scored again."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import Bench, skips
from ..density import draws
from ..rows import EPS
from ..torch_types import load_torch


@check(
    "INV022",
    "log-prob-differs-from-sampling",
    link=Link.POLICY_UPDATE,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    fix="Score actions with the distribution that drew them.",
)
@skips
def look(bench: Bench) -> Answer:
    """A drawn action has the same log-prob when it is scored again.

    Measured: the median difference between the log-prob that comes with a draw and log_prob(obs, action), over 256
    draws.

    Why it hurts: the importance ratio is not 1 for equal policies, so every update starts from a wrong comparison.

    Usual causes: two code paths for sampling and scoring, dropout or batch norm in one of them, another action
    scored.

    What to try: use one distribution object for both; compare the two paths on one action.

    Harmless: far out in the tails of a squashed policy, where inverting tanh loses digits: the median is not
    touched by that.
    """
    from typing import Any, cast

    torch = load_torch()

    bench.only("PPO", "A2C", "MM-RKHS", "SAC")
    bench.need("log_prob")
    obs, action, log_prob = bench.once(draws)
    n = 256
    with torch.no_grad():
        again = cast(Any, bench.pieces.log_prob)(obs.expand(n, *obs.shape[1:]).contiguous(), action[:n]).reshape(-1)
    size = 1.0 + float(again.abs().max())
    typical = float((again - log_prob.reshape(-1)[:n]).abs().median())
    if typical <= EPS * 1e3 * size:
        return None
    return Symptom(
        f"the log-prob of a drawn action is {typical:.3g} nats off when scored again (median)",
        "log_prob",
        {"difference_nats": typical},
    )
