"""The rule `minibatch-of-one`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `minibatch-of-one`: engineering defaults, except where a source is named."""

    least: int = 2
    """Samples that a standard deviation needs."""


LEFTOVER = synth.like("PPO", config={"batch_size": 64, "n_steps": 129, "n_envs": 1, "normalize_advantage": True})
EVEN = synth.like("PPO", config={"batch_size": 64, "n_steps": 128, "n_envs": 1, "normalize_advantage": True})
RAW = synth.like("PPO", config={"batch_size": 64, "n_steps": 129, "n_envs": 1, "normalize_advantage": False})

CASES = (
    fires("one sample left over", lambda: LEFTOVER({})),
    healthy("even split", lambda: EVEN({})),
    near_miss("one left over, not normalised", lambda: RAW({})),
)


@rule(
    "NUM014",
    "minibatch-of-one",
    link=Link.NUMERICS,
    component=Component.ADVANTAGE,
    severity=Severity.WARNING,
    needs_config=("batch_size", "normalize_advantage"),
    when=("on_policy",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("nonfinite-metric",),
)
def detect(view: RunView, params: Params) -> Answer:
    """A minibatch of one sample has no standard deviation, and advantages are normalised by it.

    What it means:
        The rollout does not divide evenly and leaves one sample over, or the minibatch size is 1.

    Why it matters:
        The advantage of that minibatch becomes NaN (or exactly 0), and NaN spreads to the weights.

    Usual causes:
        Odd numbers of environments or steps.

    What to try:
        Choose a batch size that divides steps times environments, or drop the last minibatch.

    When it is harmless:
        Where the framework leaves single samples unnormalised (Stable-Baselines3 does).

    References:
        DLR-RM/stable-baselines3 issue 440.
    """
    size, steps = view.number("batch_size"), view.number("n_steps")
    if size is None or not view.config("normalize_advantage"):
        return None
    total = (steps or 0) * (view.number("n_envs") or 1)
    left = int(total % size) if steps and size >= 1 else 0
    if view.framework == "stable_baselines3" or (int(size) >= params.least and left != 1):
        return None
    return Detection(
        message=f"{total:.0f} samples in minibatches of {size:.0f} leave one of a single sample to normalise",
        onset=view.onset(0.0),
        metric="advantage/std",
        evidence={"samples": total, "batch_size": size, "left_count": left},
    )
