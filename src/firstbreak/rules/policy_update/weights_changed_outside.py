"""The rule `weights-changed-outside`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

CHANGE, POLICY = "optim/outside_change_frac", "policy/outside_change_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `weights-changed-outside`; engineering defaults where no source is named."""

    frac: float = 1e-3
    """Change over the norm of the weights that counts. Between two updates it is 0 by construction; the rounding of a
    norm in float32 stays below 1e-6, that of a bfloat16 copy of the weights below 4e-3 a tensor and averages out."""
    large: float = 0.3
    """Change over the norm of the weights that makes it an error: what was learned can hardly be left. Engineering
    default."""
    usual: float = 0.3
    """Share of rows up to which a change is an event (told at once it is in two rows); beyond it, it belongs to the
    algorithm (clipped, averaged or projected weights)."""


PPO = synth.like("PPO")

CASES = (
    fires("noise on the weights once", lambda: PPO({CHANGE: synth.spikes(0.0, 0.6, at=(0.6,))})),
    fires("weights of another checkpoint", lambda: PPO({CHANGE: synth.spikes(0.0, 0.02, at=(0.3,))})),
    healthy("left alone", lambda: PPO({CHANGE: synth.constant(0.0)})),
    near_miss("rounding of the norm", lambda: PPO({CHANGE: synth.flat(1e-6, 1e-7)})),
    near_miss(
        "those of the critic alone",
        lambda: PPO({CHANGE: synth.spikes(0.0, 0.6, at=(0.6,)), POLICY: synth.constant(0.0)}),
    ),
    near_miss("weights projected after every update", lambda: PPO({CHANGE: synth.flat(0.05, 0.005)})),
)


@rule(
    "POL032",
    "weights-changed-outside",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(CHANGE,),
    min_points=1,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-overshoot",
        "return-collapse",
        "explained-variance-collapse",
        "value-scale-mismatch",
        "policy-jumps",
        "response-collapse",
        "truncation-growing",
        "token-entropy-collapse",
        "zero-std-groups",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The weights are not those that the last optimiser step left: something else wrote into them.

    What it means:
        Between the end of one update and the first step of the next, the weights changed. Only the optimiser may move
        them. Where the policy has weights of its own, they did.

    Why it matters:
        The policy that acts is not the one that was trained; the optimiser's moments belong to weights that are gone.

    Usual causes:
        Another checkpoint loaded on top; a sync that copies in the wrong direction; a second process on shared
        weights; an in-place operation on a parameter; memory that was overwritten.

    What to try:
        Hash the parameters after `optimizer.step()` and before the next forward pass; bisect with that hash.

    When it is harmless:
        Periodic resets, weight averaging written back, or loading the best weights on purpose.

    References:
        Nikishin et al. 2022, arXiv 2205.07802 (resets on purpose). PyTorch: `Optimizer.register_step_pre_hook`.
    """
    whole, own = view.get(CHANGE), view.get(POLICY)
    assert whole is not None
    change = whole if own is None else own
    beyond = change.value > params.frac
    if own is not None and not beyond.any() and (whole.value > params.frac).any():
        return Skip("what changed are weights of another network than the policy", ("critic/outside_change_frac",))
    if not beyond.size or beyond.mean() > params.usual:
        return None
    onset = persistent_onset(change.step, beyond, 1)
    if onset is None:
        return None
    size = float(change.value[beyond].max())
    return Detection(
        message=f"between two updates the weights changed by {size:.3g} of their norm",
        onset=view.onset(*onset),
        metric=change.metric,
        evidence={"change_frac": size, "times": int(beyond.sum())},
        severity=Severity.ERROR if size >= params.large else None,
    )
