"""The rule `entropy-only-grows`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress, starts_late
from firstbreak.stats import median
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of

ENTROPY, BOUNDED = "policy/entropy", "policy/saturation_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-only-grows`."""

    parts: int = 8
    """Parts of the run, each of which must be more random than the one before. Engineering default."""
    nats: float = 0.25
    """Growth from the first part to the last. In 401 healthy on-policy runs (ordinary logs and the development half of
    the fault benchmark, 2026-11-26) entropy ends at most 0.04 above where it began."""
    bounded: float = 0.5
    """Share of action components at a bound from which on it is a note: how wide a policy is beyond the bounds of its
    actions changes little of what is done. Engineering default, as in action-saturation."""
    passed: float = 0.5
    """Share of the planned steps from which on it is said of a run that goes on. Engineering default."""


PPO = synth.like("PPO")
CASES = (
    fires("the spread grows although the return rises", lambda: PPO({ENTROPY: synth.ramp(1.43, 1.95, 0.002)})),
    fires("a note: it grows beyond the bounds, where most actions are cut off", lambda: PPO(
        {ENTROPY: synth.ramp(2.9, 3.75, 0.002), BOUNDED: synth.clipped(synth.ramp(0.4, 0.85, 0.05), 0, 1)})),
    healthy("falls", lambda: PPO({})),
    near_miss("grows at first and comes down", lambda: PPO(
        {ENTROPY: synth.after(0.3, synth.ramp(1.9, 1.0, 0.01), synth.ramp(1.4, 1.9, 0.01, until=0.3))})),
    near_miss("as good as level", lambda: PPO({ENTROPY: synth.ramp(1.43, 1.5, 0.002)})),
)  # fmt: skip


@rule(
    "EXP062",
    "entropy-only-grows",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    needs=(ENTROPY,),
    when=("control", "on_policy"),
    min_points=24,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("action-std-growth", "entropy-growing"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy is more random in each part of the run than in the one before, whether the return rises or not.

    What it means:
        An on-policy learner begins with a wide policy and narrows it as it finds what pays. Here the spread of its
        actions has only grown.

    Why it matters:
        What the entropy bonus pays outweighs what precision would; the return stays below what the policy's mean could
        earn, and the spread has no upper end.

    Usual causes:
        An entropy coefficient too large for the size of the rewards; a bonus of another task; log-probabilities of
        other actions, so that the update pushes the spread apart.

    What to try:
        Run a tenth of the steps with the coefficient divided by ten; evaluate the mean action.

    When it is harmless:
        A policy that began narrow, after imitation: it was not random at the start. Where most actions are cut off at
        their bounds it is a note.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990, section 3.8 (entropy regularisation hardly helps in control).
    """
    entropy, share = view.get(ENTROPY), progress(view)
    assert entropy is not None
    if view.has("sac/alpha") or not {"control", "on_policy"} <= traits_of(view.algorithm):
        return Skip("a temperature steers this entropy, or the algorithm is not known", ("config algorithm",))
    if starts_late(entropy) or len(entropy) < 3 * params.parts:
        return None
    if not (ended(view) or (share is not None and share >= params.passed)):
        return None
    levels = np.array([median(part) for part in np.array_split(entropy.value, params.parts)])
    if levels[-1] - levels[0] < params.nats or np.diff(levels).min() <= 0:
        return None
    cut = view.get(BOUNDED)
    beyond = cut is not None and len(cut) > 0 and median(cut.value[-params.parts :]) >= params.bounded
    return Detection(
        message=f"entropy grew in each eighth of the run, from {levels[0]:.3g} to {levels[-1]:.3g} nats",
        onset=view.onset(float(entropy.step[0]), float(entropy.step[len(entropy) // params.parts])),
        metric=ENTROPY,
        evidence={"start_nats": float(levels[0]), "end_nats": float(levels[-1])},
        severity=Severity.INFO if beyond else None,
    )
