"""The rule `reward-constant`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, OBJECTIVE, TRAIN, ended, from_start, progress, starts_late
from firstbreak.view import Points, RunView

ROUNDING = 1e-5
"""Relative error of a sum of a thousand float32 numbers: half an ulp (6e-8) each, most of which cancel."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-constant`. Engineering defaults where no source is named."""

    hint_rows: int = 3
    """Rows of exactly one value that are worth a hint."""
    rows: int = 30
    """Rows of exactly one value after which the silence can be an error (length of a drift test)."""
    main_frac: float = 0.8
    """Share of the reward that its one constant part makes up."""
    same_frac: float = 0.8
    """Share of rows in which every step earned the same, from which on the few others hardly count."""
    span_frac: float = 0.01
    """Range of the returns, as a share of their size, that says next to nothing."""
    done_share: float = 0.5
    """Share of the configured steps after which it is a warning: half the budget is spent on nothing. A sparse task
    may find its first success late, so before that it is a hint."""


SILENT = {
    "reward/train_mean": synth.constant(0.0),
    "reward/train_std": synth.constant(0.0),
    "group/zero_std_fraction": synth.constant(1.0),
}
GRPO = synth.like("GRPO")
HALF = synth.like("GRPO", config={"total_steps": 200})
TWO = synth.like("GRPO", config={"reward_weights": [1.0, 0.1], "reward_funcs": ["correct", "form"]})
YES = {
    "reward/component@correct": synth.constant(1.0),
    "reward/component_std@correct": synth.constant(0.0),
    "reward/component@form": synth.clipped(synth.walk(0.97, 0.02), 0, 1),
    "reward/train_mean": synth.clipped(synth.walk(1.097, 0.002), 0, 1.1),
}
CASES = (
    fires("no reward ever", lambda: GRPO(SILENT)),
    fires("no reward over half of the budget", lambda: HALF(SILENT)),
    fires(
        "constant return, spread unknown: a warning",
        lambda: synth.like("PPO")({"reward/episode_return_mean": synth.constant(-200.0)}),
    ),
    fires(
        "every episode earns the same, but for rounding",
        lambda: synth.like("PPO")(
            {"reward/episode_return_mean": synth.flat(-2.5, 4e-7), "reward/env_std": synth.constant(0.0)}
        ),
    ),
    fires(
        "clipped to next to nothing from the start",
        lambda: synth.like("PPO")(
            {
                "reward/episode_return_mean": synth.flat(-2.49, 0.0005),
                "reward/env_std": synth.spikes(0.0, 0.004, at=(0.3, 0.7), noise=0.0),
            }
        ),
    ),
    near_miss(
        "one number in all rows, and nobody logged how long episodes are",
        lambda: synth.like("PPO", drop=("episode/length_mean",))(
            {"reward/episode_return_mean": synth.constant(-200.0)}
        ),
    ),
    near_miss(
        "only two episodes have ended yet",
        lambda: synth.like("PPO")(
            {
                "reward/episode_return_mean": synth.spikes(float("nan"), -374.0, at=(0.4, 0.9)),
                "reward/env_std": synth.spikes(0.0, 0.1, at=(0.3, 0.7), noise=0.0),
            }
        ),
    ),
    near_miss(
        "a success now and then",
        lambda: synth.like("PPO")(
            {
                "reward/episode_return_mean": synth.spikes(0.0, 0.2, at=(0.0, 0.3, 0.7), noise=0.0),
                "reward/env_std": synth.spikes(0.0, 0.1, at=(0.0, 0.3, 0.7), noise=0.0),
            }
        ),
    ),
    fires("one of two functions says yes to everything, and is all that counts", lambda: TWO(YES)),
    healthy("reward rises", lambda: GRPO({})),
    near_miss(
        "rises to a ceiling and stays there",
        lambda: GRPO({"reward/train_mean": synth.clipped(synth.ramp(0.1, 3.0, 0.02), 0, 1)}),
    ),
    near_miss("whitened reward: mean 0 by construction", lambda: GRPO({"reward/train_mean": synth.constant(0.0)})),
    near_miss(
        "everything is right from the start",
        lambda: GRPO(
            SILENT | {"reward/train_mean": synth.constant(1.0), "group/all_solved_fraction": synth.constant(1.0)}
        ),
    ),
    near_miss(
        "first success late in the run, one row in",
        lambda: GRPO({"reward/train_mean": synth.after(0.02, synth.walk(0.3, 0.02), synth.constant(0.0))}),
    ),
)


