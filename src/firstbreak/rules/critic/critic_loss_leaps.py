"""The rule `critic-loss-leaps`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import rises
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.stats.change import least_of
from firstbreak.view import Points, RunView

LOSS = "critic/loss"
PAID = ("reward/env_min", "reward/env_max", "reward/step_max")
WORLD, PREDICTED = "env/dynamics_surprise", "env/predicted_frac"
CUT_OFF = "episode/truncated_frac"
SETTINGS = ("optim/lr", "optim/critic_lr", "optim/alpha_lr", "sac/alpha", "policy/ent_coef", "dqn/epsilon")


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-loss-leaps`. Engineering defaults where no source is named."""

    rows: int = 32
    """Last rows whose largest loss is what is usual: an opening that erred more says nothing of now."""
    least: int = 20
    """Rows before it is asked."""
    times: float = 30.0
    """Times that largest loss. Of some 1,300 recorded runs (development half and live campaigns, corpus of 2026-11-26)
    no unbroken one has two rows 15 times above, and 45 broken ones 30 times."""
    lasts: int = 2
    """Rows in a row that must show it: one may be a copied target."""
    worn: float = 0.05
    """Share of the first of these rows up to which the last is the rest of one event that is being unlearned. Of the
    recorded faults none fell below 0.12, two healthy runs came to 0.009 and 0.04 (corpus of 2026-11-26)."""
    moved: float = 5.0
    """Times the usual error of what follows from an action, and ..."""
    further: float = 2.0
    """... times its largest before, from which on the world itself is another, as `dynamics-changed` has it, or the
    policy where nothing was learned."""
    foreseen: float = 0.9
    """Share of the next observation that is foreseen still, in every row, where the world is as it was all the same."""
    setting: float = 1.5
    """Factor by which a setting moves that explains it."""
    settled: int = 5
    """Rows whose median is where a setting stood."""


SAC = synth.like("SAC")
LOW, HIGH = PAID[:2]
KNOWN = {LOW: synth.flat(-3.0, 0.1), HIGH: synth.flat(-0.1, 0.1), WORLD: synth.clipped(synth.flat(0.9, 0.3), 0, 99)}
LEAPS = {LOSS: synth.after(0.6, synth.geometric(20, 1, begin=0.6), synth.geometric(1.0, 0.003, until=0.5))}
WEARS_OFF = synth.after(
    0.6, synth.after(0.61, synth.ramp(0.05, 0.001, 0.02, 0.61, 0.66), synth.constant(9.0)), synth.flat(1e-3)
)
FALLS = synth.jump(1.0, 0.0, at=0.6, noise=0)
CASES = (
    fires("a thousand times as large, of the same rewards in the same world", lambda: SAC(KNOWN | LEAPS)),
    healthy("it falls", lambda: SAC(KNOWN | {LOSS: synth.geometric(1.0, 0.003)})),
    near_miss("one row, as a target is copied", lambda: SAC(KNOWN | {LOSS: synth.spikes(0.01, 5.0, at=(0.6,))})),
    near_miss("ten times as large", lambda: SAC(KNOWN | {LOSS: synth.jump(0.01, 0.1, at=0.6)})),
    near_miss("rewards are others", lambda: SAC(KNOWN | LEAPS | {LOW: synth.jump(-3.0, -300.0, at=0.6)})),
    near_miss("a first success", lambda: SAC(KNOWN | LEAPS | {HIGH: synth.jump(0.0, 1.0, at=0.6, noise=0)})),
    near_miss("the world is another", lambda: SAC(KNOWN | LEAPS | {WORLD: synth.jump(0.9, 30.0, at=0.6, noise=0.1)})),
    near_miss("the temperature rose", lambda: SAC(KNOWN | LEAPS | {"sac/alpha": synth.jump(0.02, 4.0, at=0.6)})),
    near_miss("nobody looked at rewards and world", lambda: SAC(LEAPS)),
    near_miss("one event that wears off", lambda: SAC(KNOWN | {LOSS: WEARS_OFF})),
    near_miss("an episode that was always cut off ends by itself", lambda: SAC(KNOWN | LEAPS | {CUT_OFF: FALLS})),
    fires("episodes end by themselves as ever", lambda: SAC(KNOWN | LEAPS | {CUT_OFF: synth.constant(0.0)})),
)


