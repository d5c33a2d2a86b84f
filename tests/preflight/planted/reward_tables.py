"""Planted bugs of score tables; the columns are named as the list names them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .reward_cases import RewardCase, case, rng


def table(**columns: Any) -> RewardCase:
    return RewardCase(table={name.replace("__", " "): values for name, values in columns.items()})


def parts(**columns: Any) -> RewardCase:
    named = {name.replace("__", " "): values for name, values in columns.items()}
    total = {} if "total" in named or "group" in named else {"total": np.sum(list(named.values()), axis=0)}
    known = [name for name in named if name not in ("total", "group")]
    return RewardCase(table=named | total, components=known)


@case("all-zero")
def _() -> RewardCase:
    return table(reward=np.zeros(1000), episode=np.repeat(np.arange(200), 5))


@case("all-zero", "twin")
def _() -> RewardCase:
    rewards = np.zeros((200, 8))
    paid = rng().permutation(200)[:80]
    rewards[paid, rng(1).integers(0, 8, 80)] = 1
    return table(reward=rewards.ravel(), episode=np.repeat(np.arange(200), 8))


@case("all-one")
def _() -> RewardCase:
    return table(score=np.ones(500), group=np.repeat(np.arange(125), 4))


@case("long-tail")
def _() -> RewardCase:
    return table(reward=rng().lognormal(0, 3, 2000))


@case("long-tail", "twin")
def _() -> RewardCase:
    return table(reward=rng().exponential(1, 2000))


def humps(sign: int) -> RewardCase:
    good = rng().random(400) < 0.5
    score = sign * np.where(good, 1, -1) + 0.1 * rng(1).normal(size=400)
    return table(score=score, label=np.where(good, "good", "bad"))


@case("sign-confusion-mirrored")
def _() -> RewardCase:
    return humps(-1)


@case("sign-confusion-mirrored", "twin")
def _() -> RewardCase:
    return humps(1)


@case("low-correlation-with-human")
def _() -> RewardCase:
    return table(reward=rng().normal(size=400), human__score=rng(1).uniform(1, 5, 400))


@case("low-correlation-with-human", "twin")
def _() -> RewardCase:
    reward = rng().normal(size=400)
    human = np.round(3 + 0.64 * reward + 0.77 * rng(1).normal(size=400))
    return table(reward=100 * reward, human__score=human)


@case("failed-scores-at-default")
def _() -> RewardCase:
    failed = rng().random(1000) < 0.2
    return table(score=np.where(failed, 0.0, rng(1).uniform(0.2, 0.9, 1000)))


@case("component-dominates")
def _() -> RewardCase:
    r = rng()
    return parts(progress=r.normal(size=5000), heading=50 * r.uniform(0, 1, 5000), energy=-r.uniform(0, 2, 5000))


@case("component-dominates", "twin")
def _() -> RewardCase:
    r = rng()
    return parts(progress=r.normal(size=5000), heading=50 + 0.3 * r.normal(size=5000), energy=-r.uniform(0, 2, 5000))


@case("format-bonus-ten-times")
def _() -> RewardCase:
    r = rng()
    correct, bonus = (r.random(800) < 0.4).astype(int), 10 * (r.random(800) < 0.5)
    return parts(correct=correct, format=bonus, group=np.repeat(np.arange(100), 8))


@case("components-cancel")
def _() -> RewardCase:
    bonus = rng().normal(1, 0.5, 5000)
    return parts(speed__bonus=bonus, speed__penalty=-bonus + 0.1 * rng(1).normal(size=5000))


@case("components-do-not-sum")
def _() -> RewardCase:
    r = rng()
    progress, energy = r.normal(size=5000), -r.uniform(0, 1, 5000)
    collision = np.where(r.random(5000) < 0.1, -2.0, 0.0)
    return parts(progress=progress, energy=energy, total=progress + energy + collision)


@case("too-few-episodes-with-signal")
def _() -> RewardCase:
    returns = np.zeros(1000)
    returns[[317, 804]] = 1
    return RewardCase(table={"return": returns, "episode": np.arange(1000)})


@case("too-few-episodes-with-signal", "twin")
def _() -> RewardCase:
    rewards = np.zeros((200, 450))
    rewards[rng().permutation(200)[:90], -1] = 1
    return table(reward=rewards.ravel(), episode=np.repeat(np.arange(200), 450))


def grouped(flat: int) -> RewardCase:
    scores = (rng().random((128, 8)) < 0.5).astype(int)
    scores[:, 0], scores[:, 1] = 0, 1
    scores[:flat] = (np.arange(flat) % 2)[:, None]
    return table(score=scores.ravel(), group=np.repeat(np.arange(128), 8))


@case("groups-without-spread")
def _() -> RewardCase:
    return grouped(120)


@case("groups-without-spread", "twin")
def _() -> RewardCase:
    return grouped(38)


def training(success: Any) -> RewardCase:
    update = np.arange(200)
    reward = update / 50 + 0.2 * rng().normal(size=200)
    return table(update=update, reward=reward, success=np.clip(success + 0.03 * rng(1).normal(size=200), 0, 1))


@case("reward-up-metric-down")
def _() -> RewardCase:
    return training(np.interp(np.arange(200), [0, 80, 199], [0.1, 0.8, 0.4]))


@case("reward-up-metric-down", "twin")
def _() -> RewardCase:
    return training(np.interp(np.arange(200), [0, 80, 199], [0.1, 0.95, 0.95]))


@case("length-pays")
def _() -> RewardCase:
    r = rng()
    length, quality = r.integers(50, 400, 1024), r.normal(0, 0.3, 1024)
    return table(score=0.02 * length + quality, length=length, quality=quality, group=np.repeat(np.arange(128), 8))
