"""The rule `reward-steps-down`."""

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
    """Thresholds of `reward-steps-down`. Engineering defaults."""

    before: int = 12
    """Updates that say what is usual."""
    lasts: int = 6
    """Updates for which it has lasted."""
    jumps: float = 3.0
    """Size of the step, in median changes from row to row before it: rewards of a small batch change by a fifth from
    one to the next. That all of `lasts` rows lie below all of `before` happens by chance once in 18,564 (18 choose 6).
    Of the development half of the fault benchmark (2026-11-26) 3 to 6 differ by one fault, and by two curricula, which
    are notes."""
    far: float = 6.0
    """The same where rewards may be negative; all of `lasts` rows then lie below all rows so far. Engineering
    default."""
    longer: int = 12
    """Updates for which it has lasted where one row before may lie as low: by chance once in two million (13 of the 28
    choose 12 orders), where rewards are positive. One run of 432 of the fault benchmark (2026-11-26) differs, a faulty
    one."""
    left: float = 0.6
    """Share of the level before that is left at most."""
    apart: float = 0.9
    """Share of the lowest row before that none of the rows after it reaches."""
    steady: float = 0.3
    """Change of entropy and of length at the same place, as a share of their level, that a policy at rest may show; nor
    is it a step where they had been there within the last few rows."""


REWARD = ("reward/train_mean", "reward/rollout_mean")
ENTROPY, LENGTH = ("policy/entropy", "exploration/entropy", "policy/logprob_mean"), "seq/len_mean"
GRPO = synth.like("GRPO")


def lower_once(t: Floats, rng: np.random.Generator) -> Floats:
    """A reward that falls to a third in one row, a few rows after it was down there in one."""
    level = np.where(t < 0.6, 0.7, 0.2) + 0.02 * rng.standard_normal(t.size)
    level[np.searchsorted(t, 0.6) - 4] = 0.2
    return level


def lower_for_ten(t: Floats, rng: np.random.Generator) -> Floats:
    """The same, but it comes back after ten rows."""
    level = lower_once(t, rng)
    level[np.searchsorted(t, 0.6) + 10 :] = 0.7
    return level


CASES = (
    fires("a third is left from one row to the next", lambda: GRPO({REWARD[0]: synth.jump(0.7, 0.2, noise=0.04)})),
    fires(
        "a third is left, of a reward that changes by a fifth from row to row",
        lambda: GRPO({REWARD[0]: synth.jump(0.2, 0.06, noise=0.15)}),
    ),
    fires(
        "a reward model that pays less for what it paid for, and less than nothing",
        lambda: GRPO({REWARD[0]: synth.jump(0.2, -1.0, noise=0.8)}),
    ),
    near_miss(
        "a reward around 0 that falls to where it began",
        lambda: GRPO({REWARD[0]: synth.after(0.6, synth.flat(-0.8, 0.1), synth.ramp(-1.5, 0.2, 0.15, until=0.4))}),
    ),
    healthy("rises", lambda: GRPO({})),
    near_miss("falls over many rows", lambda: GRPO({REWARD[0]: synth.ramp(0.7, 0.2, 0.03, begin=0.4, until=0.7)})),
    near_miss("one row at 0", lambda: GRPO({REWARD[0]: synth.spikes(0.7, 0.0, at=(0.5,))})),
    fires(
        "one row before was as low",
        lambda: GRPO({REWARD[0]: lower_once}),
    ),
    near_miss("one row before was as low, and it lasts for ten", lambda: GRPO({REWARD[0]: lower_for_ten})),
    near_miss(
        "the responses changed with it",
        lambda: GRPO({REWARD[0]: synth.jump(0.7, 0.2, noise=0.04), LENGTH: synth.jump(150, 40)}),
    ),
    near_miss(
        "answers drawn at another temperature end a little sooner from that row on",
        lambda: GRPO({REWARD[0]: synth.jump(0.18, 0.06, noise=0.03), LENGTH: synth.jump(7.6, 6.8, noise=0.02)}),
    ),
)


