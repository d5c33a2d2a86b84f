"""The rule `critic-lr-schedule-fault`."""

from __future__ import annotations

from dataclasses import replace

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.policy_update.lr_schedule_fault import LR, Params, fault_of, steered
from firstbreak.view import RunView

RATES = ("critic/lr", "optim/critic_lr")
"""The critic's rate, as language models and as control frameworks call it."""
SAC = synth.like("SAC")
RATE = RATES[1]

CASES = (
    fires("a thousand times the rate at which it stood", lambda: SAC({RATE: synth.jump(1e-3, 1.0, at=0.6, noise=0)})),
    fires("negative at the end", lambda: SAC({RATE: synth.ramp(3e-4, -1e-4, 0.0)})),
    fires(
        "restarts at its full height",
        lambda: SAC({RATE: synth.after(0.5, synth.constant(3e-4), synth.ramp(3e-4, 1e-5, 0, until=0.5))}),
    ),
    healthy("constant", lambda: SAC({RATE: synth.constant(1e-3)})),
    healthy("linear to 0 at the end", lambda: SAC({RATE: synth.ramp(1e-3, 0.0, 0.0)})),
    near_miss("three times the actor's", lambda: SAC({LR: synth.constant(3e-4), RATE: synth.constant(1e-3)})),
    near_miss("full rate after a third of it", lambda: SAC({RATE: synth.jump(3e-4, 1e-3, at=0.2, noise=0)})),
    near_miss("steered, logged sparsely", lambda: SAC({RATE: steered})),
    near_miss(
        "both rates jump at once: the schedule, not the critic",
        lambda: SAC({LR: synth.jump(3e-4, 3e-2, at=0.6, noise=0), RATE: synth.jump(1e-3, 1e-1, at=0.6, noise=0)}),
    ),
)


@rule(
    "CRT023",
    "critic-lr-schedule-fault",
    link=Link.CRITIC,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(RATES,),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-frozen",
        "critic-gradient-explosion",
        "value-loss-explosion",
        "values-jump",
        "q-divergence",
        "q-over-bound",
        "q-exceeds-return",
        "explained-variance-collapse",
        "return-collapse",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's own learning rate does what no schedule means to do: negative, 0 too early, or jumping up.

    What it means:
        The rate of the critic's optimiser alone is no longer what it was; what `lr-schedule-fault` says of the policy.

    Why it matters:
        Adam moves each weight by about the rate at every step: a critic at a thousand times its rate no longer fits
        anything, and the policy follows its values.

    Usual causes:
        A schedule that is applied to one parameter group or twice; another network's rate; an optimiser that was made
        anew at a resume.

    What to try:
        Print the rate of every parameter group before a step, and which weights it holds.

    When it is harmless:
        Warm-up, restarts that the configuration names, and rates that something steers, which go up and down.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 2.1 (the rate bounds Adam's step).
    """
    rate = view.get(*RATES)
    assert rate is not None
    found = fault_of(view, rate, None, params)
    if found is None:
        return None
    policy = view.get(LR)
    shared = None if policy is None else fault_of(view, policy, None, params)
    if shared is not None and shared.onset.lo <= found.onset.hi and found.onset.lo <= shared.onset.hi:
        return None  # the rate of everything: `lr-schedule-fault` says so
    return replace(found, message=f"the critic's {found.message}")
