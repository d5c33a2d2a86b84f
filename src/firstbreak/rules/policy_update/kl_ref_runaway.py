"""The rule `kl-ref-runaway`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Confidence
from firstbreak.stats import linear_trend, median, persistent_onset, safe_log
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-ref-runaway`; engineering defaults where no source is named."""

    bound_nats: float = 5.0
    """KL per token to the reference that no useful policy needs: the reference gives the tokens e^-5 of their
    probability on average. Engineering default."""
    updates: int = 3
    """Consecutive updates beyond the bound; the k3 estimate has single outliers."""
    growth: float = 10.0
    """Growth over the later half that is a runaway even below the bound. Engineering default."""
    floor_nats: float = 0.5
    """KL per token under which growth is not judged: it starts at 0 and is meant to grow."""
    z: float = 6.0
    """Least size of the later half's exponential trend in standard errors."""


GRPO = synth.like("GRPO")
KL = "policy/kl_ref"
UNKNOWN_LENGTH = 100.0
"""Tokens of a response whose length is not logged: a short answer. Engineering choice."""

CASES = (
    fires("past five nats a token", lambda: GRPO({KL: synth.jump(0.1, 12, at=0.6)})),
    fires("exponential", lambda: GRPO({KL: synth.geometric(0.001, 4.0, 0.1)})),
    healthy("grows a little", lambda: GRPO({})),
    near_miss("grows to one nat and levels off", lambda: GRPO({KL: synth.ramp(0, 1.0, 0.05, until=0.4)})),
    near_miss("outliers of the estimator", lambda: GRPO({KL: synth.spikes(0.05, 300, at=(0.3, 0.7))})),
)


@rule(
    "POL012",
    "kl-ref-runaway",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    needs=(KL,),
    when=("reference",),
    params=Params(),
    cases=CASES,
    implies=("rm-overoptimisation", "grad-norm-explosion", "token-entropy-collapse", "repetition-rising"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy runs away from its reference model: KL per token is past any use or grows exponentially.

    What it means:
        KL to the frozen reference is meant to grow slowly; here it is nats per token, or grew tenfold in the later
        half and accelerates.

    Why it matters:
        Language and knowledge of the base model are lost before the training reward shows it.

    Usual causes:
        KL coefficient 0 or of the wrong sign; learning rate too high; a reward that pays for leaving; an estimator
        (k3) whose gradient explodes.

    What to try:
        Decode samples from before and after; replay the step with a third of the learning rate.

    When it is harmless:
        For small models trained from random weights, whose reference is noise.

    References:
        Gao et al. 2023, arXiv 2210.10760. Schulman 2020, "Approximating KL divergence".
    """
    kl = view.get(KL)
    assert kl is not None
    tokens = tokens_summed(view, kl)
    over = persistent_onset(kl.step, kl.value > params.bound_nats * tokens, params.updates)
    if over is not None:
        now = median(kl.value[kl.step >= over[1]]) / tokens
        return Detection(
            message=f"KL to the reference is {now:.3g} nats per token (limit {params.bound_nats:g})",
            onset=view.onset(*over),
            metric=kl.metric,
            evidence={"kl_nats_per_token": now, "limit_nats": params.bound_nats},
        )
    if len(kl) < 32:
        return None
    half = len(kl) // 2
    recent, middle = median(kl.value[-8:]), median(kl.value[half - 4 : half + 4])
    if recent < params.floor_nats * tokens or middle <= 0 or recent < params.growth * middle:
        return None
    if linear_trend(kl.step[half:], safe_log(kl.value[half:])).z < params.z:
        return None
    above = np.flatnonzero(kl.value[half:] > 2 * middle)
    start = half + (int(above[0]) if above.size else 0)
    recent, middle = recent / tokens, middle / tokens
    return Detection(
        message=f"KL to the reference grew {recent / middle:.3g}-fold in the later half, to {recent:.3g} nats a token",
        onset=view.onset(kl.step[half], kl.step[start]),
        metric=kl.metric,
        evidence={"kl_nats_per_token": recent, "kl_half_way_nats": middle},
    )


def tokens_summed(view: RunView, kl: Points) -> float:
    """Return over how many tokens one value of `kl` may be summed: 1 where the framework is known to average.

    A key of a loop's own does not say it; the milder reading is taken, by the length of the responses if it is logged.
    """
    if kl.source.confidence is not Confidence.ALIAS:
        return 1.0
    length = view.get("seq/len_mean")
    return max(median(length.value), 1.0) if length is not None and len(length) else UNKNOWN_LENGTH
