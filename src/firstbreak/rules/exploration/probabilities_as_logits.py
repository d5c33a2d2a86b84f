"""The rule `probabilities-as-logits`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `probabilities-as-logits`. The rule is silent on all 769 curves of entropy of PPO, A2C and MM-RKHS
    in the fault benchmark's development half, at any length (2026-11-26)."""

    rows: int = 40
    """Rows that the entropy must have."""
    uniform: float = 0.02
    """Distance of the first entropy from that of a uniform policy, over the latter: an untrained policy's."""
    above: float = 0.01
    """Distance of the latest entropy from the bound, over the bound."""
    below: float = 1e-3
    """How far any row may lie below it, over the bound: printed numbers are rounded."""
    flat: float = 0.15
    """Range of the last third, over the way from uniform to the bound: it stands there."""


PPO = synth.like("PPO")


def bound(actions: int) -> float:
    """Return the least entropy in nats of a softmax over numbers between 0 and 1: one of them 1, the others 0."""
    total = math.e + actions - 1
    first, other = math.e / total, 1 / total
    return -(first * math.log(first) + (actions - 1) * other * math.log(other))


STOPS = synth.clipped(synth.ramp(0.692, 0.52, 0.002, until=0.9), bound(2) + 0.001, 0.6931)
CASES = (
    fires("two actions, and the entropy stops at 0.582", lambda: PPO({"policy/entropy": STOPS})),
    healthy("entropy falls on", lambda: PPO({})),
    near_miss(
        "stops below what such a policy can have", lambda: PPO({"policy/entropy": synth.clipped(STOPS, 0.0, 0.575)})
    ),
    near_miss("stops above", lambda: PPO({"policy/entropy": synth.clipped(STOPS, 0.60, 0.7)})),
    near_miss(
        "a Gaussian's entropy, as large as of 17 actions at first, comes by",
        lambda: synth.like("PPO", config={"action_space": "continuous"})(
            {"policy/entropy": synth.ramp(2.836, 2.79, 1e-4, until=0.4)}
        ),
    ),
    near_miss("passes by", lambda: PPO({"policy/entropy": synth.ramp(0.692, 0.583, 0.001)})),
)


@rule(
    "EXP047",
    "probabilities-as-logits",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    when=("control", "policy_gradient", "on_policy"),
    min_points=40,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("entropy-stuck-high",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The entropy falls to the least that a softmax over probabilities can have, and stops there.

    What it means:
        Over numbers between 0 and 1 a softmax cannot commit: of two actions the better one has at most 73 %, of three
        58 %. The entropy has come down to that bound and stands at it.

    Why it matters:
        The policy has decided and still acts at random every other step. Its return stays short of what it has learned.

    Usual causes:
        A softmax as the last layer of the network, whose output is given to the distribution as logits; a loss that
        takes logits and is given probabilities.

    What to try:
        Remove the softmax, or hand its output on as probabilities (`Categorical(probs=...)`).

    When it is harmless:
        Never, but an entropy may stand there by chance. Policies of continuous actions have no such bound and are not
        looked at.

    References:
        PyTorch documentation, `torch.distributions.Categorical` (`probs` and `logits`).
    """
    entropy = view.get("policy/entropy")
    assert entropy is not None
    if view.config("action_space") == "continuous" or entropy.min < 0 or view.has("policy/action_std"):
        return Skip("continuous actions are not drawn from a softmax")
    if len(entropy) < params.rows:
        return None
    actions = round(math.exp(min(float(entropy.value[:3].max()), 6.0)))
    if actions < 2 or not stands(entropy.value, actions, params):
        return None
    least, now = bound(actions), median(entropy.value[-8:])
    start = int(np.flatnonzero(entropy.value > (1 + 2 * params.above) * least)[-1])
    return Detection(
        message=f"entropy stops at {now:.4g} nats: a softmax over probabilities has at least {least:.4g}",
        onset=view.onset(float(entropy.step[0]), float(entropy.step[min(start + 1, len(entropy) - 1)])),
        metric=entropy.metric,
        evidence={"entropy_nats": now, "bound_nats": least, "actions": actions},
    )


def stands(value: Floats, actions: int, params: Params) -> bool:
    """Whether an entropy [n] began uniform, never fell below the bound of `actions`, and stands at it now."""
    whole, least = math.log(actions), bound(actions)
    last = value[-(value.size // 3) :]
    return bool(
        abs(float(value[:3].max()) - whole) <= params.uniform * whole
        and value.min() >= (1 - params.below) * least
        and median(last) <= (1 + params.above) * least
        and float(np.ptp(last)) <= params.flat * (whole - least)
    )
