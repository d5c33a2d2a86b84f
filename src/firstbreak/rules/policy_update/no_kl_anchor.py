"""The rule `no-kl-anchor`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `no-kl-anchor`; engineering defaults where no source is named."""

    coefficient: float = 0.0
    """KL coefficient at or below which nothing holds the policy to its reference."""


CASES = (
    fires("beta 0", lambda: synth.like("GRPO", config={"kl_coef": 0.0})({})),
    healthy("beta 0.04", lambda: synth.like("GRPO", config={"kl_coef": 0.04})({})),
    near_miss("tiny, but there", lambda: synth.like("GRPO", config={"kl_coef": 1e-3})({})),
)


@rule(
    "POL014",
    "no-kl-anchor",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.INFO,
    needs_config=("kl_coef",),
    when=("language", "reference"),
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Nothing holds the policy to its reference model: the KL coefficient is 0.

    What it means:
        The run trains without a KL penalty, neither in the loss nor in the reward.

    Why it matters:
        Whatever the reward does not measure (language, format, knowledge) is free to drift, and no logged KL warns.

    Usual causes:
        The default of several trainers for verifiable rewards, where it is often the right choice.

    What to try:
        With a learned reward model use a small coefficient; else log KL to the reference without penalising it.

    When it is harmless:
        With exact verifiers and short runs, as in DAPO and Dr. GRPO; the rule is a hint only.

    References:
        Yu et al. 2025, arXiv 2503.14476, section 2.3. Gao et al. 2023, arXiv 2210.10760.
    """
    coefficient = view.number("kl_coef")
    if coefficient is None or coefficient > params.coefficient:
        return None
    start = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    return Detection(
        message=f"KL coefficient is {coefficient:g}: nothing holds the policy to its reference",
        onset=view.onset(start),
        metric="policy/kl_ref",
        evidence={"coefficient": coefficient},
    )