@rule(
    "RWD035",
    "reward-steps-down",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(LENGTH,),
    any_of=(REWARD,),
    when=("language",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "zero-std-groups", "reward-std-collapse", "reward-flat", "grad-norm-zero"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward lost much of its level from one update to the next, and the responses did not change with it.

    What it means:
        One update cannot make a policy that much worse and leave its entropy and the length of its responses where
        they were. So what is asked, or how it is judged, changed there.

    Why it matters:
        From here on another task is learned, or none.

    Usual causes:
        A verifier that began to fail or was replaced; answers that belong to other prompts; a data set that moved on to
        prompts which the model cannot answer.

    What to try:
        Score responses saved before that update with the scorer of now; read three prompts with their answers.

    When it is harmless:
        A step of a curriculum that you know of.

    References:
        None; the rule compares a step of the reward with what the policy itself shows.
    """
    reward = view.get(*REWARD)
    assert reward is not None
    place = stepped_down(reward.value, params)
    if place is None:
        return None
    at = float(reward.step[place])
    length = view.get(LENGTH)
    assert length is not None
    for points in (length, view.get(*ENTROPY)):
        if points is not None and not calm(points.step, points.value, at, params):
            return None
    if other_answers(length.step, length.value, at):
        return None
    before, now = median(reward.value[max(0, place - 16) : place]), median(reward.value[place : place + params.lasts])
    return unless_harder(
        view,
        Detection(
            message=f"reward went from {before:.3g} to {now:.3g} in one update; entropy and length stayed as they were",
            onset=view.onset(float(reward.step[place - 1]), at),
            metric=reward.metric,
            evidence={"before": before, "after": now},
        ),
    )


def stepped_down(value: Floats, params: Params) -> int | None:
    """Return the place at which `value` [n] fell below all that is recent at once, and stayed."""
    for place in range(params.before, value.size - params.lasts + 1):
        recent, after = value[max(0, place - 16) : place], value[place : place + params.lasts]
        floor, highest = float(recent.min()), float(after.max())
        if highest >= (params.apart * floor if floor > 0 else floor):  # of nearly all places that says enough
            continue
        level, usual, now = median(recent), median(np.abs(np.diff(recent))), median(after)
        if float(value[place - 1]) - float(value[place]) <= 0.5 * (level - now):
            continue
        if floor > 0 and params.jumps * usual < level - now and now <= params.left * level:
            return place
        # Of rewards that may be negative no share says how much is left: lower than ever, and by more changes.
        if floor <= 0 and highest < float(value[:place].min()) and params.far * usual < level - now:
            return place
    return stepped_down_but_for_one(value, params)


def stepped_down_but_for_one(value: Floats, params: Params) -> int | None:
    """Return the place from which `value` [n], above 0, stays for longer below all that is recent but one row."""
    for place in range(16, value.size - params.longer + 1):
        recent, after = value[place - 16 : place], value[place : place + params.longer]
        floor = float(np.partition(recent, 1)[1])
        if min(recent.min(), after.min()) < 0 or float(after.max()) >= params.apart * floor:  # of what may be negative
            continue  # no share says how much is left
        level, usual, now = median(recent), median(np.abs(np.diff(recent))), median(after)
        at_once = float(value[place - 1] - value[place]) > 0.5 * (level - now)
        if at_once and params.jumps * usual < level - now and now <= params.left * level:
            return place
    return None


def other_answers(step: Floats, value: Floats, at: float) -> bool:
    """Whether the first two lengths from `at` on lie beyond all recent ones, on one side.

    Of these rows the answers were drawn before another reward could teach anything: were only the reward another, they
    would be as long as before. Draws at another temperature, disturbed weights or other prompts show here.
    """
    recent, first = value[step < at][-16:], value[step >= at][:2]
    if recent.size < 8 or first.size < 2:
        return False
    return bool(first.min() > recent.max() or first.max() < recent.min())


def calm(step: Floats, value: Floats, at: float, params: Params) -> bool:
    """Whether a metric shows no step at `at` in the few rows around it."""
    before, after = value[step < at][-8:], value[step >= at][:4]
    if before.size < 4 or after.size < 2 or median(before) == 0:
        return True
    now = median(after)
    stayed = abs(now - median(before)) <= params.steady * abs(median(before))
    return stayed or bool(before.min() <= now <= before.max())
