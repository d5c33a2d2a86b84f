"""The rule `shaped-diverges-from-raw`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import LEAST, began, falls, moved
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `shaped-diverges-from-raw`. Engineering defaults where no source is named."""

    rise_z: float = 5.0
    """Standard errors by which the shaped reward must have risen."""
    fall_z: float = 3.0
    """Standard errors by which the raw one must have fallen."""


PPO = synth.like("PPO", drop=("reward/episode_return_mean",))
CASES = (
    fires(
        "shaping is earned, the task is not",
        lambda: PPO(
            {
                "reward/shaped_return_mean": synth.ramp(5, 60, 0.03),
                "reward/raw_episode_return": synth.ramp(40, 10, 0.05),
            }
        ),
    ),
    healthy(
        "both rise",
        lambda: PPO(
            {
                "reward/shaped_return_mean": synth.ramp(5, 60, 0.03),
                "reward/raw_episode_return": synth.ramp(10, 80, 0.05),
            }
        ),
    ),
    near_miss(
        "normalised return flat, raw rises",
        lambda: PPO(
            {"reward/shaped_return_mean": synth.flat(1.0, 0.1), "reward/raw_episode_return": synth.ramp(10, 80, 0.05)}
        ),
    ),
    near_miss(
        "raw is noise",
        lambda: PPO(
            {"reward/shaped_return_mean": synth.ramp(5, 60, 0.03), "reward/raw_episode_return": synth.walk(20, 3)}
        ),
    ),
)


@rule(
    "RWD020",
    "shaped-diverges-from-raw",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(
        ("reward/shaped_return_mean", "reward/final_mean"),
        ("reward/raw_episode_return", "reward/extrinsic_mean", "reward/train_mean"),
    ),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("train-eval-gap", "heldout-regression"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The shaped reward rises while the raw reward of the task falls.

    What it means:
        What the learner sees goes up; what the environment pays without shaping goes down.

    Why it matters:
        Shaping that is not a potential difference changes the optimum; the policy then collects shaping.

    Usual causes:
        A bonus that can be earned in a loop; a potential that is not 0 at the end; a normaliser that drifts.

    What to try:
        Sum the shaping over an episode: with a potential it is minus the first potential, whatever the policy did.

    When it is harmless:
        A curriculum whose raw task gets harder.

    References:
        Ng, Harada and Russell 1999, "Policy invariance under reward transformations". Grzes 2017 (end of episodes).
    """
    shaped = view.get("reward/shaped_return_mean", "reward/final_mean")
    raw = view.get("reward/raw_episode_return", "reward/extrinsic_mean", "reward/train_mean")
    if shaped is None or raw is None or min(len(shaped), len(raw)) < 2 * LEAST:
        return None
    gain, loss = moved(shaped), moved(raw)
    if gain.z < params.rise_z or not falls(raw, params.fall_z):
        return None
    return Detection(
        message=f"shaped {gain.reference:.3g} to {gain.recent:.3g}, raw {loss.reference:.3g} to {loss.recent:.3g}",
        onset=began(view, raw),
        metric=raw.metric,
        evidence={
            "shaped_opening": gain.reference,
            "shaped_recent": gain.recent,
            "raw_opening": loss.reference,
            "raw_recent": loss.recent,
        },
    )
