"""The rule `lr-schedule-fault`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended
from firstbreak.series import Floats
from firstbreak.stats import persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `lr-schedule-fault`; engineering defaults where no source is named."""

    jump: float = 3.0
    """Rise between two logged points that no warm-up makes once the rate has started to fall."""
    rest: int = 10
    """Consecutive points at one rate after which a jump is no warm-up's."""
    from_rest: float = 10.0
    """Rise from such a rate; the steps of piecewise warm-ups are smaller (a third, PyTorch's ConstantLR)."""
    of_peak: float = 0.05
    """Share of the largest rate so far that the risen one must reach: at the bottom of a schedule factors mean
    nothing."""
    end_share: float = 0.9
    """Share of the planned steps before which the rate may not be 0. Engineering default."""
    zeros: int = 3
    """Consecutive points at 0 that count, so that a warm-up's first row does not."""
    idle_rows: int = 20
    """Rows at 0 that count where no end is planned, as many as came before at least: a loop may log a little past the
    end of its schedule. Engineering default."""
    adaptive_factor: float = 1.5
    """Step of KL-adaptive rates (rsl_rl, rl_games, skrl); rises by whole powers of it are theirs."""
    steered_share: float = 0.25
    """Share of rises among the changes after the first fall from which something steers the rate: a schedule that
    starts again rises once and then falls. Engineering default."""
    steered_rises: int = 3
    """Rises that this share needs, so that single restarts never count as steering."""
    restart: float = 1.1
    """Share of the largest rate so far up to which a jump is a warm restart's (Loshchilov and Hutter 2017 go back to
    the first rate, or to less); the tenth is for rows that missed the peak. Engineering default."""
    higher: float = 3.0
    """The same where the rate goes on to fall as a schedule's does, and does not stay where something set it: cycles
    may also grow. Engineering default."""
    seen: int = 3
    """Rows after a jump to no more than that which say whether the rate falls on."""
    rounding: float = 1e-3
    """Share of the largest rate within which a rate below 0 moves nothing. Engineering default."""
    off: float = 2.0
    """Factor from the one rate of a constant schedule; less may be the rate of another group of parameters."""
    off_points: int = 3
    """Consecutive points at such a rate."""


LR = "optim/lr"
PPO = synth.like("PPO")
PLANNED = synth.like("PPO", config={"total_steps": 120}, clock="env_steps")
HALF_WAY = synth.like("PPO", config={"total_steps": 240}, clock="env_steps")
CONSTANT = synth.like("GRPO", config={"lr": 1e-6, "lr_schedule": "constant"})
LINEAR = synth.like("PPO", config={"lr_schedule": "linear"})
FALLS = synth.ramp(3e-4, 1e-5, 0)
RESTART = {LR: synth.after(0.5, synth.constant(3e-4), synth.ramp(3e-4, 1e-5, 0, until=0.5))}


def adaptive(t: Floats, rng: np.random.Generator) -> Floats:
    """A KL-adaptive rate [n]: up or down by 1.5 at every update."""
    return 3e-4 * 1.5 ** np.cumsum(rng.choice([-1.0, 0.0, 1.0], size=t.size))


def steered(t: Floats, rng: np.random.Generator) -> Floats:
    """A KL-adaptive rate [n] as a sparse log shows it: between two rows lie several steps and a floor."""
    return np.clip(1e-3 * 1.7 ** np.cumsum(rng.choice([-3.0, -1.0, 1.0, 3.0], size=t.size)), 1e-5, 1e-2)