@rule(
    "CRT043",
    "critic-loss-leaps",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(LOSS,),
    any_of=(PAID, (WORLD,)),
    min_points=22,
    params=Params(),
    cases=CASES,
    implies=(
        "value-loss-explosion",
        "critic-gradient-explosion",
        "grad-norm-explosion",
        "loss-explosion",
        "explained-variance-collapse",
        "values-jump",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's loss is suddenly many times what it was of late, while rewards, world and settings are as before.

    What it means:
        Two rows on end lie far above the largest of the rows before. Single steps are paid as before, what follows from
        an action is foreseen as before, and no rate or coefficient moved: what the critic errs by, it, or its targets,
        made.

    Why it matters:
        The policy follows values that are wrong by more than they differ between actions; the return follows later.

    Usual causes:
        Targets that bootstrap where an episode ended, or no longer where one goes on; targets of other data; a critic
        or target that was exchanged; gradients that are old or added up.

    What to try:
        Compute the targets of one stored batch by hand, with the networks of before and of now.

    When it is harmless:
        Resets of the critic on purpose; a new stage of a curriculum. Where episodes were cut off only, and one ends by
        itself, its value is new to the critic: nothing is said, and neither of what wears off in one row.

    References:
        Sutton and Barto 2018, section 11.3 (errors that a critic makes of its own targets).
    """
    if any(rises(points) for points in view.family("env/curriculum").values()):
        return Skip("a curriculum changes what there is to predict")
    loss = view.get(LOSS)
    assert loss is not None
    for place, usual in leaps(np.abs(loss.value), params):
        # The row before counts as well: what is further out may have shown before the loss was measured.
        since, last = float(loss.step[place - 2]), float(loss.step[place + params.lasts - 1])
        if paid_otherwise(view, since, last) or moved(view, since, last, params) or set_anew(view, since, last, params):
            continue
        if written(view, since, last) or weights_thrown(view, float(loss.step[place])):
            continue
        size = np.abs(loss.value[place : place + params.lasts])
        if size[-1] < params.worn * size[0]:
            continue
        if ended_anew(view, float(loss.step[max(place - params.rows, 0)]), since, last):
            continue
        now = float(size.min())
        return Detection(
            message=f"the critic's loss is {now / usual:.2g} times the most it was of late; rewards are as before",
            onset=view.onset(float(loss.step[place - 1]), float(loss.step[place])),
            metric=LOSS,
            evidence={"now": now, "most_of_late": usual},
        )
    return None


def leaps(size: Floats, params: Params) -> list[tuple[int, float]]:
    """Return the places of `size` [n] from which it lies far above all of late, and what that was."""
    if size.size < params.least + params.lasts:
        return []
    now = least_of(size, params.lasts)[params.least :]
    above = np.flatnonzero(now > params.times * size[params.least - 1 :][: now.size]) + params.least
    usual = [(place, float(size[max(place - params.rows, 0) : place].max())) for place in above.tolist()]
    return [(place, most) for place, most in usual if 0 < params.times * most < now[place - params.least]]


def split(points: Points | None, since: float, last: float) -> tuple[Floats, Floats] | None:
    """Return the values up to `since`, and those after it up to `last`; None where either is empty."""
    if points is None:
        return None
    first, end = np.searchsorted(points.step, [since, last], side="right")
    before, now = points.value[:first], points.value[first:end]
    return (before, now) if before.size and now.size else None


def paid_otherwise(view: RunView, since: float, last: float) -> bool:
    """Whether single steps were paid what lies outside all that was paid before, by more than its range."""
    for name in PAID:
        known = split(view.get(name), since, last)
        if known is not None:
            low, high = float(known[0].min()), float(known[0].max())
            reach = high - low
            if float(known[1].max()) > high + reach or float(known[1].min()) < low - reach:
                return True
    return False


def moved(view: RunView, since: float, last: float, params: Params) -> bool:
    """Whether the world answered otherwise, or where the policy went nothing of it was foreseen."""
    known, share = split(view.get(WORLD), since, last), split(view.get(PREDICTED), since, last)
    if known is None or (share is not None and float(share[1].min()) >= params.foreseen):
        return False
    return float(known[1].max()) > max(params.moved, params.further * float(known[0].max()))


def written(view: RunView, since: float, last: float) -> bool:
    """Whether something other than the optimiser wrote into the weights."""
    known = split(view.get("optim/outside_change_frac"), since, last)
    return known is not None and float(known[1].max()) > 0


def ended_anew(view: RunView, first: float, since: float, last: float) -> bool:
    """Whether an episode ended by itself, where of the rows from `first` to `since` all were cut off."""
    known = view.get(CUT_OFF)
    if known is None:
        return False
    before = known.value[(known.step > first) & (known.step <= since)]
    now = known.value[(known.step > since) & (known.step <= last)]
    return bool((now < 1).any() and (before >= 1).all())


def set_anew(view: RunView, since: float, last: float, params: Params) -> bool:
    """Whether a rate or coefficient moved."""
    for name in SETTINGS:
        known = split(view.get(name), since, last)
        stood = abs(median(known[0][-params.settled :])) if known is not None else 0.0
        if known is not None and stood > 0:
            ratio = np.abs(known[1]) / stood
            if float(ratio.max()) > params.setting or float(ratio.min()) < 1 / params.setting:
                return True
    return False
