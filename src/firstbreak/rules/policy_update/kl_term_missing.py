"""The rule `kl-term-missing`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

KL = ("policy/kl_ref", "policy/kl_ref_seq")
COEF = "policy/kl_coef"
GRPO = synth.like("GRPO", framework="trl", config={"kl_coef": 0.04})
NONE = synth.like("GRPO", framework="trl", config={"kl_coef": 0.04}, drop=("policy/kl_ref",))
SHORT = synth.like("GRPO", framework="trl", config={"kl_coef": 0.04}, drop=("policy/kl_ref",), n=3)
OTHER = synth.like("GRPO", framework="verl", config={"kl_coef": 0.04}, drop=("policy/kl_ref",))
PLAIN = synth.like("GRPO", framework="trl", config={"kl_coef": 0.0}, drop=("policy/kl_ref",))


@dataclass(frozen=True)
class Params:
    """Thresholds of `kl-term-missing`; engineering defaults where no source is named."""

    rows: int = 6
    """Updates on end without the term."""


CASES = (
    fires("the settings ask for a KL term, and TRL logs no KL", lambda: NONE({})),
    fires("the coefficient in force becomes 0 half-way", lambda: GRPO({COEF: synth.jump(0.04, 0.0, 0.5, 0.0)})),
    healthy("the KL is logged", lambda: GRPO({COEF: synth.constant(0.04)})),
    near_miss("no KL term is asked for", lambda: PLAIN({COEF: synth.constant(0.0)})),
    near_miss("a framework that need not log its KL", lambda: OTHER({})),
    near_miss("the first rows", lambda: SHORT({})),
)


@rule(
    "POL060",
    "kl-term-missing",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.ERROR,
    any_of=((COEF, "optim/grad_norm"),),
    when=("reference", "groups"),
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "kl-ref-runaway",
        "no-kl-anchor",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The settings ask for a KL term to the reference, and the loss holds none.

    What it means:
        TRL computes and logs the KL whenever its coefficient is not 0. Here the settings name one, and the
        trainer's own is 0 or no KL was logged.

    Why it matters:
        Nothing holds the policy near the model that it began as, while everybody believes that something does.

    Usual causes:
        A setting that a wrapper does not hand on; a trainer built from other arguments than those that are
        logged; an attribute that a callback or a subclass sets.

    What to try:
        Print `trainer.beta` beside `trainer.args.beta` at the first update.

    When it is harmless:
        Where a coefficient is taken to 0 on purpose during training.

    References:
        Reported for wrappers of TRL. Ouyang et al. 2022, arXiv 2203.02155, section 3.5 (what the term is for).
    """
    beta = view.number("kl_coef")
    if view.framework != "trl" or beta is None:
        return Skip(
            "only TRL logs a KL whenever its loss holds one, and then its settings must be known", ("config beta",)
        )
    if beta <= 0:
        return None
    force, norm = view.get(COEF), view.get("optim/grad_norm")
    if force is not None and len(force):
        onset = persistent_onset(force.step, force.value == 0, params.rows)
        if onset is None or force.last != 0:
            return None
        return Detection(
            message=f"the settings hold a KL coefficient of {beta:g}; the trainer's is 0",
            onset=view.onset(*onset),
            metric=COEF,
            evidence={"kl_coef_set": beta, "kl_coef": 0.0},
        )
    kl = view.logged(*KL)
    if norm is None:
        return None
    since = norm.step if kl is None else norm.step[norm.step > kl.step[-1]]
    if len(since) < params.rows:
        return None
    first = float(since[0])
    return Detection(
        message=f"the settings hold a KL coefficient of {beta:g}; no KL is logged in {len(since)} updates",
        onset=view.onset(first if kl is None else float(kl.step[-1]), first),
        metric=KL[0],
        evidence={"kl_coef_set": beta, "updates": len(since)},
    )
