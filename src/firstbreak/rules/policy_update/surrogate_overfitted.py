"""The rule `surrogate-overfitted`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import Points, RunView

LOSS, KL = "policy/loss", ("policy/kl_old", "policy/kl_k1")
NORMALISING = ("sb3", "stable_baselines3", "rsl_rl", "cleanrl")
"""Frameworks whose PPO normalises advantages unless told otherwise."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `surrogate-overfitted`."""

    gain: float = 0.08
    """What updates gain of their surrogate, in standard deviations of the advantage, median over `rows`. In the healthy
    runs of PPO among the ordinary logs and in the fault benchmark's development half (2026-11-25) 0.052 is the most."""
    rows: int = 8
    """Updates on end. Engineering default: the shortest stretch with a stated error."""
    each: float = 0.5
    """Share of it that no update loses in `around` rows before and after. The loss of one minibatch alone scatters to
    both sides of 0, for its advantages do not have the mean 0. Engineering default."""
    around: int = 16
    """Rows on either side in which that holds. Engineering default."""
    share: float = 0.25
    """Share of half the squared gain that the KL must reach where it is logged; by the inequality of Cauchy and Schwarz
    ratios whose surrogate gains g scatter by g or more, and KL is half their variance. Less says that advantages are
    not normalised, so that the loss has another unit. Engineering default."""


PPO = synth.like("PPO")
CASES = (
    fires("many passes over each batch", lambda: PPO({LOSS: synth.flat(-0.2, 0.2), KL[0]: synth.flat(0.08, 0.2)})),
    healthy("a percent or two", lambda: PPO({})),
    near_miss("eager, early on", lambda: PPO({LOSS: synth.flat(-0.04, 0.2), KL[0]: synth.flat(0.03, 0.2)})),
    near_miss(
        "the loss of the last minibatch, as TorchRL's scripts log it",
        lambda: PPO({LOSS: synth.flat(-0.08, 1.2), KL[0]: synth.flat(0.03, 0.2)}),
    ),
    near_miss(
        "advantages in units of the reward: the KL says so",
        lambda: PPO({LOSS: synth.flat(-2.0, 0.2), KL[0]: synth.flat(0.008, 0.2)}),
    ),
    near_miss(
        "a few such batches", lambda: PPO({LOSS: synth.spikes(-0.01, -0.3, at=(0.3, 0.6)), KL[0]: synth.flat(0.05)})
    ),
)


@rule(
    "POL073",
    "surrogate-overfitted",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(LOSS,),
    when=("control", "ppo_clip"),
    min_points=24,
    params=Params(),
    cases=CASES,
    with_loss=True,
    implies=(
        "clip-fraction-high",
        "entropy-collapse",
        "action-std-collapse",
        "return-below-start",
        "return-collapse",
        "return-falls-at-once",
        "return-oscillates",
        "reward-flat",
        "learns-to-fail",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """Each update gains far more of its own surrogate than a batch can tell about the policy.

    What it means:
        The loss of the policy is minus the advantage, in its standard deviations, weighted with the ratio. A gain of
        0.1 and more, update after update, takes ratios that differ from 1 by as much on average, at the end by more.

    Why it matters:
        What is gained is noise of one batch: the advantage of a few actions that were lucky. The next batch shows less.

    Usual causes:
        Far too many passes over each batch; a clip range that is no limit; a learning rate that is too high.

    What to try:
        Print the clip fraction by pass; a tenth of the passes with all else unchanged.

    When it is harmless:
        With advantages that are not normalised the number has another meaning.

    References:
        Schulman et al. 2017, arXiv 1707.06347, equation 7. Andrychowicz et al. 2021, arXiv 2006.05990 (passes).
    """
    loss = view.get(LOSS)
    assert loss is not None
    if len(loss) < params.rows + params.around:
        return None
    usual = np.median(np.lib.stride_tricks.sliding_window_view(loss.value, params.rows), axis=1)
    found = [n for n in np.flatnonzero(usual <= -params.gain).tolist() if one_sided(loss, n, params)]
    if not found:
        return None
    start = found[0]
    gain = -float(usual[start])
    lo, hi = float(loss.step[start]), float(loss.step[start + params.rows - 1])
    if not normalised(view, lo, hi, gain, params):
        return None
    return Detection(
        message=f"updates gain {gain:.2g} of their surrogate (in deviations of the advantage), {params.rows} on end",
        onset=view.onset(lo),
        metric=LOSS,
        evidence={"gain": gain, "rows": params.rows},
    )


def normalised(view: RunView, lo: float, hi: float, gain: float, params: Params) -> bool:
    """Whether advantages have a standard deviation of 1: the KL is as large as the gain asks for."""
    if view.config("normalize_advantage") is False:
        return False
    kl: Points | None = view.get(*KL)
    if kl is not None:
        there = kl.value[(kl.step >= lo) & (kl.step <= hi)]
        return there.size > 0 and median(np.abs(there)) >= params.share * 0.5 * gain**2
    return view.framework in NORMALISING


def one_sided(loss: Points, start: int, params: Params) -> bool:
    """Whether no loss around the stretch from row `start` lies clearly above 0."""
    near = loss.value[max(0, start - params.around) : start + params.rows + params.around]
    return bool(near.max() <= params.each * params.gain)
