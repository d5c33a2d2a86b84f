"""The rule `prompts-lengthened`, and what other rules make of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, step_change
from firstbreak.stats.change import Change
from firstbreak.view import Points, RunView

LENGTH = "seq/prompt_len_mean"


@dataclass(frozen=True)
class Params:
    """Thresholds of `prompts-lengthened`. Engineering defaults."""

    z: float = 7.0
    """z of the step. Means of batches scatter: over the runs of one set of prompts in the fault benchmark's development
    half the best step reaches 4. Problems of another kind stand 11 apart and more in a whole run, and 7 soon after."""
    growth: float = 0.05
    """Share by which prompts grew."""
    beside: int = 8
    """Rows on either side of the step."""
    sudden: float = 0.5
    """Share of the growth that lies between them: turns that get more by and by are the policy's own doing."""
    early: int = 2
    """Latest rows, all longer than every one before, that say so before a step can be fitted to them."""
    usual: int = 16
    """Earlier rows that this needs: two more of the same kind all exceed sixteen in 2 / (17 * 18) = 0.7 % of cases."""


GRPO = synth.like("GRPO")
CASES = (
    fires("longer problems come in", lambda: GRPO({LENGTH: synth.jump(5.5, 7.0, 0.5, 0.05)})),
    healthy("prompts of one kind", lambda: GRPO({LENGTH: synth.flat(6.0, 0.06)})),
    near_miss("shorter problems come in", lambda: GRPO({LENGTH: synth.jump(7.0, 5.5, 0.5, 0.05)})),
    near_miss("turns get more by and by", lambda: GRPO({LENGTH: synth.ramp(5.5, 7.0, 0.03)})),
    fires("longer problems have just come in", lambda: GRPO({LENGTH: synth.jump(5.5, 7.0, 0.985, 0.05)})),
    near_miss("a batch of long ones", lambda: GRPO({LENGTH: synth.spikes(6.0, 9.0, at=(0.5,))})),
)


@rule(
    "ENV029",
    "prompts-lengthened",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.INFO,
    needs=(LENGTH,),
    when=("language",),
    min_points=10,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """From one update to the next, prompts are longer.

    What it means:
        Other problems came in. What is measured on the training prompts before and after is not of one kind.

    Why it matters:
        A reward that falls there, groups that fall silent and more wrong answers may be the problems, not the policy;
        rules that see them say so as a note. What a held-out set says is not excused.

    Usual causes:
        A curriculum; the next shard of the data; a template that adds text; another set after a resumption.

    What to try:
        Log the share of each source or level in a batch, and the reward by source.

    When it is harmless:
        A curriculum that you planned.

    References:
        None; the rule looks for one step in a mean that the log holds.
    """
    points = view.get(LENGTH)
    assert points is not None
    change = lengthened(points, params)
    if change is None:
        return None
    return Detection(
        message=f"prompts went from {change.before:.4g} to {change.after:.4g} tokens at once: other problems came in",
        onset=view.onset(change.lo, change.hi),
        metric=LENGTH,
        evidence={"tokens_before": change.before, "tokens_after": change.after, "z": change.z},
    )


def lengthened(points: Points, params: Params) -> Change | None:
    """Return the step by which prompts became longer for good, None where there is none."""
    change = points.once(the_step)
    if change is None or change.z < params.z or change.after < (1 + params.growth) * change.before:
        return just_lengthened(points, params)
    before, after = points.value[points.step < change.hi], points.value[points.step >= change.hi]
    if min(before.size, after.size) < 2:
        return None
    at_once = median(after[: params.beside]) - median(before[-params.beside :])
    return change if at_once >= params.sudden * (change.after - change.before) else None


def just_lengthened(points: Points, params: Params) -> Change | None:
    """Return that the latest few rows are all longer than any before: too few yet to fit a step to them."""
    step, value = points.step, points.value
    for late in range(params.early, params.beside + 1):
        if value.size < late + params.usual:
            return None
        before, after = value[:-late], value[-late:]
        usual, now = median(before), median(after)
        if after.min() > before.max() and now >= (1 + params.growth) * usual:
            return Change(lo=float(step[-late - 1]), hi=float(step[-late]), before=usual, after=now, z=params.z)
    return None


def the_step(points: Points) -> Change | None:
    """Return the one step that fits best."""
    return step_change(points.step, points.value)


def unless_harder(view: RunView, found: Detection, at: float | None = None) -> Detection:
    """Return what a rule found in rewards of training prompts, as a note where other problems had come in by then.

    Args:
        view: What the rule looked at.
        found: What it found.
        at: Where that shows; by default where it began. Infinite for what compares the end with the beginning.
    """
    points = view.get(LENGTH)
    change = None if points is None else lengthened(points, Params())
    if change is None or (found.onset.hi if at is None else at) < change.lo:
        return found
    evidence = {**found.evidence, "prompts_longer_at": change.hi}
    return replace(found, severity=Severity.INFO, evidence=evidence, excused_from=change.lo)
