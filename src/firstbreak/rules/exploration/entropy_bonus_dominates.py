"""The rule `entropy-bonus-dominates`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-bonus-dominates`."""

    limit: float = 0.5
    """Coefficient over the spread of the advantages: one nat against half a standard deviation. Engineering default;
    usual settings for a spread of 1 are 0 to 0.01."""
    kept: float = 0.9
    """Share of its opening that the entropy must have kept for an error: the bonus has won. Engineering default."""
    rows: int = 20
    """Rows of entropy after which that can be said. Engineering default."""


COEFFICIENT = "policy/ent_coef"
HIGH = synth.like("PPO", config={"ent_coef": 10.0, "normalize_advantage": True})

CASES = (
    fires("10 in the settings, entropy stays", lambda: HIGH({"policy/entropy": synth.flat(0.69, 0.001)})),
    fires("raised on the way", lambda: synth.like("PPO")({COEFFICIENT: synth.jump(0.01, 5.0, noise=0)})),
    healthy("0.01", lambda: synth.like("PPO", config={"ent_coef": 0.01})({})),
    near_miss("0.3", lambda: synth.like("PPO", config={"ent_coef": 0.3})({})),
    near_miss(
        "10 against advantages of hundreds",
        lambda: synth.like("PPO", config={"ent_coef": 10.0, "normalize_advantage": False})(
            {"advantage/std": synth.flat(400.0, 0.05), "advantage/normalised_std": synth.flat(400.0, 0.05)}
        ),
    ),
)


@rule(
    "EXP023",
    "entropy-bonus-dominates",
    link=Link.EXPLORATION,
    component=Component.LOSS,
    severity=Severity.WARNING,
    when=("on_policy",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("entropy-stuck-high", "entropy-growing", "action-std-growth", "reward-flat", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The coefficient of the entropy bonus is larger than what the advantages can pull against.

    What it means:
        One nat of entropy is worth more than half a standard deviation of the advantages.

    Why it matters:
        The policy is paid for being random; it never commits, or forgets what it had learned.

    Usual causes:
        A temperature of SAC taken for PPO's coefficient; a bonus summed over dimensions or tokens; a controller.

    What to try:
        Set it to 0 for a short run: entropy must fall and the return rise.

    When it is harmless:
        With advantages that are not normalised and large; where their spread is logged the rule allows for it.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990, section 3.8 (regularisation). Ahmed et al. 2019, arXiv 1811.11214.
    """
    logged, planned = view.get(COEFFICIENT), view.number("ent_coef")
    if logged is not None and len(logged):
        used, at = logged.last, logged.step[int((logged.value > params.limit).argmax())]
    elif planned is not None:
        used, at = planned, min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
    else:
        return Skip("the coefficient is not known", (COEFFICIENT, "config ent_coef"))
    spread = 1.0
    raw = view.get("advantage/std")
    if view.config("normalize_advantage") is False and raw is not None and len(raw):
        spread = max(1.0, median(raw.value))
    if used <= params.limit * spread:
        return None
    entropy = view.get("policy/entropy")
    won = entropy is not None and len(entropy) >= params.rows and opening(entropy.value) > 0
    sure = won and entropy is not None and median(entropy.value[-5:]) >= params.kept * opening(entropy.value)
    return Detection(
        message=f"entropy coefficient {used:g} against advantages of spread {spread:.3g}",
        onset=view.onset(float(at)),
        metric=COEFFICIENT,
        evidence={"coefficient": used, "advantage_std": spread, "limit": params.limit * spread},
        severity=Severity.ERROR if sure else None,
    )
