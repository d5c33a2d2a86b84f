"""The rule `clip-fraction-high`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, rises
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of

from .kl_clip_inconsistent import clip_range, implied_kl
from .policy_frozen import updates_per_batch


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-fraction-high`; engineering defaults where no source is named."""

    fraction: float = 0.4
    """Share of samples outside the clip range that counts as too much. Engineering default, in use as a guard rail in
    published training guides."""
    updates: int = 5
    """Consecutive updates above `fraction`."""
    drift_nats: float = 0.02
    """KL per update that must go with it, logged or implied by the clip fraction: under a small clip range a large
    share is clipped by harmless steps."""
    bound: float = 0.8
    """Share at which a single update is enough."""
    bound_nats: float = 0.1
    """KL that must go with `bound`."""
    usual: int = 20
    """Updates before it that say what was usual, of which at least `updates` are needed."""
    factor: float = 1.5
    """Factor over what was usual from which on more is clipped than before. Under it, and while the return rises, the
    run has come to it by degrees and learns with it. Of the recorded live lists (two
    to six) healthy runs had at most 1.16 at such a stretch, those with a fault of the update 1.57 and more."""


PPO = synth.like("PPO")
FRACTION, RETURN = "policy/clip_fraction", "reward/episode_return_mean"
LARGE = synth.ramp(0.1, 0.6, 0.02)
BY_DEGREES = {FRACTION: synth.ramp(0.2, 0.45, 0.03), "policy/kl_old": synth.flat(0.09)}

CASES = (
    fires(
        "half of the samples, with drift", lambda: PPO({FRACTION: synth.flat(0.55), "policy/kl_old": synth.flat(0.09)})
    ),
    fires(
        "nearly all at the first update",
        lambda: PPO({FRACTION: synth.jump(0.99, 0.2, at=0.01), "policy/kl_old": synth.jump(20.0, 1.0, at=0.01)}),
    ),
    healthy("a tenth", lambda: PPO({})),
    near_miss("isolated high updates", lambda: PPO({FRACTION: synth.spikes(0.2, 0.5, at=(0.3, 0.5, 0.8))})),
    near_miss(
        "by degrees up to 0.85, in a run that learns",
        lambda: PPO({FRACTION: synth.ramp(0.2, 0.85, 0.02), "policy/kl_old": LARGE, RETURN: synth.ramp(20, 400, 0.05)}),
    ),
    near_miss("by degrees, in a run that learns", lambda: PPO(BY_DEGREES | {RETURN: synth.ramp(20, 400, 0.05)})),
    fires("by degrees, and nothing is learned", lambda: PPO(BY_DEGREES | {RETURN: synth.walk(20, 30, rho=0.0)})),
    fires(
        "all at once, in a run that has learned",
        lambda: PPO(
            {
                FRACTION: synth.jump(0.25, 0.5, at=0.7),
                "policy/kl_old": synth.flat(0.09),
                RETURN: synth.ramp(20, 400, 0.05),
            }
        ),
    ),
    near_miss(
        "small clip range, small steps",
        lambda: synth.like("PPO", config={"clip_range": 0.05})(
            {FRACTION: synth.flat(0.5), "policy/kl_old": synth.flat(0.002)}
        ),
    ),
)


@rule(
    "POL002",
    "clip-fraction-high",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(FRACTION,),
    when=("ppo_clip",),
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=("ratio-tail", "return-oscillates", "entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Most of each batch ends outside the clip range: the policy is pushed further than the update may use.

    What it means:
        A large share of importance ratios leaves [1 - eps, 1 + eps], and the KL of the update is large as well.

    Why it matters:
        Clipped samples give no gradient back towards the old policy; the last epochs of such an update are steered by
        the rest alone.

    Usual causes:
        Learning rate or number of epochs too high; batch too small; advantages on a huge scale; stale data.

    What to try:
        Replay one batch with one epoch; then with a third of the learning rate.

    When it is harmless:
        Under a small clip range with a small KL. Where a run came to it by degrees and its return rises, nothing is
        said. With one update per batch the ratio is 1 and nothing can be clipped:
        the rule says so and does not look.

    References:
        Schulman et al. 2017, arXiv 1707.06347, section 3. Huang et al. 2022, "The 37 implementation details of PPO".
    """
    clip = view.get(FRACTION)
    assert clip is not None
    if not clip.value.any() and (updates_per_batch(view) == 1 or "groups" in traits_of(view.algorithm)):
        return Skip("one update per batch: the ratio is 1 and nothing is clipped", ("more than one update per batch",))
    kl = view.get("policy/kl_old")
    if kl is not None and len(kl):
        drift = np.interp(clip.step, kl.step, kl.value)
    else:
        drift = implied_kl(clip.value, clip_range(view))
    single = (clip.value >= params.bound) & (drift >= params.bound_nats)
    lasting = (clip.value >= params.fraction) & (drift >= params.drift_nats)
    over = persistent_onset(clip.step, single, 1) or persistent_onset(clip.step, lasting, params.updates)
    if over is None or (_by_degrees(clip, over[1], params) and rises(view.get(*TRAIN))):
        return None
    since = clip.step >= over[1]
    return Detection(
        message=f"clip fraction reached {clip.value[since].max():.2f} (KL {median(drift[since]):.2g} nats per update)",
        onset=view.onset(*over),
        metric=clip.metric,
        evidence={"clip_frac_max": float(clip.value[since].max()), "kl_nats": median(drift[since])},
    )


def _by_degrees(clip: Points, at: float, params: Params) -> bool:
    """Whether from step `at` on hardly more is clipped than in the updates before."""
    here = int(np.searchsorted(clip.step, at))
    before, since = clip.value[max(0, here - params.usual) : here], clip.value[here : here + params.updates]
    return before.size >= params.updates and median(since) < params.factor * median(before)
