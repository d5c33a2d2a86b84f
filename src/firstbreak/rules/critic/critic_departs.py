"""The rule `critic-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`critic-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


WRONG = {
    "critic/loss": synth.flat(900, 0.1),
    "critic/explained_variance": synth.flat(-0.9, 0.05),
    "reward/episode_return_mean": synth.after(0.4, synth.flat(60, 0.05), synth.ramp(20, 400, 0.03, until=0.8)),
}
CASES = (
    fires(
        "values explain nothing from the first row on, returns stay behind later", lambda: synth.beside("PPO", WRONG)
    ),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss(
        "returns are of another scale from the first row on: the reward comes first",
        lambda: synth.beside("PPO", WRONG | {"reward/episode_return_mean": synth.flat(-4000, 0.03)}),
    ),
    near_miss("two metrics alone", lambda: synth.beside("PPO", {k: v for k, v in WRONG.items() if k[0] == "c"})),
)


@rule(
    "CRT022",
    "critic-departs",
    link=Link.CRITIC,
    component=Component.VALUE,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic leaves what healthy runs show while environment and reward are still as usual.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of the critic (values, targets, its loss) left before all
        others, or together with what it feeds. Environment and reward were still as usual.

    Why it matters:
        A critic that is wrong turns into wrong advantages or wrong Q-values, and the policy follows those.

    Usual causes:
        Another discount, target or bootstrap; a terminal flag that is read otherwise; a target network that moves at
        another pace; a frozen, noisy or badly initialised critic; another loss coefficient.

    What to try:
        Fit the critic alone on one fixed rollout (`firstbreak experiment critic-fit`), and put the code to `firstbreak
        preflight invariants`.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.CRITIC)
