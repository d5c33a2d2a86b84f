"""Unseen bugs of score tables, of reward parts and of returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..planted.reward_cases import RewardCase, rng
from ..planted.reward_tables import parts, table
from .reward_cases import case


@case("judge-at-its-ceiling")
def _() -> RewardCase:
    r = rng(11)
    score = np.clip(r.normal(1.1, 0.3, 1600), 0, 1)
    return table(score=score, group=np.repeat(np.arange(200), 8))


@case("some-scores-nan")
def _() -> RewardCase:
    r = rng(12)
    score = r.uniform(0, 1, 1000)
    score[r.random(1000) < 0.03] = np.nan
    return table(score=score, group=np.repeat(np.arange(125), 8))


@case("score-of-prompt-only")
def _() -> RewardCase:
    """All answers to a prompt get the prompt's score, up to rounding in float16."""
    r = rng(13)
    score = np.repeat(r.uniform(0, 1, 128), 8) + 1e-4 * r.normal(size=1024)
    return table(score=score, group=np.repeat(np.arange(128), 8))


@case("part-weighted-in-total-only")
def _() -> RewardCase:
    r = rng(14)
    progress, energy = r.normal(size=4000), -r.uniform(0, 5, 4000)
    return parts(progress=progress, energy=energy, total=progress + 0.01 * energy)


@case("part-added-twice")
def _() -> RewardCase:
    r = rng(15)
    progress, contact = r.normal(size=4000), (r.random(4000) < 0.3).astype(float)
    return parts(progress=progress, contact=contact, total=progress + 2 * contact)


@case("two-parts-read-one-sensor")
def _() -> RewardCase:
    r = rng(16)
    left = r.normal(size=4000)
    return parts(left__foot=left, right__foot=left.copy(), energy=-r.uniform(0, 1, 4000))


@case("reward-up-success-flat")
def _() -> RewardCase:
    """The reward of a training rises by fifteen of its spreads, the success rate stays where it was, at a tenth."""
    r = rng(17)
    update = np.arange(200)
    reward = update / 40 + 0.3 * r.normal(size=200)
    return table(update=update, reward=reward, success=np.clip(0.1 + 0.02 * r.normal(size=200), 0, 1))


@case("success-scored-as-failure-count")
def _() -> RewardCase:
    """The reward is the number of failed tests; the human says how good the answer is."""
    r = rng(18)
    good = r.uniform(0, 10, 500)
    return table(reward=np.round(10 - good + r.normal(0, 1, 500)).clip(0, 10), human__score=np.round(good))


def normal(mean: float, spread: float, seed: int, n: int = 100) -> Any:
    return rng(seed).normal(mean, spread, n)


@case("expert-no-better-than-random")
def _() -> RewardCase:
    return RewardCase(returns={"random": normal(20, 9, 21), "expert": normal(20, 9, 22)})


@case("trained-returns-hold-nan")
def _() -> RewardCase:
    trained = normal(150, 20, 23)
    trained[[3, 40]] = np.nan
    return RewardCase(returns={"random": normal(20, 9, 24), "trained": trained})


@case("trained-learnt-a-twentieth")
def _() -> RewardCase:
    """Clearly better than random, and a twentieth of the way to the expert."""
    return RewardCase(
        returns={"random": normal(20, 5, 25), "trained": normal(29, 5, 26), "expert": normal(200, 10, 27)}
    )


@case("verifier-passes-a-third", "harmless")
def _() -> RewardCase:
    r = rng(31)
    hard = np.repeat(r.beta(2, 4, 128), 8)
    return table(score=(r.random(1024) < hard).astype(int), group=np.repeat(np.arange(128), 8))


@case("marks-from-one-to-five", "harmless")
def _() -> RewardCase:
    r = rng(32)
    quality = r.normal(3.2, 1.0, 800)
    marks, human = (np.clip(np.round(quality + 0.5 * r.normal(size=800)), 1, 5) for _ in range(2))
    return table(score=marks, human__score=human, group=np.repeat(np.arange(100), 8))


@case("rare-bonus-among-parts", "harmless")
def _() -> RewardCase:
    r = rng(33)
    success = 5.0 * (r.random(5000) < 0.04)
    return parts(progress=r.normal(0, 1, 5000), energy=-r.uniform(0, 1, 5000), success=success)


@case("negative-returns-that-rise", "harmless")
def _() -> RewardCase:
    returns = {"random": normal(-1200, 280, 34), "trained": normal(-160, 90, 35), "expert": normal(-150, 85, 36)}
    return RewardCase(returns=returns)


@case("success-rises-late", "harmless")
def _() -> RewardCase:
    r = rng(37)
    update = np.arange(200)
    reward = np.interp(update, [0, 120, 199], [0.0, 0.5, 4.0]) + 0.2 * r.normal(size=200)
    success = np.interp(update, [0, 120, 199], [0.05, 0.1, 0.8]) + 0.03 * r.normal(size=200)
    return table(update=update, reward=reward, success=np.clip(success, 0, 1))