CASES = (
    fires("negative at the end", lambda: PPO({LR: synth.ramp(3e-4, -1e-4, 0.0)})),
    fires("0 long before the end", lambda: PLANNED({LR: synth.ramp(3e-4, 0.0, 0.0, until=0.4)})),
    fires("0 from a third of the log on, no plan known", lambda: PPO({LR: synth.ramp(3e-4, 0.0, 0.0, until=0.3)})),
    fires("below 0 since the newest row, half-way", lambda: HALF_WAY({LR: synth.ramp(3e-4, -1e-6, 0.0)})),
    near_miss("the log goes on for a while after the schedule", lambda: PPO({LR: synth.ramp(3e-4, 0, 0, until=0.7)})),
    fires("a linear schedule that restarts at its full height", lambda: LINEAR(RESTART)),
    fires(
        "jumps above all it has been",
        lambda: PPO({LR: synth.after(0.5, synth.constant(9e-4), synth.ramp(3e-4, 1e-5, 0, until=0.5))}),
    ),
    fires("jumps to thrice its peak and stays", lambda: PPO({LR: synth.after(0.5, synth.constant(8e-4), FALLS)})),
    fires(
        "a schedule goes on, thirty times as high",
        lambda: PPO({LR: synth.after(0.5, synth.ramp(1.8e-2, 1e-6, 0), FALLS)}),
    ),
    fires(
        "a hundred times the one rate of the settings", lambda: CONSTANT({LR: synth.jump(1e-6, 1e-4, at=0.4, noise=0)})
    ),
    fires("a hundred times the rate at which it stood", lambda: PPO({LR: synth.jump(3e-4, 3e-2, at=0.4, noise=0)})),
    fires("0 from the first row on, with a constant schedule", lambda: CONSTANT({LR: synth.constant(0.0)})),
    healthy("constant", lambda: PPO({})),
    healthy("constant, as the settings say", lambda: CONSTANT({LR: synth.constant(1e-6)})),
    near_miss(
        "a cycle that turns at the bottom",
        lambda: PPO({LR: synth.after(0.98, synth.constant(1.4e-6), synth.geometric(1e-3, 3e-8, 0.0))}),
    ),
    near_miss("another group of parameters at a lower rate", lambda: CONSTANT({LR: synth.constant(6e-7)})),
    healthy("linear to 0 at the end", lambda: PLANNED({LR: synth.ramp(3e-4, 0.0, 0.0)})),
    near_miss("full rate after a third of it", lambda: PPO({LR: synth.jump(1e-4, 3e-4, at=0.2, noise=0)})),
    near_miss("warm-up from 0", lambda: PLANNED({LR: synth.ramp(0.0, 3e-4, 0.0, until=0.1)})),
    near_miss("KL-adaptive", lambda: PPO({LR: adaptive})),
    near_miss("steered by another rule, logged sparsely", lambda: PPO({LR: steered})),
    near_miss(
        "warm restarts as configured",
        lambda: synth.like("PPO", config={"lr_schedule": "cosine_with_restarts"})(RESTART),
    ),
)


def off_the_constant(view: RunView, lr: Points, planned: float | None, params: Params) -> Detection | None:
    """Return where the rate is not the one that the settings state, although it should never change."""
    if planned is None or planned <= 0:
        return None
    off = (lr.value > params.off * planned) | (lr.value < planned / params.off)
    over = persistent_onset(lr.step, off, params.off_points)
    if over is None:
        return None
    now = float(lr.value[lr.step >= over[1]][0])
    return Detection(
        message=f"learning rate is {now:.3g}; the settings say {planned:.3g}, constant",
        onset=view.onset(*over),
        metric=lr.metric,
        evidence={"lr": now, "lr_configured": planned},
        severity=Severity.ERROR,
    )


def exhausted(view: RunView, lr: Points, params: Params) -> Detection | None:
    """Return where the rate is 0 far from the planned end, or for as long as it was not where no end is planned."""
    total = view.number("total_steps") if view.clock == "env_steps" else None
    live = np.cumsum(lr.value > 0) > 0
    if total is None or total <= 0:
        return idle(view, lr, live, params)
    over = persistent_onset(lr.step, live & (lr.value == 0) & (lr.step < params.end_share * total), params.zeros)
    if over is None:
        return None
    return Detection(
        message=f"learning rate is 0 from step {over[1]:.6g} on, {over[1] / total:.0%} of the planned steps",
        onset=view.onset(*over),
        metric=lr.metric,
        evidence={"zero_from_step": over[1], "total_steps": total},
    )


def idle(view: RunView, lr: Points, live: NDArray[np.bool_], params: Params) -> Detection | None:
    """Return where the rate became 0 for good, once that lasts as long as what was before; `live` [n]: it had begun."""
    rests = int(np.argmax(lr.value[::-1] != 0))
    start = len(lr) - rests
    if not live[-1] or rests < max(params.idle_rows, start):
        return None
    return Detection(
        message=f"learning rate is 0 from step {lr.step[start]:.6g} on, in the last {rests} of {len(lr)} rows",
        onset=view.onset(float(lr.step[start - 1]), float(lr.step[start])),
        metric=lr.metric,
        evidence={"zero_from_step": float(lr.step[start]), "rows_at_zero": rests},
    )


def jumps(lr: Floats, params: Params) -> NDArray[np.bool_]:
    """Mask [n] of the points that lie a jump above the one before, after the warm-up and not by adaptive steps."""
    ratio: Floats = lr[1:] / np.maximum(lr[:-1], 1e-300)
    change: Floats = np.diff(lr, prepend=lr[0])
    fallen: NDArray[np.bool_] = np.cumsum(change < 0)[:-1] > 0
    places = np.arange(lr.size)
    since = np.maximum.accumulate(np.where(change != 0, places, 0))  # where the rate changed last
    stood = (places - since + 1 >= params.rest)[:-1]
    rises, moves = np.count_nonzero(change[1:][fallen] > 0), np.count_nonzero(change[1:][fallen])
    if rises >= params.steered_rises and rises >= params.steered_share * moves:
        return np.zeros(lr.size, dtype=np.bool_)
    powers: Floats = np.log(np.maximum(ratio, 1e-300)) / np.log(params.adaptive_factor)
    felt = lr[1:] >= params.of_peak * np.maximum.accumulate(lr)[1:]
    own = np.abs(powers - np.round(powers)) < 0.01
    again = (ratio > params.jump) & fallen & felt & ~own
    return np.concatenate([[False], (lr[:-1] > 0) & (again | (stood & (ratio >= params.from_rest)))])


