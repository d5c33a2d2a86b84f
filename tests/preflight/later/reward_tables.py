"""Later bugs of score tables, of reward parts and of returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..planted.reward_cases import RewardCase, rng
from ..planted.reward_tables import parts, table
from .reward_cases import case


def answers(seed: int, prompts: int = 100) -> tuple[Any, Any, Any]:
    """How good each of eight answers to each prompt is, between 0 and 1; a noise; the number of the prompt."""
    r = rng(seed)
    hard = r.normal(0, 0.15, (prompts, 1))
    quality = np.clip(0.5 + hard + 0.18 * r.normal(size=(prompts, 8)), 0, 1).ravel()
    return quality, r.normal(size=8 * prompts), np.repeat(np.arange(prompts), 8)


@case("timeouts-score-full-marks")
def _() -> RewardCase:
    """The checker answers 1.0 where it ran out of time, whatever the answer was worth."""
    quality, noise, group = answers(41)
    late = rng(42).random(800) < 0.12
    score = np.where(late, 1.0, np.clip(0.9 * quality + 0.03 * noise, 0, 0.93))
    return table(score=score, human__score=np.round(1 + 4 * quality), group=group)


@case("two-judges-two-scales")
def _() -> RewardCase:
    """One judge marks from 0 to 1, the other from 0 to 10, and rows of both stand in one column."""
    quality, noise, group = answers(43)
    score = np.clip(quality + 0.05 * noise, 0, 1)
    return table(score=np.where(rng(44).random(800) < 0.5, 10 * score, score), human__score=quality, group=group)


@case("scores-one-answer-late")
def _() -> RewardCase:
    """Within each prompt an answer has the score of the answer before it."""
    quality, noise, group = answers(45)
    score = quality + 0.05 * noise
    late = np.roll(score.reshape(-1, 8), 1, axis=1).ravel()
    return table(score=late, human__score=np.round(1 + 4 * quality), group=group)


@case("judge-reads-the-beginning-only")
def _() -> RewardCase:
    """What stands after the first lines is not read, so within a prompt the shorter answer wins."""
    r = rng(46)
    length = r.integers(60, 900, 1024)
    return table(
        score=10 - 0.01 * length + 0.4 * r.normal(size=1024), length=length, group=np.repeat(np.arange(128), 8)
    )


@case("kl-penalty-added")
def _() -> RewardCase:
    r = rng(47)
    task, kl = (r.random(4000) < 0.4).astype(float), 0.3 * r.gamma(2.0, 0.5, 4000)
    return parts(task=task, kl__penalty=kl)


@case("share-of-tests-floored")
def _() -> RewardCase:
    """`int(passed / tests)` is 0 unless every one of the tests passes."""
    r = rng(48)
    share = r.binomial(12, np.repeat(r.beta(3, 3, 128), 8)) / 12
    return table(score=np.floor(share), group=np.repeat(np.arange(128), 8))


@case("scores-become-per-cent-midway")
def _() -> RewardCase:
    r = rng(49)
    update = np.arange(200)
    success = np.clip(0.4 + 0.03 * r.normal(size=200), 0, 1)
    reward = (success + 0.02 * r.normal(size=200)) * np.where(update >= 100, 100, 1)
    return table(update=update, reward=reward, success=success)


@case("energy-as-cost", "harmless")
def _() -> RewardCase:
    r = rng(61)
    return parts(progress=r.normal(0.2, 1, 5000), energy__cost=-r.uniform(0, 0.8, 5000), upright=r.uniform(0, 1, 5000))


@case("share-of-ten-tests", "harmless")
def _() -> RewardCase:
    """Tenths from 0 to 1, a part of them exactly 0 and a part exactly 1, in accord with people."""
    r = rng(62)
    chance = np.clip(np.repeat(r.beta(1.2, 1.2, 128), 8) + 0.1 * r.normal(size=1024), 0, 1)
    score = r.binomial(10, chance) / 10
    return table(score=score, human__score=np.round(1 + 4 * chance), group=np.repeat(np.arange(128), 8))


@case("longer-is-a-little-better", "harmless")
def _() -> RewardCase:
    """Longer answers say a little more, and are marked so; the human agrees."""
    r = rng(63)
    length = r.integers(80, 600, 1024)
    quality = 0.0008 * length + 0.4 * r.normal(size=1024)
    score = quality + 0.15 * r.normal(size=1024)
    human = np.round(3 + quality)
    return table(score=score, length=length, human__score=human, group=np.repeat(np.arange(128), 8))


@case("returns-of-small-size", "harmless")
def _() -> RewardCase:
    """Returns in parts of the stake: a few hundredths."""
    returns = {"random": (-0.01, 0.015), "trained": (0.05, 0.014), "expert": (0.056, 0.015)}
    return RewardCase(returns={n: rng(64 + i).normal(*at, 100) for i, (n, at) in enumerate(returns.items())})
