"""The rule `critic-setting-moved`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.setting_moved import setting_moved
from firstbreak.view import RunView

SETTINGS = {
    "critic/loss_weight": "the weight of the critic's loss",
    "critic/target_tau": "the share by which targets follow (tau)",
    "critic/target_interval": "the interval at which targets are replaced",
    "critic/settings_changed": "the number of settings of its optimiser that are not those of the start",
}


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-setting-moved`. Engineering defaults."""

    times: float = 2.0
    """Factor up or down. Nobody schedules these in published recipes; a halving is a change of plan at least."""
    rest: int = 8
    """Rows before that had one and the same value: what a schedule moves has none."""
    lasts: int = 2
    """Rows on end that keep away from it."""


SAC, PPO = synth.like("SAC"), synth.like("PPO")
TAU, WEIGHT = "critic/target_tau", "critic/loss_weight"
CASES = (
    fires("targets follow at once from the middle on", lambda: SAC({TAU: synth.jump(0.005, 0.9, 0.6, 0.0)})),
    fires("the critic's loss counts no more", lambda: PPO({WEIGHT: synth.jump(0.5, 0.0, 0.6, 0.0)})),
    fires(
        "betas of its optimiser are swapped", lambda: SAC({"critic/settings_changed": synth.jump(0.0, 1.0, 0.6, 0.0)})
    ),
    healthy("as it was", lambda: PPO({WEIGHT: synth.constant(0.5)})),
    near_miss("a schedule", lambda: SAC({TAU: synth.ramp(0.005, 0.05, 0.0)})),
    near_miss("a small correction", lambda: PPO({WEIGHT: synth.jump(0.5, 0.7, 0.6, 0.0)})),
    near_miss("one row", lambda: SAC({TAU: synth.spikes(0.005, 0.9, (0.6,), 0.0)})),
)


@rule(
    "CRT057",
    "critic-setting-moved",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=(tuple(SETTINGS),),
    min_points=10,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-frozen",
        "critic-moves-at-once",
        "critic-leaves-past",
        "target-network-replaced",
        "target-network-stuck",
        "q-divergence",
        "values-jump",
        "value-loss-explosion",
        "explained-variance-collapse",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """A setting of the critic's update that had stood still was set anew while the run went on.

    What it means:
        The weight of its loss, or how its targets follow, stood at one value for rows on end and is now at least twice
        or at most half of it, or switched off. Or a setting of its optimiser that is no learning rate (betas,
        weight decay) is not the one of the start; one that goes on moving is a schedule, and is not counted.

    Why it matters:
        A critic whose loss counts no more is a critic of the past; targets that follow at once chase themselves, and
        targets that stand still teach an old policy's values.

    Usual causes:
        A callback, a sweep or a configuration read anew at a resume; two settings exchanged, such as tau and gamma.

    What to try:
        Print the setting that the update uses beside the configured one; find who wrote it at that step.

    When it is harmless:
        A change that you planned.

    References:
        Lillicrap et al. 2016, arXiv 1509.02971, section 3 (slow targets).
    """
    return setting_moved(view, SETTINGS, params)
