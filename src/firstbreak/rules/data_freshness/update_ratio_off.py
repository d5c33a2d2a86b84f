"""The rule `update-ratio-off`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `update-ratio-off`: engineering defaults, except where a source is named."""

    factor: float = 1.5
    """Measured updates per environment step over the configured ratio, either way. Counting conventions differ by
    less; parallel environments by whole factors."""
    points: int = 4
    """Logged points."""


REPLAY = synth.like("SAC", clock="env_steps", step=1000.0, config={"train_freq": 1, "gradient_steps": -1, "n_envs": 8})

CASES = (
    fires("one update where eight were meant", lambda: REPLAY({"optim/n_updates": synth.ramp(0, 15_000, 0.0)})),
    healthy("one update a step", lambda: REPLAY({"optim/n_updates": synth.ramp(0, 120_000, 0.0)})),
    near_miss("a tenth fewer", lambda: REPLAY({"optim/n_updates": synth.ramp(0, 108_000, 0.0)})),
)


@rule(
    "DAT008",
    "update-ratio-off",
    link=Link.DATA_FRESHNESS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("optim/n_updates", "replay/ratio"),),
    needs_config=("train_freq", "gradient_steps"),
    when=("replay",),
    min_points=4,
    params=Params(),
    cases=CASES,
    implies=("replay-stale", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The number of updates per environment step is not what the configuration says.

    What it means:
        Updates counted against environment steps differ from gradient_steps / (train_freq x environments).

    Why it matters:
        With parallel environments the update ratio silently falls by their number, or rises where steps are counted
        per environment.

    Usual causes:
        train_freq counts calls of the vectorised environment; gradient_steps left at 1 with many environments.

    What to try:
        Set gradient_steps to -1 (as many as steps collected) or to the number of environments.

    When it is harmless:
        Where the ratio was lowered on purpose and the configuration does not show it.

    References:
        Stable-Baselines3 documentation, examples: multiprocessing with off-policy algorithms.
    """
    train_freq, steps = view.number("train_freq"), view.number("gradient_steps")
    if train_freq is None or steps is None or train_freq <= 0 or steps == 0:
        return Skip("the configured update ratio is not a number", ("config train_freq", "config gradient_steps"))
    environments = view.number("n_envs") or 1.0
    wanted = 1.0 if steps < 0 else steps / (train_freq * environments)
    updates, ratio = view.get("optim/n_updates"), view.get("replay/ratio")
    if ratio is not None and len(ratio):
        points, measured = ratio, median(ratio.value[-8:])
    elif updates is not None and len(updates) >= params.points and view.clock == "env_steps":
        half = len(updates) // 2
        moved = updates.step[-1] - updates.step[half - 1]
        points, measured = updates, float((updates.value[-1] - updates.value[half - 1]) / max(moved, 1e-300))
    else:
        return Skip("updates cannot be set against environment steps", ("replay/ratio", "time/env_steps"))
    if wanted <= 0 or measured <= 0 or 1 / params.factor < measured / wanted < params.factor:
        return None
    return Detection(
        message=f"{measured:.3g} updates per environment step, configured {wanted:.3g}",
        onset=view.onset(float(points.step[0])),
        metric=points.metric,
        evidence={"measured": measured, "configured": wanted, "environments": environments},
    )
