"""The rule `temperature-lr-schedule-fault`."""

from __future__ import annotations

from dataclasses import replace

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update.lr_schedule_fault import LR, Params, fault_of
from firstbreak.view import RunView

RATE = "optim/alpha_lr"

SAC = synth.like("SAC")
CASES = (
    fires("a hundred times the rate at which it stood", lambda: SAC({RATE: synth.jump(3e-4, 3e-2, at=0.6, noise=0)})),
    fires("negative at the end", lambda: SAC({RATE: synth.ramp(3e-4, -1e-4, 0.0)})),
    healthy("constant", lambda: SAC({RATE: synth.constant(3e-4)})),
    near_miss("three times the actor's", lambda: SAC({LR: synth.constant(3e-4), RATE: synth.constant(1e-3)})),
    near_miss(
        "both rates jump at once: the schedule, not the temperature",
        lambda: SAC({LR: synth.jump(3e-4, 3e-2, at=0.6, noise=0), RATE: synth.jump(1e-3, 1e-1, at=0.6, noise=0)}),
    ),
)


@rule(
    "EXP055",
    "temperature-lr-schedule-fault",
    link=Link.EXPLORATION,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(RATE,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "alpha-runaway",
        "alpha-collapse",
        "entropy-coefficient-jumps",
        "temperature-dominates",
        "entropy-collapse",
        "value-loss-explosion",
        "values-jump",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learning rate of SAC's temperature does what no schedule means to do: negative, 0 too early, or jumping up.

    What it means:
        The rate of the temperature's optimiser alone is no longer what it was; what `lr-schedule-fault` says of the
        policy.

    Why it matters:
        Adam moves the logarithm of the temperature by about the rate at every step: at a hundred times the rate the
        bonus on entropy swings between nothing and all there is, and values with it.

    Usual causes:
        A schedule that is applied to one optimiser or twice; another network's rate; an optimiser that was made anew at
        a resume.

    What to try:
        Print the rate of every optimiser before a step, and which weights it holds.

    When it is harmless:
        Warm-up, restarts that the configuration names, and rates that something steers, which go up and down.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5 (the temperature is learned). Kingma and Ba 2015, arXiv
        1412.6980, section 2.1 (the rate bounds Adam's step).
    """
    rate = view.get(RATE)
    assert rate is not None
    found = fault_of(view, rate, None, params)
    if found is None:
        return None
    policy = view.get(LR)
    shared = None if policy is None else fault_of(view, policy, None, params)
    if shared is not None and shared.onset.lo <= found.onset.hi and found.onset.lo <= shared.onset.hi:
        return None  # the rate of everything: `lr-schedule-fault` says so
    return replace(found, message=f"the temperature's {found.message}")
