"""The rule `value-support-off`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
VALUE = "critic/q_mean"
ATOMS = ("n_atoms", "num_atoms")
LEAST = 3
"""Atoms that make a distribution; scripts that can do without one are given 0 or 1."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `value-support-off`. Engineering defaults."""

    edge: float = 0.02
    """Share of the support's width from one of its ends, within which a mean value is pinned there."""
    share: float = 0.5
    """Share of the distance of two atoms that the returns of the whole run differ by at most."""
    rows: int = 10
    """Rows on end for which it is; and rows of the return that are needed to know its range."""


WIDE = synth.like("DQN", config={"v_min": -200.0, "v_max": 200.0, "n_atoms": 51})
USUAL = synth.like("DQN", config={"v_min": -100.0, "v_max": 100.0, "n_atoms": 101})
PLAIN = synth.like("DQN", config={"v_min": -200.0, "v_max": 200.0, "n_atoms": 1})
RETURN = RETURNS[0]
CASES = (
    fires("all returns between two atoms", lambda: WIDE({RETURN: synth.flat(-1.1, 0.2)})),
    fires("values at the upper end", lambda: USUAL({VALUE: synth.ramp(0, 99.5, 0.0, until=0.5)})),
    healthy("the usual support", lambda: USUAL({VALUE: synth.ramp(0, 60)})),
    near_miss("coarse, but returns differ by more", lambda: WIDE({RETURN: synth.ramp(-9, 9, 0.05)})),
    near_miss("a setting that is not in force: values go beyond", lambda: USUAL({VALUE: synth.ramp(0, 400)})),
    near_miss("one atom is no distribution", lambda: PLAIN({RETURN: synth.flat(-1.1, 0.2)})),
)


@rule(
    "CRT045",
    "value-support-off",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    any_of=(RETURNS,),
    needs_config=("v_min", "v_max"),
    when=("q_function",),
    min_points=20,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "critic-not-learning", "reward-scale-mismatch", "q-exceeds-return", "greedy-below-random"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The support of a distributional critic does not fit the returns: all between two atoms, or values at its end.

    What it means:
        Values are spread over atoms from `v_min` to `v_max`. Where the returns of the whole run differ by less than
        half of what two neighbouring atoms do, they can hardly be told apart; where the mean value lies at an end of
        the support, what lies beyond cannot be said.

    Why it matters:
        Which action is better drowns in rounding to atoms, or is cut off.

    Usual causes:
        A support of another task; rewards that were scaled; a horizon that changed.

    What to try:
        Set the support to the range of discounted returns, from random play to the best known, with some room.

    When it is harmless:
        Settings of a support that the trainer does not use: values beyond it show that.

    References:
        Bellemare et al. 2017, arXiv 1707.06887, section 4.
    """
    low, high = view.number("v_min"), view.number("v_max")
    returns, value = view.get(*RETURNS), view.get(VALUE)
    if low is None or high is None or returns is None or not low < high:
        return None
    atoms = next((n for name in ATOMS if (n := view.number(name)) is not None), 0.0)
    width = high - low
    beyond = value is not None and len(value) > 0 and (value.max > high or value.min < low)
    if atoms < LEAST or beyond:
        return None
    if value is not None and len(value):
        pinned = (value.value >= high - params.edge * width) | (value.value <= low + params.edge * width)
        over = persistent_onset(value.step, pinned, params.rows)
        if over is not None:
            return Detection(
                message=f"the mean value is {value.last:.4g}, at an end of the support from {low:.4g} to {high:.4g}",
                onset=view.onset(*over),
                metric=VALUE,
                evidence={"value": value.last, "v_min": low, "v_max": high},
            )
    spread, gap = float(np.ptp(returns.value)), width / (atoms - 1)
    if len(returns) < 2 * params.rows or not 0 < spread <= params.share * gap:
        return None
    return Detection(
        message=f"all returns lie within {spread:.3g}; neighbouring atoms are {gap:.3g} apart",
        onset=view.onset(float(returns.step[0])),
        metric=returns.metric,
        evidence={"range_of_returns": spread, "atoms_apart": gap, "v_min": low, "v_max": high},
    )
