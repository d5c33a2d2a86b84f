"""The rule `retokenisation-drift`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `retokenisation-drift`: engineering defaults, except where a source is named."""

    least: float = 0.02
    """Share of sequences that lasts and matters: each has wrong log-probs from the first differing token on.
    Engineering default."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")

SHARE = "seq/retokenised_fraction"

CASES = (
    fires("a tenth encodes otherwise", lambda: GRPO({SHARE: synth.clipped(synth.flat(0.1, 0.1), 0, 1)})),
    fires("begins with tool use", lambda: GRPO({SHARE: synth.jump(0.0, 0.3, at=0.5)})),
    healthy("token ids are passed on", lambda: GRPO({SHARE: synth.constant(0.0)})),
    near_miss("a rare odd string", lambda: GRPO({SHARE: synth.clipped(synth.flat(0.004, 0.5), 0, 1)})),
    near_miss("one batch", lambda: GRPO({SHARE: synth.spikes(0.0, 0.3, at=(0.5,))})),
)


@rule(
    "ENV018",
    "retokenisation-drift",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    needs=(SHARE,),
    min_points=5,
    implies=("logprob-mismatch", "behaviour-weight-off-one", "ratio-tail"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The text of sampled sequences, encoded again, gives other tokens than those sampled.

    What it means:
        The trainer sees token ids that the sampler never drew; from the first one that differs the log-probs are wrong.

    Why it matters:
        It looks like a mismatch of numerics or of weights, sits at turn boundaries, and no precision mends it.

    Usual causes:
        Trajectories passed on as text; tool calls parsed and written again; a chat template applied twice.

    What to try:
        Compare token ids of sampler and trainer for twenty sequences; pass token ids on instead of text.

    When it is harmless:
        Below a percent or so: rare strings have several encodings.

    References:
        vLLM and Agent Lightning, "No more retokenization drift", 2025.
    """
    share = view.get(SHARE)
    assert share is not None
    over = share.value >= params.least
    if not bool(over[-params.points :].all()):
        return None
    onset = persistent_onset(share.step, over, params.points)
    assert onset is not None
    recent = median(share.value[-params.points :])
    return Detection(
        message=f"{recent:.1%} of the sequences get other token ids when their text is encoded again",
        onset=view.onset(*onset),
        metric=SHARE,
        evidence={"share_frac": recent},
    )
