"""The rule `component-dead`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, ended, from_start
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `component-dead`. Engineering defaults where no source is named."""

    rows: int = 100
    """Rows of exactly 0 after which it is a warning: rare successes have had their chance."""
    hint_rows: int = 16
    """Rows after which it is worth a hint."""
    benign_words: tuple[str, ...] = (
        "penalty",
        "cost",
        "repeti",
        "error",
        "collision",
        "violation",
        "overlong",
        "terminat",
        "fail",
        "l2",
        "limit",
    )
    """Words in the name of a component that should be 0 in good runs."""


GRPO = synth.like("GRPO")
FEW = synth.like("GRPO", n=3)
CASES = (
    fires(
        "one scorer never pays",
        lambda: GRPO(
            {"reward/component@strict_format": synth.constant(0.0), "reward/component@accuracy": synth.ramp(0.1, 0.7)}
        ),
    ),
    fires(
        "the same in three rows: a hint",
        lambda: FEW(
            {"reward/component@strict_format": synth.constant(0.0), "reward/component@accuracy": synth.ramp(0.1, 0.7)}
        ),
    ),
    healthy(
        "both pay",
        lambda: GRPO(
            {"reward/component@strict_format": synth.flat(0.4), "reward/component@accuracy": synth.ramp(0.1, 0.7)}
        ),
    ),
    near_miss(
        "a penalty that is never due",
        lambda: GRPO(
            {
                "reward/component@repetition_penalty": synth.constant(0.0),
                "reward/component@accuracy": synth.ramp(0.1, 0.7),
            }
        ),
    ),
    near_miss(
        "pays rarely",
        lambda: GRPO(
            {
                "reward/component@strict_format": synth.spikes(0.0, 0.1, at=(0.05, 0.5), noise=0.0),
                "reward/component@accuracy": synth.ramp(0.1, 0.7),
            }
        ),
    ),
)


@rule(
    "RWD010",
    "component-dead",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """A reward component is exactly 0 in every row while the total moves.

    What it means:
        One of the scorers has never paid anything, and its spread is 0 as well.

    Why it matters:
        Either nobody ever met it, or its code cannot be met: then a part of the task is not trained at all.

    Usual causes:
        A pattern that misses line breaks; an answer format the prompt does not ask for; a weight of 0; an exception
        that is turned into 0.

    What to try:
        Score hand-made samples that must earn it, with this component alone.

    When it is harmless:
        Penalties that are never due; bonuses for rare events. A component of weight 0 that only watches.

    References:
        Engineering defaults; see the parameters.
    """
    parts = {n: p for n, p in view.family("reward/component").items() if len(p)}
    if not parts:
        return Skip("reward components are not logged", ("reward/component",))
    spreads = view.family("reward/component_std")
    total = view.get(*TRAIN)
    moves = total is not None and len(total) > 1 and total.max != total.min
    moves = moves or any(p.max != p.min or p.last != 0 for p in parts.values())
    for name, points in sorted(parts.items()):
        spread = spreads.get(name)
        quiet = spread is None or not len(spread) or spread.max == 0
        benign = any(word in name.lower() for word in params.benign_words)
        if points.max != 0 or points.min != 0 or not quiet or benign or not moves:
            continue
        if len(points) < params.hint_rows and not ended(view):
            continue
        return Detection(
            message=f"component {name[:40]} is exactly 0 in all {len(points)} rows"[:120],
            onset=from_start(view, points),
            metric="reward/component",
            evidence={"component": name, "rows": len(points)},
            severity=Severity.WARNING if len(points) >= params.rows else Severity.INFO,
        )
    return None
