"""The rule `kl-estimator-misuse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.view import RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Names that `kl-estimator-misuse` looks for (Schulman 2020, "Approximating KL divergence")."""

    signed: tuple[str, ...] = ("k1", "kl")
    """Estimators whose gradient, used as a loss on on-policy samples, averages to 0."""


def grpo(estimator: str, beta: float = 0.04, **config: object) -> RunLog:
    """A healthy GRPO run with this estimator and coefficient."""
    return synth.like("GRPO", config={"kl_estimator": estimator, "kl_coef": beta, **config})({})


CASES = (
    fires("k1 as a loss", lambda: grpo("k1")),
    healthy("k3 as a loss", lambda: grpo("k3")),
    near_miss("k1, coefficient 0", lambda: grpo("k1", 0.0)),
    near_miss(
        "k1 in the reward",
        lambda: synth.like("RLHF-PPO", config={"kl_estimator": "k1", "kl_coef": 0.05})({}),
    ),
    fires(
        "k1 as a loss beside a value function",
        lambda: synth.like("RLHF-PPO", config={"kl_estimator": "k1", "kl_coef": 0.05, "kl_in_loss": True})({}),
    ),
    near_miss("k1 in the reward of groups", lambda: grpo("k1", kl_in_loss=False)),
)


@rule(
    "POL023",
    "kl-estimator-misuse",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.INFO,
    needs_config=("kl_estimator", "kl_coef"),
    when=("language", "reference"),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("kl-ref-runaway",),
)
def detect(view: RunView, params: Params) -> Answer:
    """The KL penalty uses an estimator whose gradient averages to 0 where it is used.

    What it means:
        The signed estimate k1 = log pi - log pi_ref is right as a part of the reward. As a loss on the policy's own
        samples its expected gradient is that of E[log pi], which is 0.

    Why it matters:
        The penalty is paid in the loss value and does nothing to the policy, but adds noise.

    Usual causes:
        The estimator's name carried over from a reward-side penalty.

    What to try:
        Move the penalty into the reward, or use k2 (or k3) as the loss.

    When it is harmless:
        Methods with a value function put the penalty into the reward, and so do AReaL and others for groups where their
        settings say so; there k1 is right and not reported.

    References:
        Schulman 2020, "Approximating KL divergence". Liu et al. 2025, arXiv 2510.01555.
    """
    estimator = str(view.config("kl_estimator", "")).lower()
    coefficient = view.number("kl_coef")
    if estimator not in params.signed or not coefficient or coefficient <= 0 or not _in_loss(view):
        return None
    start = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    return Detection(
        message=f"KL penalty of weight {coefficient:g} as a loss with {estimator}: its expected gradient is 0",
        onset=view.onset(start),
        metric="policy/kl_ref",
        evidence={"estimator": estimator, "coefficient": coefficient},
    )


def _in_loss(view: RunView) -> bool:
    """Whether the penalty is a term of the loss: as the settings say, else as is usual for the algorithm."""
    said = view.config("kl_in_loss")
    return said if isinstance(said, bool) else "groups" in traits_of(view.algorithm)
