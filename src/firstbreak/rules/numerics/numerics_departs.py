"""The rule `numerics-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`numerics-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


LARGE = {
    "optim/grad_norm": synth.flat(40, 0.1),
    "reward/episode_return_mean": synth.after(0.4, synth.flat(60, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
    "episode/length_mean": synth.after(0.4, synth.flat(60, 0.05), synth.geometric(20, 400, 0.03, until=0.8)),
}
CASES = (
    fires("gradients seventy times as large from the first row on", lambda: synth.beside("PPO", LARGE)),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss(
        "the update left with it: it comes first",
        lambda: synth.beside("PPO", LARGE | {"policy/kl_old": synth.flat(0.4, 0.1)}),
    ),
    near_miss("one metric alone", lambda: synth.beside("PPO", {"optim/grad_norm": LARGE["optim/grad_norm"]})),
)


@rule(
    "NUM023",
    "numerics-departs",
    link=Link.NUMERICS,
    component=Component.OPTIMISER,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Gradients or weights leave what healthy runs show while the links before them are still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of numerics (gradient norms, weights, dormant units,
        precision) left before all others, or together with what it feeds. The links before it were still as usual.

    Why it matters:
        A gradient of another size is another learning rate; units that are dead or saturated learn nothing.

    Usual causes:
        Another precision, optimiser, epsilon or clipping of gradients; another initialisation; accumulation that is
        not divided; weights that were changed from outside.

    What to try:
        Compare settings and first weights; run one saved batch in both, in float32, and compare gradients layer by
        layer.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.NUMERICS)
