"""The rule `router-disagrees`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `router-disagrees`: engineering defaults, except where a source is named."""

    least: float = 0.95
    """Agreement per token and layer below which a large share of tokens passes through another expert somewhere. Ma et
    al. 2025 (arXiv 2510.11370) find one token in ten routed otherwise in a layer, and nearly all in at least one."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

AGREE = "net/router_agreement"

CASES = (
    fires("one in ten goes elsewhere", lambda: GRPO({AGREE: synth.clipped(synth.flat(0.9, 0.01), 0, 1)})),
    healthy("replayed", lambda: GRPO({AGREE: synth.constant(1.0)})),
    near_miss("rounding", lambda: GRPO({AGREE: synth.clipped(synth.flat(0.985, 0.002), 0, 1)})),
    near_miss("one batch", lambda: GRPO({AGREE: synth.spikes(0.99, 0.5, at=(0.5,), noise=0.001)})),
)


@rule(
    "NUM019",
    "router-disagrees",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    needs=(AGREE,),
    when=("language",),
    min_points=5,
    implies=("moe-ratio-off", "logprob-mismatch", "behaviour-weight-off-one", "ratio-tail", "ratio-off-one"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Trainer and sampler send the same tokens to different experts.

    What it means:
        Of all tokens and layers, more than one in twenty is routed otherwise in the trainer than when it was sampled.

    Why it matters:
        A token that passes through another expert gets another probability however exact the arithmetic is; bursts of
        clipping precede a collapse.

    Usual causes:
        Routers in low precision; different kernels or batch shapes in the two engines; router weights synchronised
        late.

    What to try:
        Replay the sampler's routing in the trainer; keep the router in fp32; use sequence-level ratios.

    When it is harmless:
        An agreement of some 98 % and more, which rounding at ties explains.

    References:
        Ma et al. 2025, arXiv 2510.11370. Zheng et al. 2025 (GSPO), arXiv 2507.18071, section 5.3.
    """
    agree = view.get(AGREE)
    assert agree is not None
    low = agree.value < params.least
    if not bool(low[-params.points :].all()):
        return None
    onset = persistent_onset(agree.step, low, params.points)
    assert onset is not None
    recent = median(agree.value[-params.points :])
    return Detection(
        message=f"trainer and sampler choose the same experts for {recent:.1%} of tokens and layers",
        onset=view.onset(*onset),
        metric=AGREE,
        evidence={"agreement_frac": recent},
    )
