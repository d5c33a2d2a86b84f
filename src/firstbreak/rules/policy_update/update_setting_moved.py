"""The rule `update-setting-moved`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.setting_moved import setting_moved
from firstbreak.view import RunView

SETTINGS = {
    "optim/epochs": "the number of passes over a rollout",
    "optim/batch_size": "the size of minibatches",
    "optim/max_grad_norm": "the norm at which gradients are clipped",
    "optim/gradient_steps": "the number of gradient steps of an update",
    "policy/delay": "the number of critic updates for one of the policy",
    "advantage/normalised": "whether advantages are normalised",
}


@dataclass(frozen=True)
class Params:
    """Thresholds of `update-setting-moved`. Engineering defaults."""

    times: float = 3.0
    """Factor up or down. Batches that grow by two are a published schedule (Smith et al. 2018, arXiv 1711.00489)."""
    rest: int = 8
    """Rows before that had one and the same value: what a schedule moves has none."""
    lasts: int = 2
    """Rows on end that keep away from it."""


SAC, PPO = synth.like("SAC"), synth.like("PPO")
EPOCHS, BATCH = "optim/epochs", "optim/batch_size"
CASES = (
    fires("ten times as many passes", lambda: PPO({EPOCHS: synth.jump(4.0, 40.0, 0.6, 0.0)})),
    fires("batches of one", lambda: SAC({BATCH: synth.jump(256.0, 1.0, 0.6, 0.0)})),
    fires("no normalisation", lambda: PPO({"advantage/normalised": synth.jump(1.0, 0.0, 0.6, 0.0)})),
    healthy("as it was", lambda: PPO({EPOCHS: synth.constant(4.0)})),
    near_miss("batches that double", lambda: SAC({BATCH: synth.jump(128.0, 256.0, 0.6, 0.0)})),
    near_miss("one row", lambda: PPO({EPOCHS: synth.spikes(4.0, 40.0, (0.6,), 0.0)})),
)


@rule(
    "POL130",
    "update-setting-moved",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(tuple(SETTINGS),),
    min_points=10,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-overshoot",
        "clip-fraction-high",
        "policy-moves-at-once",
        "policy-jumps",
        "grad-norm-explosion",
        "surrogate-overfitted",
        "ratio-tail",
        "entropy-collapse",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """A setting of the policy's update that had stood still was set anew while the run went on.

    What it means:
        Passes over a rollout, the size of minibatches, the norm at which gradients are clipped, gradient steps, the
        delay of the policy or the normalisation of advantages stood at one value for rows on end, and is now at
        least three times or at most a third of it, or switched.

    Why it matters:
        These set how far one update may go; a run that was stable with one value may fall with another.

    Usual causes:
        A callback, a sweep or a configuration read anew at a resume; a default of another version.

    What to try:
        Print the setting that the update uses beside the configured one; find who wrote it at that step.

    When it is harmless:
        A change that you planned.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990 (what these settings do to on-policy training).
    """
    return setting_moved(view, SETTINGS, params)
