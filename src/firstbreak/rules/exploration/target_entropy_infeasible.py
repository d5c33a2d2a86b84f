"""The rule `target-entropy-infeasible`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `target-entropy-infeasible`: engineering defaults, except where a source is named."""

    slack_frac: float = 0.99
    """A discrete target above this share of log(n) can only be met by the uniform policy."""


SAC_D = synth.like("SAC", config={"action_space": "discrete", "n_actions": 4})
SAC_C = synth.like("SAC", config={"action_space": "continuous", "action_dim": 3})

CASES = (
    fires("discrete target above log n", lambda: SAC_D({"sac/target_entropy": synth.constant(1.6)})),
    fires("continuous recipe on discrete actions", lambda: SAC_D({"sac/target_entropy": synth.constant(-4.0)})),
    healthy("minus the dimension", lambda: SAC_C({"sac/target_entropy": synth.constant(-3.0)})),
    near_miss("a high but reachable discrete target", lambda: SAC_D({"sac/target_entropy": synth.constant(0.9)})),
)


@rule(
    "EXP009",
    "target-entropy-infeasible",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    when=("max_entropy",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("alpha-runaway", "alpha-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """SAC's entropy target lies outside what the action space allows.

    What it means:
        Discrete entropy lies between 0 and log(n); squashed continuous entropy is at most d log 2. The target does
        not.

    Why it matters:
        The temperature then grows without end (target too high) or falls to 0 (target below every policy).

    Usual causes:
        The recipe "minus the number of dimensions" used for discrete actions; a positive target for continuous ones.

    What to try:
        Discrete: a positive share of log(n), such as 0.5. Continuous: minus the number of action dimensions.

    When it is harmless:
        Never: it is arithmetic, unless the temperature is fixed.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5. Christodoulou 2019, arXiv 1910.07207 (discrete SAC).
    """
    logged = view.get("sac/target_entropy")
    target = logged.last if logged is not None and len(logged) else view.number("target_entropy")
    if target is None:
        return Skip("the entropy target is not known", ("sac/target_entropy", "config target_entropy"))
    actions, dimensions, space = view.number("n_actions"), view.number("action_dim"), view.config("action_space")
    if space is None and actions is None:
        return Skip("the action space is not known", ("config action_space",))
    if space == "discrete" or (space is None and actions is not None):
        top = float(np.log(actions)) if actions is not None and actions >= 2 else float("inf")
        bad = target < 0 or target > params.slack_frac * top
        limit = f"0 to {top:.3g}" if np.isfinite(top) else "at least 0"
    else:
        top = dimensions * float(np.log(2)) if dimensions else float("inf")
        bad = target > top
        limit = f"at most {top:.3g}"
    if not bad:
        return None
    return Detection(
        message=f"Entropy target {target:.3g} nats is outside what {space or 'discrete'} actions allow ({limit})",
        onset=view.onset(float(logged.step[0]) if logged is not None and len(logged) else 0.0),
        metric="sac/target_entropy",
        evidence={"target_nats": target, "limit_nats": limit},
        severity=None if target > 0 or space == "discrete" else Severity.WARNING,
    )
