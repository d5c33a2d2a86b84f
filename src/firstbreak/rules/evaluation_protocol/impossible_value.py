"""The rule `impossible-value`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import from_start
from firstbreak.series import Series
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import metric, metrics


@dataclass(frozen=True)
class Params:
    """Thresholds of `impossible-value`. Engineering defaults where no source is named."""

    tolerance: float = 1e-4
    """Relative excess that rounding may cause; bfloat16 keeps about three digits, so fractions get 1e-2."""
    fraction_tolerance: float = 1e-2
    """Excess over 1 or below 0 that rounding of an averaged fraction may cause."""
    kl_floor_nats: float = -1e-3
    """An estimate (r - 1) - ln r is never negative; sums of rounding errors stay above this."""
    k1_floor_nats: float = -1.0
    """The estimate mean(ln p_old - ln p_new) has a mean of at least 0; a batch mean a whole nat below is no noise."""


IN_FORCE = {
    "sac/alpha": "entropy-coefficient-jumps",
    "optim/critic_lr": "critic-lr-schedule-fault",
    "optim/alpha_lr": "temperature-lr-schedule-fault",
}
"""Settings that are read, not worked out, and the rule that says so where one that was possible becomes impossible: it
is then what the loop uses, and no fault of logging."""
POSSIBLE_BEFORE = 8
"""Rows on end in its range after which a setting was possible; as in those rules."""

PPO = synth.like("PPO")
DECLARED = synth.like("PPO", custom={"custom/regret": {"lo": 0.0, "hi": 9.0}})
CASES = (
    fires("clip fraction of 31", lambda: PPO({"policy/clip_fraction": synth.constant(31.0)})),
    fires("explained variance above 1", lambda: PPO({"critic/explained_variance": synth.flat(1.4, 0.02)})),
    fires("KL of -6.5 nats", lambda: PPO({"policy/kl_old": synth.flat(-6.5, 0.05)})),
    fires(
        "a declared metric below its declared bound",
        lambda: DECLARED({"custom/regret": synth.flat(-2.0)}),
    ),
    fires("a rate below 0 all along", lambda: PPO({"optim/critic_lr": synth.constant(-3e-4)})),
    near_miss("a rate that turns: its own rule", lambda: PPO({"optim/critic_lr": synth.ramp(3e-4, -1e-4, 0.0)})),
    healthy("everything in range", lambda: PPO({})),
    near_miss("fraction of 1.0000001", lambda: PPO({"policy/clip_fraction": synth.constant(1.0000001)})),
    near_miss(
        "a declared metric at its bound",
        lambda: DECLARED({"custom/regret": synth.constant(0.0)}),
    ),
    near_miss("k1 slightly negative", lambda: PPO({"policy/kl_k1": synth.flat(-0.01, 0.5)})),
    near_miss("negative differential entropy", lambda: PPO({"policy/entropy": synth.flat(-3.0)})),
)


@rule(
    "EVA005",
    "impossible-value",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.LOGGING,
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """A logged number cannot be what its name says.

    What it means:
        A fraction outside 0 to 1, a negative norm or length, an explained variance above 1, or a negative KL; or a
        metric of the user's own outside the bounds declared in the settings.

    Why it matters:
        The metric is broken; training may be fine. Alarms and decisions that rest on the number are void.

    Usual causes:
        A denominator that counts an un-broadcast mask; percent logged as a fraction; a sum logged as a mean; another
        estimator than the name says.

    What to try:
        Recompute the metric by hand on one batch; set epochs and minibatches to 1: its size must not change.

    When it is harmless:
        Training itself does not read logged metrics; only adaptive schedules do. Rates and temperatures that were
        possible and become impossible in mid-run are left to the rules on them.

    References:
        Bounds by definition. Schulman 2020, "Approximating KL divergence" (k1, k2, k3).
    """
    found: dict[tuple[str, str], tuple[float, float, Points]] = {}
    for series in view.log.series:
        if possible(series, params):
            continue
        points = view.at(series.scope).get(series.metric)
        if points is None or not len(points) or points.source is not series or not view.trusted(points):
            continue
        lo, hi = declared_bounds(points, params) if series.custom else bounds(series, params)
        if points.min < lo or points.max > hi:
            if turns(points, lo, hi):
                continue
            found[series.metric, str(series.scope)] = (
                points.min if points.min < lo else points.max,
                lo if points.min < lo else hi,
                points,
            )
    if not found:
        return None
    name, (value, bound, points) = sorted(found.items(), key=lambda item: item[0])[0]
    over = (points.value < bound) if value < bound else (points.value > bound)
    first = persistent_onset(points.step, over, 1)
    limit = float(f"{bound:.3g}") if points.source.custom else round(bound, 2)
    return Detection(
        message=f"{name[0][:50]} is {value:.4g}, beyond its bound {limit:g}; {len(found)} metrics out of bounds",
        onset=view.onset(*first) if first is not None else from_start(view, points),
        metric=name[0],
        evidence={"value": value, "bound": bound, "metrics": ", ".join(sorted({n for n, _ in found}))},
    )


def turns(points: Points, lo: float, hi: float) -> bool:
    """Whether a setting in force was possible before it became impossible."""
    first = points.value[:POSSIBLE_BEFORE]
    inside = bool(((first >= lo) & (first <= hi)).all())
    return points.metric in IN_FORCE and len(first) == POSSIBLE_BEFORE and inside


def possible(series: Series, params: Params) -> bool:
    """Whether nothing about `series` can be wrong in any prefix: all of it lies in its range, or it has none."""
    if series.custom:
        return False
    if series.metric not in metrics():
        return True
    lo, hi = bounds(series, params)
    least, most = series.extremes
    return not (least < lo or most > hi)


def bounds(series: Series, params: Params) -> tuple[float, float]:
    """Return the range that a canonical metric cannot leave, widened for rounding."""
    spec = metric(series.metric)
    lo, hi = spec.lo, spec.hi
    if series.metric in ("policy/kl_old", "policy/kl_ref", "policy/kl_k1"):
        exact = series.estimator in ("k3", "exact", "analytic")
        return (params.kl_floor_nats if exact else params.k1_floor_nats), hi
    room = params.fraction_tolerance if spec.unit == "frac" else params.tolerance
    return lo - room * max(abs(lo), 1.0 if spec.unit == "frac" else 0.0), hi + room * max(abs(hi), 1.0)


def declared_bounds(points: Points, params: Params) -> tuple[float, float]:
    """Return the range that the settings declare for a metric of the user's own, widened by its usual size."""
    custom = points.source.custom
    lo, hi = float(custom.get("lo", "-inf")), float(custom.get("hi", "inf"))
    size = median(abs(points.value))
    return lo - params.tolerance * max(abs(lo), size), hi + params.tolerance * max(abs(hi), size)
