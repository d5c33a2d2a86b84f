"""The rule `tool-tokens-trained`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `tool-tokens-trained`; by definition no token of the environment belongs in the loss."""

    rounding: float = 1e-3
    """Share that may be a matter of counting template tokens between turns. Engineering default."""
    points: int = 3
    """Rows in which it holds; a masking fault holds in every row. Engineering default."""


GRPO = synth.like("GRPO")

SHARE = "tool/loss_token_fraction"

CASES = (
    fires("a quarter of the loss is tool output", lambda: GRPO({SHARE: synth.clipped(synth.flat(0.25, 0.1), 0, 1)})),
    healthy("masked", lambda: GRPO({SHARE: synth.constant(0.0)})),
    near_miss("template tokens", lambda: GRPO({SHARE: synth.constant(5e-4)})),
)


@rule(
    "ENV017",
    "tool-tokens-trained",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.ERROR,
    needs=(SHARE,),
    static=True,
    implies=("template-collapse", "logprob-mismatch", "kl-ref-runaway"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Tokens that a tool or the environment wrote are in the loss.

    What it means:
        A share of the trained tokens was not sampled by the policy: the loss mask covers observations.

    Why it matters:
        The policy is rewarded and punished for text it did not choose, learns to write tool output itself, and the
        importance ratios of those tokens mean nothing.

    Usual causes:
        A mask made from the whole response; multi-turn text encoded again; turn boundaries off by one.

    What to try:
        Print token ids, mask and text of three trajectories; check that every masked-in token has a sampled log-prob.

    When it is harmless:
        Never in policy-gradient training; a share under 0.1 % is the template between turns.

    References:
        Jin et al. 2025 (Search-R1), arXiv 2503.09516, section 3.2 (masking of retrieved tokens).
    """
    share = view.get(SHARE)
    assert share is not None
    wrong = share.value > params.rounding
    if len(share) < params.points or not bool(wrong[-params.points :].all()):
        return None
    onset = persistent_onset(share.step, wrong, params.points)
    assert onset is not None
    recent = median(share.value[-params.points :])
    return Detection(
        message=f"{recent:.1%} of the tokens in the loss were written by a tool or the environment",
        onset=view.onset(*onset),
        metric=SHARE,
        evidence={"share_frac": recent},
    )
