"""The rule `policy-turns-uniform`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

ENTROPY = "policy/entropy"


@dataclass(frozen=True)
class Params:
    """Thresholds of `policy-turns-uniform`. Engineering defaults."""

    uniform: float = 0.998
    """Share of ln(number of actions) from which on a policy prefers nothing."""
    preferred: float = 0.95
    """Share that entropy must have fallen below before: the policy had learned to prefer."""
    rows: int = 6
    """Rows in a row that must show either."""


PPO = synth.like("PPO", config={"n_actions": 2})
LEARNED = synth.ramp(0.69, 0.55, 0.005, until=0.4)
EVEN = synth.clipped(synth.flat(0.6929, 0.0002), 0, math.log(2))
CASES = (
    fires("it prefers nothing any more", lambda: PPO({ENTROPY: synth.after(0.5, EVEN, LEARNED)})),
    healthy("it learns to prefer", lambda: PPO({ENTROPY: synth.ramp(0.69, 0.3, 0.01)})),
    near_miss("it never preferred anything", lambda: PPO({ENTROPY: EVEN})),
    near_miss(
        "doubt grows, short of indifference", lambda: PPO({ENTROPY: synth.after(0.5, synth.flat(0.66), LEARNED)})
    ),
)


@rule(
    "EXP026",
    "policy-turns-uniform",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(ENTROPY,),
    needs_config=("n_actions",),
    when=("on_policy", "control"),
    min_points=12,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "reward-flat", "entropy-stuck-high", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A policy that had learned to prefer some actions takes all of them alike again.

    What it means:
        Entropy rose back to that of the uniform policy and stays there.

    Why it matters:
        What was learned is gone: the agent acts at random whatever it sees.

    Usual causes:
        An entropy bonus that was raised, or whose schedule counts in other units; a penalty that outweighs the
        advantages; logits that are divided by a temperature that grew; a head that was reset.

    What to try:
        Print coefficient times entropy beside the policy loss of one update; set the coefficient to 0 for a short run.

    When it is harmless:
        A new phase that starts with exploration on purpose.

    References:
        Williams and Peng 1991, Connection Science 3(3) (entropy as a term of the objective). Mnih et al. 2016,
        arXiv 1602.01783, section 4.
    """
    entropy, actions = view.get(ENTROPY), view.number("n_actions")
    assert entropy is not None
    if actions is None or actions < 2:
        return None
    share = entropy.value / math.log(actions)
    preferred = persistent_onset(entropy.step, share <= params.preferred, params.rows)
    if preferred is None or not (share[-params.rows :] >= params.uniform).all():
        return None
    after = entropy.step > preferred[1]
    onset = persistent_onset(entropy.step[after], share[after] >= params.uniform, params.rows)
    if onset is None:
        return None
    return Detection(
        message=f"entropy is {entropy.last:.4g} nats again: none of {actions:.0f} actions is preferred",
        onset=view.onset(*onset),
        metric=ENTROPY,
        evidence={"entropy_nats": entropy.last, "ln_actions_nats": math.log(actions)},
    )
