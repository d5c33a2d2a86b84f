"""The rule `critic-changed-outside`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

CRITIC, POLICY = "critic/outside_change_frac", "policy/outside_change_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `critic-changed-outside`; those of `weights-changed-outside`, and engineering defaults."""

    frac: float = 1e-3
    """Change over the norm of the critic's weights that counts: between two updates it is 0 by construction."""
    large: float = 0.3
    """Change over the norm of the critic's weights that makes it an error: what was learned can hardly be left."""
    usual: float = 0.3
    """Share of rows up to which a change is an event; beyond it, it belongs to the algorithm (averaged weights)."""


SAC = synth.like("SAC")
ONCE, REST = synth.spikes(0.0, 0.6, at=(0.6,)), synth.constant(0.0)

CASES = (
    fires("units of both critics are pruned", lambda: SAC({CRITIC: ONCE, POLICY: REST})),
    fires("another critic is loaded", lambda: SAC({CRITIC: synth.spikes(0.0, 0.02, at=(0.3,))})),
    healthy("left alone", lambda: SAC({CRITIC: REST, POLICY: REST})),
    near_miss("the policy's weights, too: another rule says so", lambda: SAC({CRITIC: ONCE, POLICY: ONCE})),
    near_miss("rounding of the norm", lambda: SAC({CRITIC: synth.flat(1e-6, 1e-7), POLICY: REST})),
    near_miss("a critic that is averaged after every update", lambda: SAC({CRITIC: synth.flat(0.05, 0.005)})),
)


@rule(
    "CRT060",
    "critic-changed-outside",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=(CRITIC,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "critic-leaves-target",
        "critic-ignores-state",
        "critic-loss-leaps",
        "critic-moves-at-once",
        "critic-leaves-past",
        "critic-frozen",
        "target-network-replaced",
        "explained-variance-collapse",
        "value-loss-explosion",
        "values-jump",
        "q-divergence",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's weights are not those that its last step left, and the policy's are: something wrote into it.

    What it means:
        Between the end of one update and the first step of the next, the critic's weights changed. Only its optimiser
        may move them. The policy's weights were left alone meanwhile.

    Why it matters:
        Values are those of a network that nobody trained; targets and the policy follow them from the next step on.

    Usual causes:
        Units that are reset, pruned or capped; a critic of another checkpoint; a soft update in the wrong direction.

    What to try:
        Hash the critic's parameters after its step and before the next forward pass; bisect with that hash.

    When it is harmless:
        Resets of the critic on purpose.

    References:
        Nikishin et al. 2022, arXiv 2205.07802 (resets on purpose). PyTorch: `Optimizer.register_step_pre_hook`.
    """
    critic, policy = view.get(CRITIC), view.get(POLICY)
    assert critic is not None
    beyond = critic.value > params.frac
    if not beyond.size or beyond.mean() > params.usual:
        return None
    if policy is not None:
        beyond &= ~np.isin(critic.step, policy.step[policy.value > params.frac])
    onset = persistent_onset(critic.step, beyond, 1)
    if onset is None:
        return None
    size = float(critic.value[beyond].max())
    return Detection(
        message=f"between two updates the critic's weights changed by {size:.3g} of their norm, the policy's did not",
        onset=view.onset(*onset),
        metric=critic.metric,
        evidence={"change_frac": size, "times": int(beyond.sum())},
        severity=Severity.ERROR if size >= params.large else None,
    )