@rule(
    "RWD001",
    "reward-constant",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(TRAIN,),
    min_points=3,
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("zero-std-groups", "grad-norm-zero", "entropy-stuck-high", "advantage-collapse", "policy-frozen"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The reward is exactly the same in every row: there is nothing to learn from.

    What it means:
        Since the first row the logged reward has had one single value, and no other metric shows any spread in it.

    Why it matters:
        Learning compares better with worse. A constant reward gives no gradient however long the run lasts.

    Usual causes:
        A scorer that always fails (parsing, missing dependency); a reward that is overwritten; a task so hard that
        nothing ever succeeds; a goal that is never reached.

    What to try:
        Score known right and wrong answers, or a random and a scripted policy: their rewards must differ.

    When it is harmless:
        Sparse tasks wait for their first success: while a run goes on and every episode lasts to its time limit it is a
        note, and no error at its end. A solved task may stay at its ceiling; a resumed log that begins there is not
        judged.

    References:
        Ng, Harada and Russell 1999 (shaping for sparse rewards).
    """
    reward = view.get(*TRAIN)
    assert reward is not None
    if starts_late(reward):
        return None
    if (main := constant_part(view, params)) is not None:
        return main
    if (hardly := nearly(view, reward, params)) is not None:
        return hardly
    if len(reward) < params.hint_rows or differ(reward.min, reward.max) or spread_seen(view):
        return None
    if not view.has("reward/env_std") and repeats(view, reward):
        return Skip(
            "the return is one number in all rows, as the length is or may be: no success yet, or no episode has ended",
            ("episode/length_mean", "episode/count", "reward/env_std"),
            withholds=True,
        )
    share = progress(view)
    late = share is not None and share >= params.done_share and not waits(view)
    severity = Severity.WARNING if len(reward) >= LEAST and (ended(view) or late) else Severity.INFO
    # A constant above the floor may be a ceiling that was there from the start.
    at_floor = reward.max <= (view.number("reward_min") or 0.0)
    if ended(view) and len(reward) >= params.rows and at_floor and spread_is_zero(view) and not waits(view):
        severity = Severity.ERROR
    shown = single_rewards(view) or reward
    return Detection(
        message=f"reward is exactly {reward.last:.4g} in all {len(reward)} rows",
        onset=from_start(view, shown),
        metric=shown.metric,
        evidence={"reward": reward.last, "rows": len(reward), "share_of_run": -1.0 if share is None else share},
        severity=severity,
    )


def single_rewards(view: RunView) -> Points | None:
    """Return what says that single rewards do not differ; a mean may be the same by chance, and is logged later.

    How many different rewards there were goes before their spread: near 0 is usual where rewards are small.
    """
    sizes, spread = view.get("reward/env_distinct_frac"), spread_of(view)
    if spread is None or spread.max != 0:
        return None
    return sizes if sizes is not None and len(sizes) and sizes.max < 1 else spread


def repeats(view: RunView, reward: Points) -> bool:
    """Whether the mean length of episodes is one number, as their return is: the mean may be of one old episode.

    Where no length is logged, it may be as well.
    """
    length = view.get("episode/length_mean", "episode/length")
    if not reward.metric.startswith("reward/episode_return"):
        return False
    return length is None or (len(length) > 1 and length.max == length.min)


def waits(view: RunView) -> bool:
    """Whether every episode went on to the time limit: a task that is ended by its first success had none yet."""
    length, cut = view.get("episode/length_mean"), view.get("episode/truncated_frac")
    if length is None or len(length) < LEAST or (cut is not None and len(cut) and cut.min < 1):
        return False
    return not differ(length.min, length.max)


def constant_part(view: RunView, params: Params) -> Detection | None:
    """Return the main reward function, where it gave every response of the run one and the same score."""
    whole, spreads = view.get(*TRAIN), view.family("reward/component_std")
    weights, names = view.config("reward_weights"), view.config("reward_funcs")
    if whole is None or len(whole) < params.rows or not ended(view) or not isinstance(weights, list):
        return None
    weight_of = dict(zip(cast(list[str], names), cast(list[float], weights), strict=False)) if names else {}
    for name, part in view.family("reward/component").items():
        spread, weight = spreads.get(name), weight_of.get(name, 0.0)
        if spread is None or spread.max != 0 or differ(part.min, part.max) or len(part) < params.rows:
            continue
        if abs(weight * part.last) >= params.main_frac * max(abs(whole.max), abs(whole.min)) > 0:
            return Detection(
                message=f"scorer {name[:40]} gave exactly {part.last:.4g} to every response in {len(part)} rows",
                onset=from_start(view, part),
                metric=part.metric,
                evidence={"reward": part.last, "rows": len(part), "weight": float(weight)},
                severity=Severity.WARNING,
            )
    return None


def nearly(view: RunView, reward: Points, params: Params) -> Detection | None:
    """Return that nearly every step earns the same, and episodes differ by next to nothing."""
    step = view.get("reward/env_std")
    if step is None or len(step) < params.rows or step.max == 0 or not ended(view):
        return None
    most, least = view.get("reward/episode_return_max") or reward, view.get("reward/episode_return_min") or reward
    span = most.max - least.min
    if (
        len(reward) < LEAST
        or np.mean(step.value == 0) < params.same_frac
        or span > params.span_frac * max(abs(most.max), abs(least.min))
    ):
        return None
    return Detection(
        message=f"nearly every step earns the same; returns lie between {least.min:.4g} and {most.max:.4g}",
        onset=from_start(view, reward),
        metric=reward.metric,
        evidence={"least": least.min, "most": most.max, "rows": len(reward)},
        severity=Severity.WARNING,
    )


def spread_of(view: RunView) -> Points | None:
    """Return how far single rewards lie apart; means of episodes are told apart by their lengths as well."""
    spreads = (view.get("reward/train_std", "group/reward_std_mean"), view.get("reward/env_std"))
    return next((points for points in spreads if points is not None and len(points)), None)


def spread_is_zero(view: RunView) -> bool:
    """Whether another metric says that single rewards did not differ either, not only their means."""
    spread, silent = spread_of(view), view.get("group/zero_std_fraction")
    if spread is not None:
        return spread.max == 0
    return silent is not None and len(silent) > 0 and silent.min == 1


def spread_seen(view: RunView) -> bool:
    """Whether another metric shows that rewards differ, or that everything is solved."""
    for name in ("reward/train_std", "group/reward_std_mean"):
        points = view.get(name)
        if points is not None and len(points) and points.max > 0:
            return True
    for name in ("group/all_solved_fraction", "reward/success_rate", *OBJECTIVE):
        points = view.get(name)
        if points is not None and len(points) and points.last >= 0.95:
            return True
    most, least = (
        view.get("reward/episode_return_max", "reward/train_max"),
        view.get("reward/episode_return_min", "reward/train_min"),
    )
    return most is not None and least is not None and differ(least.min, most.max)


def differ(least: float, most: float) -> bool:
    """Whether two rewards differ by more than what adding them up in float32 leaves."""
    return most - least > ROUNDING * max(abs(least), abs(most))