def past_the_end(view: RunView, lr: Points, params: Params) -> bool:
    """Whether a rate below 0 did next to no harm: in the last row alone, past its schedule, or by rounding."""
    total = view.number("total_steps") if view.clock == "env_steps" else None
    one_row = bool((lr.value[:-1] >= 0).all()) and -lr.last <= float(np.abs(np.diff(lr.value)).max(initial=0.0))
    early = total is not None and float(lr.step[-1]) < params.end_share * total
    return (one_row and not early) or -lr.min <= params.rounding * lr.max


def fault_of(view: RunView, lr: Points, planned: float | None, params: Params) -> Detection | None:
    """Return what no schedule of a rate means to do; `planned` is its value in the settings, None where unknown."""
    below = persistent_onset(lr.step, lr.value < 0, 1)
    if below is not None:
        harmless = past_the_end(view, lr, params)
        return Detection(
            message=f"learning rate is negative ({lr.min:.3g}){': one row past its schedule' if harmless else ''}",
            onset=view.onset(*below),
            metric=lr.metric,
            evidence={"lr_min": lr.min},
            severity=Severity.INFO if harmless else Severity.ERROR,
        )
    schedule = str(view.config("lr_schedule", "")).lower()
    if schedule == "constant" and (found := off_the_constant(view, lr, planned, params)) is not None:
        return found
    if any(word in schedule for word in ("adaptive", "kl", "restart", "cycl")):
        return None
    return exhausted(view, lr, params) or jumped(view, lr, params)


def jumped(view: RunView, lr: Points, params: Params) -> Detection | None:
    """Return the first jump."""
    mask = jumps(lr.value, params)
    over = persistent_onset(lr.step, mask, 1)
    if over is None:
        return None
    index = int(np.argmax(mask))
    before, after = float(lr.value[index - 1]), float(lr.value[index])
    peak, later = float(lr.value[:index].max()), lr.value[index : index + params.seen]
    falls = False
    if params.restart * peak < after <= params.higher * peak:
        if later.size < params.seen:
            return None
        falls = bool(np.all(np.diff(later) < 0))
    # A scheduler that lost its state goes back to its own peak; one that falls again from a higher one was set anew.
    again = falls or (not view.config("lr_schedule") and after <= params.restart * peak)
    last = index == lr.value.size - 1 and ended(view)  # nothing came of it: a schedule asked once more after its end
    return Detection(
        message=f"learning rate jumps from {before:.3g} to {after:.3g} after it fell or stood"
        + (": a restart, meant or not" if again else ""),
        onset=view.onset(*over),
        metric=lr.metric,
        evidence={"lr_before": before, "lr_after": after},
        severity=Severity.INFO if again or last else None,
    )


@rule(
    "POL008",
    "lr-schedule-fault",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(LR,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "policy-frozen",
        "kl-overshoot",
        "surrogate-rises",
        "entropy-collapse",
        "grad-norm-zero",
        "grad-norm-explosion",
        "token-entropy-collapse",
        "response-collapse",
        "reward-redefined",
        "return-collapse",
        "reward-flat",
        "zero-std-groups",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learning rate does what no schedule means to do: negative, 0 too early, or jumping up.

    What it means:
        A negative rate climbs the loss; a rate that is not the one of a constant schedule is not the one asked for; a
        rate of 0 far from the planned end stops learning; a jump up after the decay began means that the schedule
        started again, one from a rate that stood still that something set it.

    Why it matters:
        The metrics go on and look calm, while nothing (or the wrong thing) is learned.

    Usual causes:
        Schedule counted in other units than the run (frames, updates, epochs); scheduler state not saved at a resume;
        one scheduler step per minibatch instead of per update; horizon changed.

    What to try:
        Plot the logged rate against its closed form over the planned number of steps.

    When it is harmless:
        Warm-up, restarts that the configuration names, and rates that something steers (by the KL, say), which go up
        and down. One row past the end of a schedule, and a jump in the very last row, are notes: nothing came of them.
        A jump back to an earlier rate, or to one somewhat higher from which the rate falls again, is a note
        while no setting names the schedule: so do warm restarts.

    References:
        Loshchilov and Hutter 2017, arXiv 1608.03983 (restarts). Rudin et al. 2022, arXiv 2109.11978 (adaptive rate).
    """
    lr = view.get(LR)
    assert lr is not None
    return fault_of(view, lr, view.number("lr"), params)
