"""The rule `reward-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`reward-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


SCALED = {
    "reward/episode_return_mean": synth.ramp(-600, -4000, 0.03, until=0.8),
    "critic/loss": synth.geometric(6000, 2000, 0.2),
    "critic/explained_variance": synth.flat(-0.9, 0.05),
}
CASES = (
    fires("returns of another scale and sign from the first row on", lambda: synth.beside("PPO", SCALED)),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss(
        "episodes are of another length, too: the environment comes first",
        lambda: synth.beside("PPO", SCALED | {"episode/length_mean": synth.flat(900, 0.03)}),
    ),
    near_miss(
        "one metric alone",
        lambda: synth.beside("PPO", {"reward/episode_return_mean": SCALED["reward/episode_return_mean"]}),
    ),
)


@rule(
    "RWD042",
    "reward-departs",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward leaves what healthy runs show before anything further in does.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of the reward (returns, components, groups) left before all
        others, or together with what it feeds. The environment's side was still as usual.

    Why it matters:
        The reward is what everything after it is computed from: a critic and a policy that follow a changed reward do
        what they are told.

    Usual causes:
        A term that was added, dropped, rescaled or has its sign changed; clipping or normalisation of rewards; another
        verifier, template or answer key; rewards that are shifted by a row.

    What to try:
        Score one golden set of transitions or answers with the code of both: `firstbreak preflight reward`; compare
        the components one by one.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.REWARD_SIGNAL)
