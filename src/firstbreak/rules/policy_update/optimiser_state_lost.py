"""The rule `optimiser-state-lost`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import Event, RunLog
from firstbreak.stats import median, robust_z, safe_log
from firstbreak.view import RunView

SHOWS = ("policy/kl_old", "optim/weight_delta", "optim/grad_norm")


@dataclass(frozen=True)
class Params:
    """Thresholds of `optimiser-state-lost`; engineering defaults where no source is named."""

    factor: float = 5.0
    """How many times its level before the resume the largest of the first updates must be. Adam's first steps with
    empty moments have full size whatever the gradient (Kingma and Ba 2015, section 2.1). Engineering default."""
    z: float = 6.0
    """The same in robust standard deviations of the logarithm."""
    before: int = 8
    """Updates before the resume that make the level."""
    first: int = 5
    """Updates after it that are looked at."""


def resumed(log: RunLog, at: float) -> RunLog:
    """`log` with a resume at position `at`."""
    return replace(log, events=(Event("resume", at),))


PPO = synth.like("PPO")

CASES = (
    fires("KL jumps after the resume", lambda: resumed(PPO({"policy/kl_old": synth.spikes(0.01, 0.4, at=(0.5,))}), 60)),
    healthy("no resume", lambda: PPO({})),
    healthy("smooth resume", lambda: resumed(PPO({}), 60)),
    near_miss("spike elsewhere", lambda: resumed(PPO({"policy/kl_old": synth.spikes(0.01, 0.4, at=(0.8,))}), 60)),
)


@rule(
    "POL009",
    "optimiser-state-lost",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    severity=Severity.WARNING,
    any_of=(SHOWS,),
    when=("policy_gradient",),
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("kl-overshoot", "return-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Right after a resume the policy takes far larger steps than before it.

    What it means:
        KL (or the weight change) of the first updates after the resume is many times its level before.

    Why it matters:
        An optimiser without its moments takes full-size steps until they are rebuilt, over about 1 / (1 - beta2)
        updates; a good policy can be lost in the first of them.

    Usual causes:
        Optimiser, loss scaler or normaliser not in the checkpoint; learning-rate schedule started again.

    What to try:
        Save, load and run one update on the same batch in both processes; the weights must agree.

    When it is harmless:
        When the environment or the data were changed at the resume on purpose.

    References:
        Kingma and Ba 2015, arXiv 1412.6980, section 3 (bias correction).
    """
    resumes = [e.at for e in view.log.events if e.name in ("resume", "restart") and e.at <= view.hi]
    if not resumes:
        return Skip("the run was not resumed", ("event resume",))
    for metric in SHOWS:
        points = view.get(metric)
        if points is None or len(points) == 0:
            continue
        size = np.abs(points.value)
        for at in resumes:
            old = size[points.step < at][-params.before :]
            new, where = size[points.step >= at][: params.first], points.step[points.step >= at][: params.first]
            if old.size < params.before or new.size == 0 or median(old) <= 0:
                continue
            top = int(np.argmax(new))
            far = float(robust_z(safe_log(new), safe_log(old), floor=0.1)[top])
            if new[top] >= params.factor * median(old) and far >= params.z:
                name = metric.rsplit("/", 1)[1]
                return Detection(
                    message=f"{name} is {new[top] / median(old):.3g} times its level before the resume at {at:g}",
                    onset=view.onset(at, where[top]),
                    metric=metric,
                    evidence={"before": median(old), "after": float(new[top]), "resume_step": at},
                )
    return None
