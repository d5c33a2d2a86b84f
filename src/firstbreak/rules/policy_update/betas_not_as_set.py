"""The rule `betas-not-as-set`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

BETA1, BETA2 = "optim/beta1", "optim/beta2"
SET1, SET2 = "optim/beta1_set", "optim/beta2_set"
USUAL = {SET1: synth.constant(0.9), SET2: synth.constant(0.999)}

GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `betas-not-as-set`; engineering defaults where no source is named."""

    factor: float = 1.5
    """Memory of a moment, 1 / (1 - beta) steps, over the one that is set, or the inverse."""
    rows: int = 3
    """Rows in a row that must show it."""


CASES = (
    fires("swapped", lambda: GRPO(USUAL | {BETA1: synth.constant(0.999), BETA2: synth.constant(0.9)})),
    fires("half-way", lambda: GRPO(USUAL | {BETA1: synth.constant(0.9), BETA2: synth.jump(0.999, 0.5, 0.5, 0.0)})),
    healthy("as set", lambda: GRPO(USUAL | {BETA1: synth.constant(0.9), BETA2: synth.constant(0.999)})),
    near_miss("rounded", lambda: GRPO(USUAL | {BETA1: synth.constant(0.9001), BETA2: synth.constant(0.99901)})),
)


@rule(
    "POL077",
    "betas-not-as-set",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(BETA1, BETA2, SET1, SET2),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "second-moment-fell",
        "return-collapse",
        "truncation-growing",
        "response-collapse",
        "token-entropy-collapse",
        "reward-std-collapse",
        "zero-std-groups",
        "policy-jumps",
        "reward-redefined",
        "reward-steps-down",
        "reward-flat",
        "advantage-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The betas of Adam in force are not those that the settings name.

    What it means:
        The optimiser averages gradients, or their squares, over other spans than its arguments say.

    Why it matters:
        The mean with a long memory goes on in old directions; the square with a short one makes steps of the wrong
        size: bursts after quiet updates.

    Usual causes:
        Betas in the wrong order; an optimiser that was built elsewhere; a checkpoint that brought its own settings.

    What to try:
        Print `betas` of the optimiser's groups beside the arguments after the first step.

    When it is harmless:
        An optimiser handed to the trainer on purpose, beside arguments that nobody reads.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.
    """
    for now, given in ((BETA1, SET1), (BETA2, SET2)):
        force, wanted = view.get(now), view.get(given)
        if force is None or wanted is None or not len(wanted):
            continue
        want = median(wanted.value)
        ratio = (1 - want) / (1 - force.value).clip(min=1e-9)
        onset = persistent_onset(force.step, (ratio > params.factor) | (ratio < 1 / params.factor), params.rows)
        if onset is None:
            continue
        value = median(force.value[force.step >= onset[1]])
        return Detection(
            message=f"{now.removeprefix('optim/')} of Adam in force is {value:.4g}; the settings say {want:.4g}",
            onset=view.onset(*onset),
            metric=now,
            evidence={"in_force": value, "set": want},
        )
    return None
