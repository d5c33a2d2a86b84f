"""The rule `clip-not-binding`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView

IGNORED = "policy/clip_ignored_frac"
GRPO = synth.like("GRPO", config={"num_iterations": 4})


@dataclass(frozen=True)
class Params:
    """Thresholds of `clip-not-binding`; engineering defaults where no source is named."""

    frac: float = 0.5
    """Share of tokens past the clip that are trained on all the same: 0 by definition (Schulman et al. 2017)."""
    rows: int = 3
    """Updates with such tokens, in a row, that must show it."""


CASES = (
    fires("ratios of the policy with itself", lambda: GRPO({IGNORED: synth.constant(1.0)})),
    fires("from half-way on", lambda: GRPO({IGNORED: synth.jump(0.0, 1.0, 0.5, 0.0)})),
    healthy("clipped", lambda: GRPO({IGNORED: synth.constant(0.0)})),
    near_miss("one update", lambda: GRPO({IGNORED: synth.spikes(0.0, 1.0, at=(0.4,), noise=0.0)})),
    near_miss("rounding at the bound", lambda: GRPO({IGNORED: synth.clipped(synth.flat(0.02, 0.02), 0, 1)})),
)


@rule(
    "POL069",
    "clip-not-binding",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(IGNORED,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-overshoot",
        "policy-jumps",
        "clip-fraction-high",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The clip of the loss does not bind: tokens past it are still trained.

    What it means:
        Tokens whose probability has left the clip range since they were drawn, in the direction in which they
        are pushed, have a gradient. By the clip they have none.

    Why it matters:
        Later updates on the same responses have no trust region, and the clip fraction that is logged says 0.

    Usual causes:
        Old log-probabilities recomputed at each update, or dropped, so that the ratio is that of the policy
        with itself; a maximum in the place of the minimum; a clip range in percent.

    What to try:
        At the second update on a batch print the ratio that the loss uses beside that of the log-probabilities
        kept when sampling.

    When it is harmless:
        A loss without a clip on purpose; those that firstbreak knows are not judged.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7.
    """
    ignored = view.get(IGNORED)
    assert ignored is not None
    over = ignored.value >= params.frac
    onset = persistent_onset(ignored.step, over, params.rows)
    if onset is None:
        return None
    share = median(ignored.value[over & (ignored.step >= onset[1])])
    return Detection(
        message=f"{share:.0%} of the tokens past the clip range are trained on all the same",
        onset=view.onset(*onset),
        metric=IGNORED,
        evidence={"ignored_frac": share},
    )
