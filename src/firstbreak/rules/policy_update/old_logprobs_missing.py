"""The rule `old-logprobs-missing`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

OLD = "policy/old_logprob_frac"
GRPO = synth.like("GRPO", config={"num_iterations": 4})


@dataclass(frozen=True)
class Params:
    """Thresholds of `old-logprobs-missing`; engineering defaults where no source is named."""

    frac: float = 0.5
    """Share of micro-batches with old log-probabilities below which the loss has no anchor; 1 by the settings."""
    rows: int = 3
    """Updates in a row that must show it."""


CASES = (
    fires("never there", lambda: GRPO({OLD: synth.constant(0.0)})),
    fires("lost half-way", lambda: GRPO({OLD: synth.jump(1.0, 0.0, 0.5, 0.0)})),
    healthy("always there", lambda: GRPO({OLD: synth.constant(1.0)})),
    near_miss("one update without", lambda: GRPO({OLD: synth.spikes(1.0, 0.0, at=(0.4,), noise=0.0)})),
)


@rule(
    "POL068",
    "old-logprobs-missing",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    needs=(OLD,),
    min_points=3,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-overshoot",
        "policy-frozen",
        "policy-jumps",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are trained on several times, and the loss does not know the policy that drew them.

    What it means:
        The settings use each response in more than one update. The old log-probabilities that the ratio needs
        are missing, so that it is computed of the policy with itself.

    Why it matters:
        The ratio is 1 by construction and the clip never binds: later updates on the same responses have no
        trust region.

    Usual causes:
        Old log-probabilities dropped on the way through a buffer or a wrapper; recomputed at each update; a
        shortcut for a single update that is taken for several.

    What to try:
        At the second update on a batch print the mean ratio: it must have left 1.

    When it is harmless:
        Never, where responses are used more than once and the loss clips ratios.

    References:
        Schulman et al. 2017, arXiv 1707.06347, section 3.
    """
    old = view.get(OLD)
    assert old is not None
    onset = persistent_onset(old.step, old.value < params.frac, params.rows)
    if onset is None:
        return None
    return Detection(
        message="responses are used again without the log-probabilities they were drawn with: every ratio is 1",
        onset=view.onset(*onset),
        metric=OLD,
        evidence={"old_logprob_frac": float(old.value[old.step >= onset[1]].min())},
    )
