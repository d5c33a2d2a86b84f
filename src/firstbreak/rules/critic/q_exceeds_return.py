"""The rule `q-exceeds-return`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

from .q_over_bound import entropy_bonus

USUAL_GAMMA = 0.99
"""Discount that is assumed for the entropy bonus where none is known."""
EPISODES = ("reward/shaped_return_mean", "reward/episode_return_mean", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `q-exceeds-return`; engineering defaults where no source is named."""

    factor: float = 5.0
    """How many times the largest return ever seen |Q| must be. Beyond 1 it is an estimate no episode has supported;
    the margin is for states whose rewards lie far from the average."""
    both_signs: float = 50.0
    """The same where returns of both signs were seen: means then hide what single episodes earn."""
    updates: int = 10
    """Consecutive points; learning must have had that many before."""
    varied: int = 8
    """Rows in which the length of episodes must have differed, where the discount is not known."""
    entropy_nats: float = 20.0
    """Entropy assumed for the bonus where it is not logged."""


DQN = synth.like("DQN", config={"gamma": 0.99})
PENDULUM = synth.like("SAC", config={"gamma": 0.99, "action_dim": 1})

CASES = (
    fires("Q far above every return", lambda: DQN({"critic/q_mean": synth.geometric(1, 2e5)})),
    healthy("Q below the return", lambda: DQN({})),
    healthy("SAC with an entropy bonus", lambda: PENDULUM({})),
    near_miss(
        "time limit: Q looks past the end of the episode",
        lambda: DQN(
            {
                "critic/q_mean": synth.ramp(0, 95, until=0.5),
                "reward/episode_return_mean": synth.flat(20),
                "episode/length_mean": synth.constant(20),
            }
        ),
    ),
    near_miss(
        "even game: mean return near 0",
        lambda: DQN({"critic/q_mean": synth.flat(0.6), "reward/episode_return_mean": synth.flat(0.0, 0.1)}),
    ),
    fires(
        "a discount that nobody states, and episodes that end by themselves",
        lambda: synth.like("DQN")(
            {
                "critic/q_mean": synth.geometric(1, 2e4),
                "reward/episode_return_mean": synth.flat(20, 0.1),
                "episode/length_mean": synth.flat(20, 0.1),
            }
        ),
    ),
    near_miss(
        "a discount that nobody states, and a time limit",
        lambda: synth.like("DQN")(
            {
                "critic/q_mean": synth.ramp(0, 900, until=0.5),
                "reward/episode_return_mean": synth.flat(20),
                "episode/length_mean": synth.constant(20),
            }
        ),
    ),
    near_miss("spikes", lambda: DQN({"critic/q_mean": synth.spikes(50, 1e5, at=(0.3, 0.6))})),
)


def attainable(view: RunView, gamma: float) -> float | None:
    """The largest |discounted return| that the log supports; None when no episode return is logged.

    An episode that ends cannot earn more than its undiscounted return (rewards of one sign). Cut by a time limit it
    bootstraps on, and a steady reward per step earns at most |mean step reward| / (1 - gamma).
    """
    returns = view.get(*EPISODES)
    if returns is None or len(returns) == 0:
        return None
    scale = abs(view.number("reward_scale") or 1.0)
    best = max(abs(returns.max), abs(returns.min))
    horizon = 1 / (1 - gamma)
    length, step = view.get("episode/length_mean"), view.get("reward/step_mean")
    per_step = best  # at least one step an episode: generous where the length is not logged
    if length is not None and len(length):
        steps = np.maximum(np.interp(returns.step, length.step, length.value), 1.0)
        per_step = float(np.max(np.abs(returns.value) / steps))
    if step is not None and len(step):
        per_step = max(per_step if length is not None else 0.0, abs(step.max), abs(step.min))
    return scale * max(best, per_step * horizon)


def ends_by_itself(view: RunView, varied: int) -> bool:
    """Whether episodes are seen to end at ever other lengths: what a time limit cuts has the longest length often."""
    length = view.get("episode/length_mean", "episode/length")
    if length is None or np.unique(length.value).size < varied:
        return False
    return bool(np.count_nonzero(length.value >= 0.999 * length.max) <= 2)


@rule(
    "CRT014",
    "q-exceeds-return",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=(("critic/q_mean", "critic/target_mean"),),
    min_points=20,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("q-divergence", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's mean value is several times larger than any return the run has ever earned.

    What it means:
        |Q| lies far beyond the best |return|, the time-limit correction and the entropy bonus together.

    Why it matters:
        The policy is chosen by these values: what is overestimated most is tried first and earns nothing.

    Usual causes:
        Overestimation by the maximum over noisy values; missing termination mask; reward scaled for the learner but
        logged raw; too many updates per environment step.

    What to try:
        Roll out from some start states and compare Q there with the discounted returns earned.

    When it is harmless:
        With rewards of both signs the return of an episode can be small while values on the way are not; when the
        learner sees a scaled reward, state `reward_scale`.

    References:
        van Hasselt et al. 2016, arXiv 1509.06461, figure 3. Pardo et al. 2018, arXiv 1712.00378 (time limits).
    """
    gamma = view.number("gamma")
    if gamma is not None and not 0 <= gamma < 1:
        return Skip("gamma must lie below 1", ("config gamma",))
    if gamma is None and not ends_by_itself(view, params.varied):
        return Skip("without gamma the value of what lies past a time limit is not known", ("config gamma",))
    # Episodes that end by themselves earn no more than their return, whatever the discount.
    known = attainable(view, 0.0 if gamma is None else gamma)
    if known is None:
        return Skip("no episode return to compare Q with", ("reward/episode_return_mean",))
    if known == 0:
        return Skip("every return so far is 0", ("reward/episode_return_mean",))
    q = view.get("critic/q_mean", "critic/target_mean")
    assert q is not None
    returns = view.get(*EPISODES)
    mixed = returns is not None and returns.min < 0 < returns.max
    bonus = entropy_bonus(view, USUAL_GAMMA if gamma is None else gamma, params.entropy_nats)
    limit = (params.both_signs if mixed else params.factor) * known + bonus
    judged = np.arange(len(q)) >= params.updates
    over = persistent_onset(q.step, judged & (np.abs(q.value) > limit), params.updates)
    if over is None:
        return None
    now = median(np.abs(q.value[-params.updates :]))
    return Detection(
        message=f"mean |Q| is {now:.3g}; the returns seen support at most {known:.3g}",
        onset=view.onset(*over),
        metric=q.metric,
        evidence={"q_abs": now, "attainable_return": known, "limit": limit},
    )
