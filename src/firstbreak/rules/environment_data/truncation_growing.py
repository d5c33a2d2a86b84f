"""The rule `truncation-growing`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, began, moved, moved_odds, rises, stretches
from firstbreak.stats import logit, median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `truncation-growing`. Engineering defaults where no source is named."""

    level_frac: float = 0.05
    """Share of responses without an end-of-sequence token above which AReaL's guide asks for action."""
    nearly_all_frac: float = 0.9
    """Share of cut responses that makes it an error: next to none reaches its answer. Engineering default."""
    lasts: int = 3
    """Rows in a row from which that counts as begun. Engineering default."""
    log_odds: float = 1.0
    """Growth of the log-odds against the run's own opening: a factor e in the odds. Engineering default."""
    paid_frac: float = 0.5
    """Share of the mean reward that a cut answer must earn at least to count as paid. Engineering default."""
    usual_frac: float = 0.5
    """Share of cut responses at the opening from which being cut is how the task goes. Engineering default."""
    z: float = 4.0
    """Standard errors (inflated for autocorrelation) by which the recent stretch must lie above the opening."""


GRPO = synth.like("GRPO")
CAPPED = synth.like("GRPO", drop=("seq/truncated_fraction",), config={"max_response_tokens": 256})
FILLING = {
    "seq/truncated_fraction": synth.clipped(synth.ramp(0.6, 0.95, 0.02), 0, 1),
    "reward/train_max": synth.constant(1.0),
    "reward/train_min": synth.constant(0.0),
}
CASES = (
    fires(
        "responses run into the cap",
        lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.ramp(0.01, 0.6, 0.02, begin=0.3), 0, 1)}),
    ),
    fires(
        "only lengths are logged: they fill up to the limit",
        lambda: CAPPED({"seq/len_mean": synth.clipped(synth.ramp(120, 280, 0.01), 0, 256)}),
    ),
    healthy("one in a hundred", lambda: GRPO({})),
    near_miss(
        "only lengths are logged: they grow and stay below the limit",
        lambda: CAPPED({"seq/len_mean": synth.ramp(120, 240, 0.01)}),
    ),
    near_miss(
        "high from the start, falls",
        lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.ramp(0.4, 0.1, 0.03), 0, 1)}),
    ),
    near_miss("high and steady", lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.walk(0.45, 0.08), 0, 1)})),
    near_miss(
        "answers need no end, and are paid more and more",
        lambda: GRPO(FILLING | {"reward/train_mean": synth.clipped(synth.ramp(0.05, 0.8, 0.02), 0, 1)}),
    ),
    fires(
        "the reward rises by the few that end",
        lambda: GRPO(FILLING | {"reward/train_mean": synth.clipped(synth.ramp(0.01, 0.09, 0.02), 0, 1)}),
    ),
    near_miss(
        "doubles below 5 %",
        lambda: GRPO({"seq/truncated_fraction": synth.clipped(synth.ramp(0.005, 0.03, 0.02), 0, 1)}),
    ),
)


@rule(
    "ENV004",
    "truncation-growing",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    any_of=(("seq/truncated_fraction", "seq/len_mean"),),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=(
        "reward-noisy",
        "step-time-tail",
        "zero-std-groups",
        "return-collapse",
        "reward-std-collapse",
        "response-collapse",
        "reward-redefined",
        "token-entropy-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """More and more responses are cut at the length limit before they end.

    What it means:
        The share without an end-of-sequence token is above 5 % and well above the run's own opening. Where it is not
        logged, the mean length bounds it: lengths near the limit on average are nearly all at the limit.

    Why it matters:
        A cut answer is usually scored as wrong although its beginning may be right: the reward gets noisy and
        teaches brevity or, where length pays, the opposite.

    Usual causes:
        Responses grow (because length pays, or because reasoning does) while the cap stays; repetition loops.

    What to try:
        Rescore a batch with a longer cap; read twenty cut responses: unfinished reasoning or a loop?

    When it is harmless:
        When the task's own score rises with it; then this is only a hint to raise the cap. It is silent where the
        training reward rises and is more than the answers that end could earn: those that are cut are paid, too. A
        hint, too, where most were cut from the start and the training reward rises.

    References:
        AReaL, "Diagnosing RL performance" (no_eos_ratio above 0.05). Yu et al. 2025, arXiv 2503.14476.
    """
    cut = view.get("seq/truncated_fraction")
    if cut is None:
        return by_length(view, params)
    before, now = stretches(cut.value)
    change = moved_odds(cut)
    if median(now) <= params.level_frac or change.z < params.z or change.difference < params.log_odds:
        return None
    if paid(view, median(now), params):
        return None
    earned = any(rises(view.get(name), 3.0) for name in TRUTH)
    # Most answers were cut from the first row on, and the reward rises all the same: so the task goes.
    used_to_it = median(before) >= params.usual_frac and any(rises(view.get(name)) for name in TRAIN[:2])
    severe = not earned and median(now) >= params.nearly_all_frac
    # An error begins where next to none ends any more, not where answers began to grow.
    crossed = persistent_onset(cut.step, cut.value >= params.nearly_all_frac, params.lasts) if severe else None
    return Detection(
        message=f"responses cut at the limit went from {median(before):.1%} to {median(now):.1%}",
        onset=began(view, cut) if crossed is None else view.onset(*crossed),
        metric=cut.metric,
        evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
        severity=Severity.INFO if earned or used_to_it else Severity.ERROR if severe else None,
    )


def by_length(view: RunView, params: Params) -> Answer:
    """Judge by the mean length [n] alone whether nearly all responses have come to end at the limit.

    Of lengths up to c with mean m, at least 1 - (c - m) are c where they are whole numbers, and at most m / c.
    """
    length, cap = view.get("seq/len_mean"), view.number("max_response_tokens")
    assert length is not None
    if cap is None or cap <= 0 or length.max > cap:
        return Skip("the share of cut responses is not known", ("seq/truncated_fraction", "config max_response_tokens"))
    before, now = stretches(length.value)
    most, least = median(before) / cap, 1 - (cap - median(now))
    grown = logit(np.array([most, max(least, 0.0)]), 100)
    if least < params.nearly_all_frac or grown[1] - grown[0] < params.log_odds or moved(length).z < params.z:
        return None
    crossed = persistent_onset(length.step, length.value >= cap - (1 - params.nearly_all_frac), params.lasts)
    earned = any(rises(view.get(name), 3.0) for name in TRUTH)
    return Detection(
        message=f"at least {least:.0%} of responses end at the limit; at most {most:.0%} did at the opening",
        onset=began(view, length) if crossed is None else view.onset(*crossed),
        metric=length.metric,
        evidence={"opening_most_frac": most, "recent_least_frac": least, "z": moved(length).z},
        severity=Severity.INFO if earned else Severity.ERROR,
    )


def paid(view: RunView, cut_frac: float, params: Params) -> bool:
    """Whether the reward rises and cut answers earn their share: it is more than the others could have brought in.

    Where nobody earns more than the best of a row, the mean is at most (1 - cut) * best + cut * (what a cut one earns).
    """
    mean, top, least = (view.get(f"reward/train_{what}") for what in ("mean", "max", "min"))
    if mean is None or top is None or least is None or not rises(mean):
        return False
    base = float(least.value.min())
    earned, most = (median(stretches(points.value)[1]) - base for points in (mean, top))
    by_cut = (earned - (1 - cut_frac) * most) / cut_frac
    return by_cut >= params.paid_frac * earned > 0
