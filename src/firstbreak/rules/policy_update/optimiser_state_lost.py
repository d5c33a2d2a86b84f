"""The rule `optimiser-state-lost`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import Event, RunLog
from firstbreak.stats import median, robust_z, safe_log
from firstbreak.view import Points, RunView

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
    chance: float = 0.05
    """Where the updates looked at after all resumes are more than this share of the run, a jump falls among them by
    chance; then at least half of the resumes must show it. The usual 5 % level."""


def resumed(log: RunLog, at: float) -> RunLog:
    """`log` with a resume at position `at`."""
    return replace(log, events=(Event("resume", at),))


PPO = synth.like("PPO")


def often(*jumps: float) -> RunLog:
    """A run resumed every ten updates, with jumps of KL at these shares of it."""
    log = PPO({"policy/kl_old": synth.spikes(0.01, 0.4, at=jumps)})
    return replace(log, events=tuple(Event("resume", at) for at in range(10, 120, 10)))


CASES = (
    fires("KL jumps after the resume", lambda: resumed(PPO({"policy/kl_old": synth.spikes(0.01, 0.4, at=(0.5,))}), 60)),
    healthy("no resume", lambda: PPO({})),
    healthy("smooth resume", lambda: resumed(PPO({}), 60)),
    near_miss("one jump, resumed every ten updates", lambda: often(0.5)),
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
        jumps = [jump for at in resumes if (jump := after_resume(points, at, params)) is not None]
        lost = [jump for jump in jumps if jump.far >= params.z and jump.new >= params.factor * jump.old]
        share = params.first * len(resumes) / len(points)
        if not lost or (share > params.chance and len(resumes) > 1 and 2 * len(lost) < len(jumps)):
            continue
        jump, name = lost[0], metric.rsplit("/", 1)[1]
        return Detection(
            message=f"{name} is {jump.new / jump.old:.3g} times its level before the resume at {jump.at:g}",
            onset=view.onset(jump.at, jump.where),
            metric=metric,
            evidence={"before": jump.old, "after": jump.new, "resume_step": jump.at},
        )
    return None


@dataclass(frozen=True)
class Jump:
    """The largest of the first updates after a resume, beside the level before it."""

    at: float
    where: float
    old: float
    new: float
    far: float


def after_resume(points: Points, at: float, params: Params) -> Jump | None:
    """The largest update after the resume `at`; `None` where too few updates lie before it."""
    size = np.abs(points.value)
    old = size[points.step < at][-params.before :]
    new, where = size[points.step >= at][: params.first], points.step[points.step >= at][: params.first]
    if old.size < params.before or new.size == 0 or median(old) <= 0:
        return None
    top = int(np.argmax(new))
    far = float(robust_z(safe_log(new), safe_log(old), floor=0.1)[top])
    return Jump(at, float(where[top]), median(old), float(new[top]), far)
