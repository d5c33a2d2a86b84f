"""The rule `environment-departs`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.departure import departs
from firstbreak.finding import Component, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """`environment-departs` has no thresholds of its own: the width of the bands stands in `firstbreak.departure`."""


LONG = {
    "episode/length_mean": synth.flat(900, 0.03),
    "reward/episode_return_mean": synth.flat(900, 0.03),
    "critic/loss": synth.flat(400, 0.1),
}
CASES = (
    fires(
        "episodes go on for ever from the first row on; returns and losses with them", lambda: synth.beside("PPO", LONG)
    ),
    healthy("a run like the others", lambda: synth.beside("PPO")),
    near_miss("one metric alone", lambda: synth.beside("PPO", {"episode/length_mean": LONG["episode/length_mean"]})),
    near_miss(
        "the critic left long before",
        lambda: synth.beside(
            "PPO",
            {
                "critic/loss": synth.flat(900, 0.1),
                "critic/explained_variance": synth.flat(-0.9, 0.05),
                "episode/length_mean": synth.after(0.5, synth.flat(900, 0.03), synth.ramp(20, 400, 0.03, until=0.8)),
            },
        ),
    ),
)


@rule(
    "ENV030",
    "environment-departs",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The environment's side of the data leaves what healthy runs show before anything else does.

    What it means:
        Healthy runs of the same task were given with `--baseline`. At least three metrics left the band in which they
        keep it, for two places of the grid on end, and one of the environment (episode lengths, observations,
        dynamics, responses) left before all others, or together with what it feeds.

    Why it matters:
        What the environment gives is the input of every other link: reward, critic and policy follow it, and tuning
        them hides the break.

    Usual causes:
        Another version of the environment or of a wrapper; a time limit, frame skip, normaliser or action scale that
        is not the healthy runs' own; a data set or a prompt template that changed; a reset that does not reset.

    What to try:
        Run `firstbreak preflight env` on both versions, and compare what one fixed list of actions gives from one
        seed: observations, lengths, flags.

    When it is harmless:
        When the run differs on purpose: another task, another scale, other settings. Settings that no healthy run has
        are listed with the evidence.

    References:
        Faults of the fault benchmark are placed in the same way: by the metric that leaves the band of healthy twins.
    """
    return departs(view, Link.ENVIRONMENT_DATA)
