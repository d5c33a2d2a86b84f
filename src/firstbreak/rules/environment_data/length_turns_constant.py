"""The rule `length-turns-constant`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal.return_turns_constant import drawn
from firstbreak.stats import median, quantile
from firstbreak.view import RunView

LENGTHS = ("episode/length_mean", "episode/length")
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")


@dataclass(frozen=True)
class Params:
    """Thresholds of `length-turns-constant`. Engineering defaults."""

    rows: int = 8
    """Rows on end in which the length is one number; twice as many where rows are single episodes."""
    varied: float = 0.8
    """Share of as many rows before that must have differed from one another."""
    alike: float = 0.8
    """Share of the rows since then that have that length, and none more: some episodes may end before."""


PPO = synth.like("PPO")
LENGTH, RETURN = LENGTHS[0], RETURNS[0]
GOES = synth.ramp(40, 25, 0.1)
CUT = synth.after(0.6, synth.constant(8.0), GOES)
CASES = (
    fires(
        "a limit left from a test",
        lambda: PPO({LENGTH: CUT, RETURN: synth.after(0.6, synth.flat(-0.2, 0.1), synth.ramp(-1, 0.5, 0.1))}),
    ),
    healthy("varies", lambda: PPO({LENGTH: GOES})),
    near_miss("the shortest way is found", lambda: PPO({LENGTH: CUT, RETURN: synth.ramp(-1, 0.9, 0.1)})),
    near_miss("to the limit from the start", lambda: PPO({LENGTH: synth.constant(50.0)})),
    near_miss("longer than before", lambda: PPO({LENGTH: synth.after(0.6, synth.constant(500.0), GOES)})),
)


@rule(
    "ENV091",
    "length-turns-constant",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    any_of=(LENGTHS, RETURNS),
    when=("control",),
    min_points=24,
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "return-falls-at-once", "reward-flat", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """From some row on all episodes have one and the same length, shorter than any before, and pay no more.

    What it means:
        Lengths used to differ. Now every episode ends at the same step although actions are drawn and states differ:
        something counts steps and ends it.

    Why it matters:
        States late in an episode are not visited any more. Where the end is reported as a terminal one, values are
        wrong as well.

    Usual causes:
        A time limit left from a test; a second time-limit wrapper; an environment that was made anew with its default.

    What to try:
        Print the length and the reason of the end of ten episodes, with the wrappers around the environment.

    When it is harmless:
        Where the task is done in that many steps whatever happens: the return is higher then, which is not reported.

    References:
        Pardo et al. 2018, "Time limits in reinforcement learning", arXiv 1712.00378.
    """
    length, returns = view.get(*LENGTHS), view.get(*RETURNS)
    assert length is not None
    assert returns is not None
    rows = params.rows * (1 if length.metric == LENGTH else 2)
    if any(len(p) > 1 and p.max > p.min for p in view.family("env/curriculum").values()) or not drawn(view):
        return None
    value = length.value
    if value.size < 3 * rows:
        return None
    now = median(value[-rows:])
    other = np.flatnonzero(value > now)
    start = int(other[-1]) + 1 if other.size else 0
    before = value[max(0, start - rows) : start]
    if value.size - start < rows or before.size < rows or now != round(now):
        return None
    if np.mean(value[start:] == now) < params.alike or np.unique(before).size < params.varied * before.size:
        return None
    at = float(length.step[start])
    earlier, later = returns.value[returns.step < at][-rows:], returns.value[returns.step >= at]
    if now >= float(value[: max(start - 1, 1)].min()) or not earlier.size or not later.size:
        return None
    if median(later) >= quantile(earlier, 0.5):
        return None
    return Detection(
        message=f"all episodes end after {now:.4g} steps; before that they lasted {median(before):.4g}",
        onset=view.onset(float(length.step[start - 1]), at),
        metric=length.metric,
        evidence={"length_steps": now, "before_steps": median(before), "rows": value.size - start},
    )
