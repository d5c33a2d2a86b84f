"""The rule `evals-missing`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start, progress
from firstbreak.series import Floats
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `evals-missing`. Engineering defaults where no source is named."""

    share: float = 0.5
    """Evaluations made over planned, below which most are missing."""
    least: int = 3
    """Planned evaluations from which the arithmetic is judged."""


EVERY = {"eval_every": 25_000, "n_envs": 1, "total_steps": 120_000}
SAC = synth.like("SAC", config=EVERY, clock="env_steps", step=1000.0)
PLANNED = synth.like("SAC", config={"eval_planned": 4})


def all_made(t: Floats, rng: np.random.Generator) -> Floats:
    """Evaluations made so far when each falls due every 25,000 of 120,000 steps."""
    return np.floor(t * 120 / 25)


def one_pending(t: Floats, rng: np.random.Generator) -> Floats:
    """The same with the latest one still running."""
    return np.maximum(np.floor(t * 120 / 25) - 1, 0)


CASES = (
    fires("counter says 1 of 4", lambda: SAC({"eval/count": synth.constant(1.0)})),
    fires("planned number known", lambda: PLANNED({"eval/count": synth.constant(1.0)})),
    healthy("all made", lambda: SAC({"eval/count": all_made})),
    near_miss("one is still pending", lambda: SAC({"eval/count": one_pending})),
    near_miss("no plan is known", lambda: synth.like("SAC")({"eval/count": synth.constant(1.0)})),
)


@rule(
    "EVA002",
    "evals-missing",
    link=Link.EVALUATION_PROTOCOL,
    component=Component.EVALUATION,
    any_of=(("eval/count", "reward/eval_return_mean", "reward/eval_mean", "reward/score"),),
    across_phases=True,
    params=Params(),
    cases=CASES,
    static=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """Fewer evaluations were made than planned.

    What it means:
        The interval (or the plan) asks for several evaluations up to now; at most half of them are in the log.

    Why it matters:
        The curve between the few points is a guess, and the best checkpoint is chosen among too few.

    Usual causes:
        A test of `step % interval == 0` while the step grows by more than one; evaluation after an early return; an
        evaluation that failed without a word.

    What to try:
        Trigger on crossing a multiple of the interval and log every evaluation with its step.

    When it is harmless:
        When evaluations are written to another file that was not read, or the interval counts calls of each of many
        environments.

    References:
        Step arithmetic; Raffin et al. 2021, "Stable-Baselines3" (eval_freq counts calls, not steps).
    """
    count = view.get("eval/count")
    points = view.logged("reward/eval_return_mean", "reward/eval_mean", "reward/score")
    made = count.max if count is not None and len(count) else float(points.total) if points is not None else 0.0
    shown = count if count is not None and len(count) else points
    assert shown is not None
    plan, every, envs = view.number("eval_planned"), view.number("eval_every"), view.number("n_envs")
    if plan is not None:
        share = progress(view)
        due = plan if ended(view) else np.floor(plan * share) - 1 if share is not None else 0.0
    elif every is not None and every > 0:
        # The interval may count calls of each environment, which makes fewer evaluations due.
        due = np.floor(min(view.hi, view.log.last_step) / every / max(envs or 1.0, 1.0)) - (0 if ended(view) else 1)
    else:
        return Skip("the plan of evaluations is not known", ("config eval_every", "config eval_planned"))
    if due < params.least or made >= params.share * due:
        return None
    known = plan is not None or envs is not None or step_misses(view)
    sure = known and made >= 1 and view.clock in ("env_steps", "updates", "rows")
    return Detection(
        message=f"{made:.0f} of {due:.0f} planned evaluations are in the log",
        onset=from_start(view, shown),
        metric=shown.metric,
        evidence={"evals_made": made, "evals_due": float(due), "step_misses_interval": step_misses(view)},
        severity=Severity.ERROR if sure else Severity.WARNING,
    )


def step_misses(view: RunView) -> bool:
    """Whether the step of the loop does not divide the interval, so that a test of the remainder rarely holds."""
    every, increment = view.number("eval_every"), view.number("step_increment")
    return every is not None and increment is not None and increment > 0 and every % increment != 0
