"""The rule `rewards-repeat`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

MEAN, STD, LENGTH = "reward/train_mean", "reward/train_std", "seq/len_mean"
MOVES = ("policy/entropy", "optim/grad_norm")
GRPO = synth.like("GRPO")


@dataclass(frozen=True)
class Params:
    """Thresholds of `rewards-repeat`; engineering defaults where no source is named."""

    rows: int = 6
    """Rows on end whose mean and spread of rewards are the same to the digit. Of 64 rewards of 0 or 1 two
    rows agree by chance in a tenth of cases; in the healthy runs of the fault benchmark, all of that kind, at most 4
    on end."""
    spread: float = 1e-3
    """Spread, over the largest of the run, below which all rewards are alike but for rounding: that says nothing."""
    chance: float = 1e-3
    """Chance, by how often the same pair of numbers stands in the other rows, below which it is none."""
    reuse: int = 2
    """Where responses are used in several updates by the settings: that many times as many rows."""


def held(t: Floats, rng: np.random.Generator) -> Floats:
    """Rewards that are drawn anew in every row, and stand still from half-way on for sixteen rows."""
    value = 0.5 + 0.1 * rng.standard_normal(t.size)
    middle = t.size // 2
    value[middle : middle + 16] = value[middle]
    return value


def rounding(t: Floats, rng: np.random.Generator) -> Floats:
    """A spread that is 0 but for rounding, after a start with one."""
    return np.where(t < 0.2, 0.3 + 0.05 * rng.standard_normal(t.size), 7.45e-9)


def whole(t: Floats, rng: np.random.Generator) -> Floats:
    """The share of right ones among eight responses, which often is the same twice."""
    return np.round(8 * (0.5 + 0.1 * rng.standard_normal(t.size))) / 8


def rare(t: Floats, rng: np.random.Generator) -> Floats:
    """The share of right ones where one response in a batch is right in four rows of five."""
    return (rng.random(t.size) < 0.8) / 32


CASES = (
    fires("one batch for sixteen updates", lambda: GRPO({MEAN: held, STD: held, LENGTH: held})),
    fires("without lengths", lambda: synth.like("GRPO", drop=(LENGTH,))({MEAN: held, STD: held})),
    healthy("drawn anew", lambda: GRPO({})),
    near_miss("few responses", lambda: GRPO({MEAN: whole, STD: whole})),
    near_miss("one in thirty-two is right, or none", lambda: GRPO({MEAN: rare, STD: rare})),
    near_miss("solved: all rewards alike", lambda: GRPO({MEAN: synth.constant(1.0), STD: synth.constant(0.0)})),
    near_miss("alike but for rounding", lambda: GRPO({MEAN: synth.constant(0.2), STD: rounding})),
    near_miss("the lengths are others", lambda: GRPO({MEAN: held, STD: held})),
    near_miss(
        "each batch is used sixteen times by the settings",
        lambda: synth.like("GRPO", config={"num_iterations": 16})({MEAN: held, STD: held, LENGTH: held}),
    ),
    near_miss(
        "nothing moves: the log itself stands still",
        lambda: GRPO({MEAN: held, STD: held, LENGTH: held, **{name: synth.constant(0.7) for name in MOVES}}),
    ),
)


@rule(
    "DAT030",
    "rewards-repeat",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=(
        MEAN,
        STD,
    ),
    when=("language",),
    min_points=6,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "zero-std-groups",
        "reward-redefined",
        "reward-flat",
        "reward-std-collapse",
        "advantage-collapse",
        "grad-norm-explosion",
        "metrics-frozen",
        "token-entropy-collapse",
        "difficulty-bias",
        "learns-to-fail",
        "response-collapse",
        "truncation-growing",
        "reward-constant",
        "entropy-growing",
        "return-collapse",
        "reward-steps-down",
        "policy-jumps",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """One batch of responses is handed out again and again.

    What it means:
        Mean and spread of the rewards are the same to the digit in many updates on end, though they are not 0
        and the policy moves.

    Why it matters:
        The policy learns one batch by heart: rewards elsewhere fall, and it looks like a collapse of
        exploration or a reward that changed.

    Usual causes:
        A queue whose newest entry is read without being taken out; a generator that failed and returned its
        last result; a cache keyed by something that does not change.

    What to try:
        Log a hash of the token ids of each batch; firstbreak's callback for TRL does.

    When it is harmless:
        Where the settings use each batch in several updates, which is counted in.

    References:
        None; the rule reads off an identity.
    """
    mean, std = view.get(MEAN), view.get(STD)
    assert mean is not None
    assert std is not None
    if len(mean) != len(std) or not np.array_equal(mean.step, std.step):
        return None
    same = np.concatenate([[False], (np.diff(mean.value) == 0) & (np.diff(std.value) == 0)])
    same &= (std.value > params.spread * std.max) & ~_other_lengths(view, mean.step)
    reuse = (view.number("num_iterations") or 1) * (view.number("steps_per_generation") or 1)
    rows = params.rows if reuse <= 1 else max(params.rows, int(params.reuse * reuse))
    onset = persistent_onset(mean.step, same, rows - 1)
    if onset is None:
        return None
    first = int(np.flatnonzero(mean.step == onset[1])[0])
    last = first + int(np.argmin(np.append(same[first:], False)))
    if _by_chance(mean.value, std.value, first, last) > params.chance:
        return None
    lo, hi = float(mean.step[first]), float(mean.step[last - 1])
    if not any(_moves(view, name, lo, hi) for name in MOVES):
        return None
    return Detection(
        message=f"rewards are the same to the digit in {last - first + 1} updates on end, and the policy moves",
        onset=view.onset(*onset),
        metric=MEAN,
        evidence={
            "rows": last - first + 1,
            "reward_mean": float(mean.value[first]),
            "reward_std": float(std.value[first]),
        },
    )


def _by_chance(mean: Floats, std: Floats, first: int, last: int) -> float:
    """How likely the pair of row `first` stands in all rows up to `last`, where each row has it as often as others do.

    Of few successes in many responses the same number comes again and again.
    """
    alike = (mean == mean[first]) & (std == std[first])
    inside = np.zeros(mean.size, dtype=bool)
    inside[max(first - 1, 0) : last] = True
    share = (np.count_nonzero(alike & ~inside) + 1) / (np.count_nonzero(~inside) + 2)
    return float(share ** (last - first))


def _other_lengths(view: RunView, step: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """At which rows [n] the mean length is logged and is not that of the row before: then the responses are others."""
    length, other = view.get(LENGTH), np.zeros(step.size, dtype=bool)
    if length is None or not len(length):
        return other
    places = np.searchsorted(length.step, step).clip(max=len(length) - 1)
    known = length.step[places] == step
    value = length.value[places]
    other[1:] = known[1:] & known[:-1] & (np.diff(value) != 0)
    return other


def _moves(view: RunView, name: str, lo: float, hi: float) -> bool:
    points = view.get(name)
    if points is None:
        return False
    inside = points.value[(points.step >= lo) & (points.step <= hi)]
    return inside.size > 1 and bool(np.ptp(inside) > 0)
