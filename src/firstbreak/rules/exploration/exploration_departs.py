"""The rule `exploration-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`exploration-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


NARROW = {
    "policy/entropy": synth.flat(0.05, 0.05),
    "reward/episode_return_mean": synth.after(0.4, synth.flat(60, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
    "episode/length_mean": synth.after(0.4, synth.flat(60, 0.05), synth.geometric(20, 400, 0.03, until=0.8)),
}
CASES = (
    fires("hardly any entropy from the first row on, returns stay behind later", lambda: synth.beside("PPO", NARROW)),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss(
        "the update left with it: it comes first",
        lambda: synth.beside("PPO", NARROW | {"policy/kl_old": synth.flat(0.4, 0.1)}),
    ),
    near_miss("one metric alone", lambda: synth.beside("PPO", {"policy/entropy": NARROW["policy/entropy"]})),
)


@rule(
    "EXP029",
    "exploration-departs",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Exploration leaves what healthy runs show while the links before it are still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of exploration (entropy, spread of actions, epsilon,
        temperature) left before all others, or together with what it feeds. The links before it were still as usual.

    Why it matters:
        A policy that tries too little or too much sees other data from then on, and everything else follows.

    Usual causes:
        Another entropy bonus, temperature, noise or schedule of epsilon; a first policy of another width; sampling
        settings that changed.

    What to try:
        Compare the settings of exploration, and the entropy of the untrained policy in both.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.EXPLORATION)
