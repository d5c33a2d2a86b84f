"""The rule `policy-jumps`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `policy-jumps`. Engineering defaults."""

    before: int = 10
    """Updates that say what is usual."""
    factor: float = 1.5
    """Entropy of the row of the jump over the largest of the sixteen rows before."""
    left: float = 0.6
    """Share of the reward's level that is left."""
    lasts: int = 3
    """Rows for which both have lasted."""
    fall: float = 0.75
    """Share of the smallest entropy of the sixteen rows before that a fall within one row may leave at most."""
    usual: float = 10.0
    """How many times the usual change of its logarithm from row to row a rise or a fall of the entropy must be."""
    large: float = 0.25
    """Share of the opening entropy that a rise must be of to be an error: a policy that knows less than it did of the
    problems of that one row does so after less."""
    certain: float = 0.05
    """Entropy under which a fall is no leap, as a share of the opening: near 0 a ratio is all noise."""


ENTROPY, LOGPROB = "policy/entropy", "policy/logprob_mean"
REWARD = ("reward/train_mean", "reward/rollout_mean")
GRPO = synth.like("GRPO")
LIKELIHOOD = synth.like("GRPO", drop=(ENTROPY,))
CASES = (
    fires(
        "less certain and worse from one update to the next",
        lambda: GRPO({ENTROPY: synth.jump(0.4, 1.6), REWARD[0]: synth.jump(0.7, 0.1)}),
    ),
    fires(
        "only the log-probability of what was drawn is logged",
        lambda: LIKELIHOOD({LOGPROB: synth.jump(-0.4, -3.0), REWARD[0]: synth.jump(0.7, 0.1)}),
    ),
    fires(
        "far more certain from one update to the next, and no better",
        lambda: GRPO({ENTROPY: synth.jump(2.7, 1.2, noise=0.01), REWARD[0]: synth.jump(0.3, 0.2)}),
    ),
    healthy("learns", lambda: GRPO({})),
    near_miss(
        "more certain at once, and better",
        lambda: GRPO({ENTROPY: synth.jump(2.7, 1.2, noise=0.01), REWARD[0]: synth.jump(0.2, 0.6)}),
    ),
    near_miss(
        "more certain within a few updates, and no better",
        lambda: GRPO({ENTROPY: synth.ramp(2.7, 1.2, 0.01, 0.5, 0.6), REWARD[0]: synth.ramp(0.3, 0.2)}),
    ),
    near_miss(
        "a rise within what rows differ by anyway",
        lambda: GRPO({ENTROPY: synth.jump(0.4, 1.6, noise=0.4), REWARD[0]: synth.jump(0.7, 0.1)}),
    ),
    near_miss("worse, as certain as before", lambda: GRPO({REWARD[0]: synth.jump(0.7, 0.1)})),
    near_miss(
        "both move over many updates",
        lambda: GRPO({ENTROPY: synth.ramp(0.4, 1.6), REWARD[0]: synth.ramp(0.7, 0.1)}),
    ),
)


@rule(
    "POL036",
    "policy-jumps",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    any_of=((ENTROPY, LOGPROB), REWARD),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=(
        "return-collapse",
        "truncation-growing",
        "zero-std-groups",
        "reward-flat",
        "reward-std-collapse",
        "entropy-growing",
        "grad-norm-explosion",
        "empty-responses",
        "reward-redefined",
        "token-entropy-collapse",
        "response-collapse",
        "wrong-groups-grow",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next the policy became another one, and no better, as no usual update makes it.

    What it means:
        Entropy left everything recent upwards and the reward fell, both within the same row, and it stayed so; or the
        entropy fell by a quarter within one row, ten times its usual change, and the reward did not rise. Where no
        entropy is logged, the mean log-probability of what was drawn stands in: the two agree for one's own samples.

    Why it matters:
        What was learned is gone, or the responses are no longer drawn from what is trained.

    Usual causes:
        Weights overwritten, loaded from elsewhere or damaged; one enormous update; sampling settings that changed,
        above all another temperature.

    What to try:
        Compare the weights with those of the checkpoint before; draw from both at temperature 1. If both answer well,
        the sampler's settings have changed.

    When it is harmless:
        When another model was loaded on purpose. Where longer problems came in at that update, this is a note.

    References:
        None; the rule reads off two steps in one row.
    """
    entropy, reward = view.get(ENTROPY, LOGPROB), view.get(*REWARD)
    assert entropy is not None
    assert reward is not None
    shared, at_entropy, at_reward = np.intersect1d(entropy.step, reward.step, return_indices=True)
    values, earned = entropy.value[at_entropy], reward.value[at_reward]
    values = -values if entropy.metric == LOGPROB else values
    up = jumped(values, earned, params)
    place = leapt_down(values, earned, params) if up is None else up
    if place is None:
        return None
    before, now = median(values[max(0, place - 8) : place]), median(values[place : place + params.lasts])
    what = "and the reward fell with it" if up is not None else "and the reward is no better"
    found = Detection(
        message=f"entropy went from {before:.3g} to {now:.3g} nats in one update, {what}",
        onset=view.onset(float(shared[place - 1]), float(shared[place])),
        metric=entropy.metric,
        evidence={"before_nats": before, "after_nats": now},
        severity=Severity.WARNING if up is not None and now - before < params.large * values[0] else None,
    )
    return unless_harder(view, found)


def jumped(entropy: Floats, reward: Floats, params: Params) -> int | None:
    """Return the place at which entropy [n] jumped up and reward [n] fell, within a row of each other."""
    change = np.abs(np.diff(np.log(np.maximum(entropy, 1e-3 * abs(float(entropy[0]))))))
    for place in range(params.before, entropy.size - params.lasts + 1):
        recent, after = slice(max(0, place - 16), place), slice(place, place + params.lasts)
        most = entropy[recent].max()
        up = most > 0 and bool(entropy[after].min() > params.factor * most)
        if not up or change[place - 1] < params.usual * median(change[recent.start : place - 1]):
            continue
        level = median(reward[recent])
        # A sampler's row may show the reward of the policy before the update whose entropy it shows.
        down = level > 0 and bool(np.all(reward[after][1:] < params.left * level))
        if down and float(reward[recent].min()) > float(reward[after][1:].max()):
            return place
    return None


def leapt_down(entropy: Floats, reward: Floats, params: Params) -> int | None:
    """Return the place at which entropy [n] fell within one row as it never does, and reward [n] did not rise."""
    if entropy.size < params.before + params.lasts or entropy[0] <= 0:
        return None
    tiny = params.certain * float(entropy[0])
    change = np.diff(np.log(np.maximum(entropy, 1e-3 * tiny)))
    # Few rows fall so far at once: only those are looked at.
    for place in (np.flatnonzero(change <= np.log(params.fall)) + 1).tolist():
        recent, after = slice(max(0, place - 16), place), slice(place, place + params.lasts)
        if place < params.before or after.stop > entropy.size:
            continue
        floor = float(entropy[recent].min())
        odd = -change[place - 1] >= params.usual * median(np.abs(change[recent.start : place - 1]))
        later = reward[place : place + 16]
        lasting = floor >= tiny and bool(entropy[after].max() <= params.fall * floor)
        if lasting and odd and median(later) <= median(reward[recent]):
            return place
    return None
