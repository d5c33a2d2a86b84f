"""The rule `rm-overoptimisation`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import HELD_OUT, LEAST, OBJECTIVE, moved
from firstbreak.stats import mad
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `rm-overoptimisation`. Engineering defaults where no source is named."""

    reward_z: float = 5.0
    """Standard errors by which the proxy must have risen."""
    kl_z: float = 4.0
    """Standard errors by which the KL to the reference must have grown."""
    fall_z: float = 3.0
    """Standard errors by which the held-out score must lie below its own best stretch."""
    points: int = 8
    """Held-out points needed to tell a peak from noise."""


RLHF = synth.like("RLHF-PPO")
CASES = (
    fires(
        "score peaks and falls while reward and KL grow",
        lambda: RLHF(
            {
                "reward/eval_mean": synth.after(0.4, synth.ramp(0.9, 0.3, 0.03), synth.ramp(0.4, 1.2, 0.03)),
                "policy/kl_ref": synth.ramp(0.0, 0.8, 0.03),
            }
        ),
    ),
    healthy("score rises with the reward", lambda: RLHF({"reward/eval_mean": synth.ramp(0.4, 0.8, 0.03)})),
    near_miss("score levels off", lambda: RLHF({"reward/eval_mean": synth.ramp(0.4, 0.8, 0.03, until=0.4)})),
    near_miss("noisy evaluation", lambda: RLHF({"reward/eval_mean": synth.walk(0.6, 0.06, rho=0.3)})),
)


@rule(
    "RWD018",
    "rm-overoptimisation",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    any_of=(("policy/kl_ref", "policy/kl_ref_seq"), ("reward/train_mean", "reward/rollout_mean"), HELD_OUT + OBJECTIVE),
    when=("language",),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
    implies=("heldout-regression", "best-long-past", "repetition-rising"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The proxy reward keeps rising with the distance from the reference, but the held-out score is past its peak.

    What it means:
        Reward and KL to the reference grow; the score rose first and has since fallen from its best stretch.

    Why it matters:
        Beyond a certain distance a reward model is optimised for its errors; later checkpoints are worse.

    Usual causes:
        Small or stale reward model; KL coefficient too small; training past the peak.

    What to try:
        Score at least five checkpoints with another judge and stop at the best; refresh or ensemble the reward model.

    When it is harmless:
        When the held-out set changed meanwhile, or its noise is larger than the fall.

    References:
        Gao, Schulman and Hilton 2023, arXiv 2210.10760: for RL the gold reward follows d (a - b ln d) with d the root
        of the KL.
    """
    kl = view.get("policy/kl_ref", "policy/kl_ref_seq")
    reward, score = view.get("reward/train_mean", "reward/rollout_mean"), view.get(*HELD_OUT, *OBJECTIVE)
    if (
        kl is None
        or reward is None
        or score is None
        or min(len(kl), len(reward)) < 2 * LEAST
        or len(score) < params.points
    ):
        return None
    gain, drift = moved(reward), moved(kl)
    if gain.z < params.reward_z or drift.z < params.kl_z:
        return None
    size = max(3, min(LEAST, len(score) // 4))
    means = np.convolve(score.value, np.ones(size) / size, mode="valid")
    best = int(np.argmax(means))
    now, peak = score.value[-size:], score.value[best : best + size]
    noise = mad(np.diff(score.value)) / np.sqrt(2)
    error = max(noise, float(now.std()), float(peak.std())) * np.sqrt(2 / size)
    fall = float(means[best] - now.mean())
    # The best of many windows is high by chance: with k windows by about sqrt(2 ln k) errors.
    luck = np.sqrt(2 * np.log(max(len(means), 2)))
    if best == 0 or best + size > len(score) - size or fall <= (params.fall_z + luck) * error:
        return None
    return Detection(
        message=f"score fell from its peak of {means[best]:.3g} to {now.mean():.3g} as reward and KL grew",
        onset=view.onset(score.step[best], score.step[min(best + 2 * size, len(score) - 1)]),
        metric=score.metric,
        evidence={
            "peak": float(means[best]),
            "recent": float(now.mean()),
            "kl_recent_nats": drift.recent,
            "reward_recent": gain.recent,
            "peak_kl_nats": peak_of_law(kl, score),
        },
    )


def peak_of_law(kl: Points, score: Points) -> float:
    """Return the KL at which the fitted law of Gao et al. peaks: score = c + d (a - b ln d), d = sqrt(KL).

    NaN where the fit has no peak or too few rows hold both.
    """
    common = sorted(set(kl.step.tolist()) & set(score.step.tolist()))
    d = np.sqrt(np.maximum(kl.value[np.isin(kl.step, common)], 0.0))
    gold = score.value[np.isin(score.step, common)]
    usable = d > 0
    if int(usable.sum()) < LEAST:
        return float("nan")
    d, gold = d[usable], gold[usable]
    (_, a, minus_b), *_ = np.linalg.lstsq(np.stack([np.ones_like(d), d, d * np.log(d)], axis=1), gold, rcond=None)
    if minus_b >= 0:
        return float("nan")
    # The slope a - b ln d - b is 0 at ln d = a / b - 1; past the fitted range it is a guess.
    peak = float(np.exp(np.clip(-a / minus_b - 1, -30.0, 30.0)))
    return peak**2 if float(d.min()) <= peak <= float(d.max()) else float("nan")
