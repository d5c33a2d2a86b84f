"""The rule `scores-scatter-as-answers-narrow`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, Skip, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView

SPREAD, ENTROPY, REWARD = "group/reward_std_mean", "policy/entropy", ("reward/train_mean", "reward/rollout_mean")


@dataclass(frozen=True)
class Params:
    """Thresholds of `scores-scatter-as-answers-narrow`; engineering defaults where no source is named."""

    rows: int = 24
    """Rows that say what has been seen so far."""
    lasts: int = 5
    """Rows in a row of which each has a wider spread within groups than all before."""
    wider: float = 1.25
    """Their median over the record. Of 1,267 recorded runs of language models (2026-11-26), four had five such rows
    with entropy that low and a reward that fell: 1.28 times where a verifier errs, 1.0 to 1.04 in two runs with other
    faults, and 1.22 in a step of a curriculum, whose reward fell by no more than from row to row."""
    low: float = 0.1
    """Share of earlier rows whose entropy may be lower."""
    recent: int = 8
    """Rows before, whose reward was higher."""


GRPO = synth.like("GRPO")
SURER = synth.ramp(1.2, 0.3, 0.02)
LEARNT = synth.ramp(0.2, 0.95, 0.02, until=0.55)
ERRS = synth.after(0.6, synth.ramp(1.4, 0.1, 0.02, until=1.0), LEARNT)
CASES = (
    fires(
        "a verifier errs ever more often",
        lambda: GRPO(
            {REWARD[0]: ERRS, ENTROPY: SURER, SPREAD: synth.after(0.6, synth.flat(0.42, 0.02), synth.flat(0.15, 0.03))}
        ),
    ),
    healthy(
        "rewards differ less as the policy becomes surer",
        lambda: GRPO({ENTROPY: SURER, SPREAD: synth.ramp(0.3, 0.05, 0.02)}),
    ),
    near_miss(
        "rare successes become common",
        lambda: GRPO({REWARD[0]: synth.ramp(0.02, 0.6, 0.02), ENTROPY: SURER, SPREAD: synth.ramp(0.05, 0.45, 0.02)}),
    ),
    near_miss(
        "a policy that forgets is less sure as well",
        lambda: GRPO(
            {
                REWARD[0]: ERRS,
                ENTROPY: synth.after(0.6, synth.ramp(0.6, 2.0, 0.02), synth.ramp(1.2, 0.5, 0.02)),
                SPREAD: synth.after(0.6, synth.flat(0.42, 0.02), synth.flat(0.15, 0.03)),
            }
        ),
    ),
)


@rule(
    "RWD106",
    "scores-scatter-as-answers-narrow",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(SPREAD, ENTROPY),
    any_of=(REWARD,),
    when=("language",),
    min_points=30,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "smooth-decline", "reward-flat", "entropy-climbs-back", "entropy-growing"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Rewards within groups differ more than ever while the policy is surer than ever, and the reward falls.

    What it means:
        A surer policy gives answers that are more alike, and answers that are alike are paid alike. Where the spread
        of rewards to one prompt leaves all that was seen, with a reward that falls, what is paid no longer follows
        from the answer.

    Why it matters:
        Advantages of a group are differences of its rewards: they are noise, or the reverse of what is meant.

    Usual causes:
        A verifier that errs ever more often; a judge whose provider changed its model; scores that reach other answers.

    What to try:
        Score answers that were saved before it again, twice; read one group with its rewards.

    When it is harmless:
        Harder prompts that a curriculum brings, some of whose answers are right.

    References:
        None; the rule compares two spreads that learning moves together.
    """
    spread, entropy, reward = view.get(SPREAD), view.get(ENTROPY), view.get(*REWARD)
    assert spread is not None
    assert entropy is not None
    assert reward is not None
    step = np.array(sorted(set(spread.step) & set(entropy.step) & set(reward.step)))
    if step.size < params.rows + params.lasts:
        return Skip("too few rows that hold spread, entropy and reward", ("more points",))
    wide, sure, paid = (at(points, step) for points in (spread, entropy, reward))
    record = np.maximum.accumulate(wide)
    for place in range(params.rows, step.size - params.lasts + 1):
        now = slice(place, place + params.lasts)
        if wide[now].min() <= record[place - 1] or median(wide[now]) < params.wider * record[place - 1]:
            continue
        if median(sure[now]) > np.quantile(sure[:place], params.low):
            continue
        recent = paid[max(0, place - params.recent) : place]
        fall = median(recent) - median(paid[now])
        if fall <= median(np.abs(np.diff(recent))):
            continue
        found = Detection(
            message=f"rewards within groups spread by {median(wide[now]):.3g}, before at most {record[place - 1]:.3g}; "
            f"they fell from {median(recent):.3g} to {median(paid[now]):.3g}",
            onset=view.onset(float(step[place - 1]), float(step[place])),
            metric=SPREAD,
            evidence={"spread": median(wide[now]), "record": float(record[place - 1]), "entropy": median(sure[now])},
        )
        return unless_harder(view, found)
    return None


def at(points: Points, step: Floats) -> Floats:
    """Return the values of a metric at `step` [n], all of which it has."""
    return points.value[np.searchsorted(points.step, step)]
