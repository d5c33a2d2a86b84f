"""The rule `temperature-outruns-rate`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import RunView

ALPHA, STEPS = "sac/alpha", "optim/n_updates"
RATES = ("optim/alpha_lr", "optim/lr", "optim/critic_lr")


@dataclass(frozen=True)
class Params:
    """Thresholds of `temperature-outruns-rate`."""

    most: float = 7.0
    """Climb of the logarithm over the learning rate times the optimiser's steps. Adam makes at most 1 where gradients
    agree; where they leap it comes to 6.5 for some ten steps, by its usual settings (Kingma and Ba 2015, algorithm 1,
    for gradients that are 0 and then alike)."""
    against: float = 1.5
    """The same where entropy is above its target at the end of each of the rows, so that its own gradient pulls down.
    Engineering default: what it climbs of its own momentum is over within a row."""
    times: float = 2.0
    """Over the fastest climb or fall of the rows before: another optimiser, or a rate that is not the one in force.
    Engineering default."""
    before: int = 8
    """Rows that say what is usual. Engineering default."""
    rows: int = 2
    """Rows on end that must show it: a checkpoint of another temperature is one. Engineering default."""


SAC = synth.like("SAC")


def course(t: Floats, rng: np.random.Generator) -> Floats:
    """Climb at ten times the rate, from the middle on."""
    del rng
    return 0.03 * np.exp(np.maximum(t - 0.5, 0.0) * 100.0)


def pushed(t: Floats, rng: np.random.Generator) -> Floats:
    """Climb at three times the rate, from the middle on."""
    del rng
    return 0.03 * np.exp(np.maximum(t - 0.5, 0.0) * 30.0)


def slow(t: Floats, rng: np.random.Generator) -> Floats:
    """Climb as fast as Adam may."""
    del rng
    return 0.03 * np.exp(np.maximum(t - 0.5, 0.0) * 6.0)


ABOVE = {"policy/entropy": synth.constant(1.0), "sac/target_entropy": synth.constant(-2.0)}
BELOW = {"policy/entropy": synth.constant(-3.0), "sac/target_entropy": synth.constant(-2.0)}
COUNT = {STEPS: synth.ramp(0.0, 10_000.0, 0.0), RATES[0]: synth.constant(1e-3)}
CASES = (
    fires("something else pushes it up at every step", lambda: SAC({**COUNT, ALPHA: course})),
    fires("slowly, against its own gradient", lambda: SAC({**COUNT, **ABOVE, ALPHA: pushed})),
    near_miss("its own gradient leapt", lambda: SAC({**COUNT, **BELOW, ALPHA: pushed})),
    healthy("it climbs as its optimiser can", lambda: SAC({**COUNT, ALPHA: slow})),
    healthy("it falls at first and settles", lambda: SAC({**COUNT, ALPHA: synth.geometric(1.0, 0.02, 0.005)})),
    near_miss(
        "a rate ten times as high is the reason", lambda: SAC({**COUNT, RATES[0]: synth.constant(1e-2), ALPHA: course})
    ),
    near_miss("another temperature in one row", lambda: SAC({**COUNT, ALPHA: synth.jump(0.03, 0.3, noise=0.0)})),
    near_miss("it always moved so fast", lambda: SAC({**COUNT, ALPHA: synth.geometric(0.01, 1e60, 0.0)})),
)


@rule(
    "EXP076",
    "temperature-outruns-rate",
    link=Link.EXPLORATION,
    component=Component.OPTIMISER,
    severity=Severity.ERROR,
    needs=(ALPHA, STEPS),
    any_of=(RATES,),
    when=("max_entropy",),
    min_points=12,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=(
        "alpha-runaway",
        "temperature-dominates",
        "entropy-coefficient-jumps",
        "weights-changed-outside",
        "critic-moves-at-once",
        "exploration-moves-at-once",
        "value-loss-explosion",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "q-divergence",
        "q-over-bound",
        "return-collapse",
        "return-falls-at-once",
        "action-std-growth",
        "entropy-growing",
        "policy-turns-uniform",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """SAC's temperature climbs faster than its learning rate and its optimiser's steps allow.

    What it means:
        The logarithm of the temperature rose, row after row, by several times the learning rate times the steps taken
        between the rows, and several times as fast as it ever moved before in this run.

    Why it matters:
        Only the temperature's own optimiser should move it. What pushes it harder soon makes entropy worth more than
        the task.

    Usual causes:
        Something that writes into the parameter (a schedule, a sync, a second optimiser that holds it too); a step that
        is repeated; a rate in force that is not the one that is logged.

    What to try:
        Print the logarithm of the temperature before and after its optimiser's step, and again before the next.

    When it is harmless:
        A temperature that a schedule raises on purpose.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5 (the temperature as a variable that is learned). Kingma and Ba
        2015, arXiv 1412.6980, section 2.1 (the rate bounds Adam's step).
    """
    alpha, steps = view.get(ALPHA), view.get(STEPS)
    assert alpha is not None
    assert steps is not None
    at, one, other = np.intersect1d(alpha.step, steps.step, return_indices=True)
    value, count = alpha.value[one], steps.value[other]
    rate = rate_at(view, at)
    known = (value > 0) & (rate > 0)
    at, value, count, rate = at[known], value[known], count[known], rate[known]
    taken = np.diff(count)
    # A count that falls is a restart: of those rows nothing is known.
    climb = np.where(taken > 0, np.diff(np.log(value)) / (rate[1:] * np.maximum(taken, 1.0)), 0.0)
    place = outrun(climb, pulled_down(view, at[1:]), params)
    if place is None:
        return None
    return Detection(
        message=f"the temperature went from {value[place]:.3g} to {value[place + params.rows]:.3g} in "
        f"{count[place + params.rows] - count[place]:.0f} steps, {climb[place : place + params.rows].min():.3g} times "
        "as fast as its learning rate allows",
        onset=view.onset(float(at[place]), float(at[place + 1])),
        metric=ALPHA,
        evidence={"climb": float(climb[place]), "fastest_before": float(np.abs(climb[: place - 1]).max())},
    )


def rate_at(view: RunView, at: Floats) -> Floats:
    """Return the temperature's learning rate at steps `at` [n]: its own, or the largest that is known."""
    own = view.get(RATES[0])
    found = [own] if own is not None else [points for name in RATES[1:] if (points := view.get(name)) is not None]
    # Of the rate of a row and of that of the row before the larger: rows say what was in force at one of their ends.
    values = [points.value[np.maximum(np.searchsorted(points.step, at, "right") - 1, 0)] for points in found]
    largest: Floats = np.max(np.array(values), axis=0)
    return np.maximum(largest, np.concatenate([largest[:1], largest[:-1]]))


def pulled_down(view: RunView, at: Floats) -> NDArray[np.bool_]:
    """Return whether entropy was above its target in the rows at steps `at` [n], as far as is known."""
    entropy, target = view.get("policy/entropy"), view.get("sac/target_entropy")
    if entropy is None or target is None or not len(entropy) or not len(target):
        return np.zeros(at.size, dtype=np.bool_)
    wanted = target.value[np.maximum(np.searchsorted(target.step, at, "right") - 1, 0)]
    place = np.searchsorted(entropy.step, at)
    there = entropy.step[np.minimum(place, len(entropy) - 1)] == at
    return there & (entropy.value[np.minimum(place, len(entropy) - 1)] > wanted)


def outrun(climb: Floats, down: NDArray[np.bool_], params: Params) -> int | None:
    """Return the first of the rows [n] from which on the climb is faster than allowed, and than ever before."""
    fastest, least = np.maximum.accumulate(np.abs(climb)), np.where(down, params.against, params.most)
    for place in range(params.before + 1, climb.size - params.rows + 1):
        now = slice(place, place + params.rows)
        # The row before may hold its beginning.
        if (climb[now] >= np.maximum(least[now], params.times * float(fastest[place - 2]))).all():
            return place
    return None
