"""The rule `policy-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`policy-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


WILD = {
    "policy/kl_old": synth.flat(0.4, 0.1),
    "policy/clip_fraction": synth.flat(0.8, 0.05),
    "reward/episode_return_mean": synth.after(0.4, synth.flat(60, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
}
CASES = (
    fires("updates are fifty times as large from the first row on", lambda: synth.beside("PPO", WILD)),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss(
        "the critic left with it: it comes first",
        lambda: synth.beside("PPO", WILD | {"critic/explained_variance": synth.flat(-0.9, 0.05)}),
    ),
    near_miss("two metrics alone", lambda: synth.beside("PPO", {k: v for k, v in WILD.items() if k[0] == "p"})),
)


@rule(
    "POL043",
    "policy-departs",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy's update leaves what healthy runs show while all that feeds it is still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of the policy's update (KL, clipping, advantages, losses,
        gradients) left before all others, or together with what it feeds. Environment, reward and critic were still as
        usual.

    Why it matters:
        The update is where good data is turned into a bad policy; what is seen of the return comes later.

    Usual causes:
        Another learning rate, number of epochs, clip range or batch size; a loss with a changed sign, mask or
        normalisation; stale or recomputed log-probabilities.

    What to try:
        Compare the settings first; then put the trainer's loss to `firstbreak preflight invariants`.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.POLICY_UPDATE)
