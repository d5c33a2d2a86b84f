"""Small reward samples with one property each, of which the cases of the reward checks are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from firstbreak.preflight.reward.sample import Replay, RewardSample
from firstbreak.preflight.reward.shaped import Shaping
from firstbreak.preflight.reward.shaped import judged as judged_term

Make = Callable[[], RewardSample]


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def sample(rewards: Any, **more: Any) -> RewardSample:
    return RewardSample(rewards, **more)


def steps(rewards: Any, length: int = 20, **more: Any) -> RewardSample:
    """Episodes of equal length, each terminated."""
    values = np.asarray(rewards, dtype=float)
    end = np.arange(values.size) % length == length - 1
    return RewardSample(values, episode=np.arange(values.size) // length, **{"terminated": end, **more})


def played(rewards: Any, length: int = 20, **more: Any) -> RewardSample:
    return steps(rewards, length, **{"source": "random play", **more})


def grouped(flat: int, groups: int = 100) -> RewardSample:
    scores = rng().integers(0, 2, (groups, 8)).astype(float)
    scores[:, 0], scores[:, 1] = 0, 1
    scores[:flat] = (np.arange(flat) % 2)[:, None]
    return sample(scores.ravel(), group=np.repeat(np.arange(groups), 8))


def judged(rho: float, n: int = 400, name: str = "human", **more: Any) -> RewardSample:
    r = rng()
    x = r.normal(size=n)
    return sample(x, reference={name: rho * x + np.sqrt(1 - rho**2) * r.normal(size=n)}, **more)


def parted(weights: dict[str, float], **more: Any) -> RewardSample:
    r = rng()
    parts = {k: w * r.normal(size=1000) for k, w in weights.items()}
    return sample(np.sum(list(parts.values()), axis=0), components=parts, **more)


def balanced(noise: float) -> RewardSample:
    r = rng()
    bonus = r.normal(size=1000)
    penalty = -bonus + noise * r.normal(size=1000)
    return sample(bonus + penalty, components={"bonus": bonus, "penalty": penalty})


def with_dead(name: str, values: Any) -> RewardSample:
    made = parted({"a": 1.0, "b": 0.7})
    return replace(made, components={**made.components, name: values})


def not_adding(share: float) -> RewardSample:
    made = parted({"a": 1.0, "b": 0.7})
    return replace(made, rewards=made.rewards - 5.0 * (rng().random(1000) < share))


def energy(sign: float) -> RewardSample:
    r = rng()
    action = r.uniform(-1, 1, (2000, 2))
    effort = sign * 0.1 * (action**2).sum(axis=1)
    progress = r.normal(size=2000)
    parts = {"progress": progress, "energy": effort}
    return played(progress + effort, components=parts, actions=action)


def training(fall: float) -> RewardSample:
    r = rng()
    step = np.repeat(np.arange(200), 10)
    success = np.clip(step / 80, 0, 1) * 0.9 - fall * np.clip((step - 80) / 120, 0, 1)
    reward = step / 50 + r.normal(0, 0.3, step.size)
    return sample(reward, update=step, metric={"success": (r.random(step.size) < success).astype(float)})


def still(success: float, *, rise: float = 4.0, slope: float = 0.0) -> RewardSample:
    """One row per update: the reward rises by `rise`, success stays at `success` but for a `slope` over training."""
    r = rng()
    rate = np.clip(success + slope * np.arange(200) / 200 + r.normal(0, 0.02, 200), 0, 1)
    reward = rise * np.arange(200) / 200 + r.normal(0, 0.2, 200)
    return sample(reward, update=np.arange(200), metric={"success": rate})


def ceiling(mean: float) -> RewardSample:
    """Scores of samples that a judge cuts at 1."""
    return sample(np.minimum(rng().normal(mean, 0.3, 1600), 1.0))


def one_sensor(noise: float, factor: float = 1.0) -> RewardSample:
    """Two parts that read one quantity, the second with `noise` of its own."""
    left = rng().normal(size=1000)
    right = factor * left + noise * np.random.default_rng(1).normal(size=1000)
    return sample(left + right, components={"left": left, "right": right})


def peaking(after: float) -> RewardSample:
    """One row per update: success rises to 0.8 at update 80, then goes to `after` in a straight line."""
    r = rng()
    success = np.interp(np.arange(200), [0, 80, 199], [0.1, 0.8, after]) + r.normal(0, 0.03, 200)
    reward = np.arange(200) / 50 + r.normal(0, 0.2, 200)
    return sample(reward, update=np.arange(200), metric={"success": success})


def longer(weight: float) -> RewardSample:
    r = rng()
    length = r.integers(20, 400, 640).astype(float)
    score = weight * length / 100 + r.normal(size=640)
    return sample(score, length=length, group=np.repeat(np.arange(80), 8))


def defaults(share: float, value: float) -> RewardSample:
    r = rng()
    scores = r.uniform(0.2, 0.9, 1000)
    scores[: int(1000 * share)] = value
    return sample(scores)


def world(reward: Callable[[Any, Any, Any], Any], **more: Any) -> RewardSample:
    """A random walk in the plane that is pushed by the action, 30 episodes of 40 steps."""
    r = rng()
    state = np.zeros((30, 41, 2))
    action = r.uniform(-1, 1, (30, 40, 2))
    state[:, 0] = r.normal(size=(30, 2))
    for t in range(40):
        state[:, t + 1] = 0.9 * state[:, t] + 0.5 * action[:, t]
    paid = np.asarray(reward(state, action, r), dtype=float)
    flat = {"observations": state[:, :-1], "next_observations": state[:, 1:], "actions": action}
    return played(paid.ravel(), 40, **{k: v.reshape(-1, 2) for k, v in flat.items()}, **more)


def size(state: Any, action: Any, r: Any) -> Any:
    return -(state[:, :-1] ** 2).sum(axis=2) - 0.1 * (action**2).sum(axis=2)


def late(state: Any, action: Any, r: Any) -> Any:
    right = size(state, action, r)
    return np.concatenate([np.zeros((30, 1)), right[:, :-1]], axis=1)


def replays(kind: str, gap: float, same: bool = True, spread: float = 1.0) -> list[Replay]:
    r = rng()
    firsts = [spread * r.normal(size=50) for _ in range(6)]
    return [Replay(kind, a, a + gap * r.normal(size=50), same) for a in firsts]


def remembers(gap: float) -> list[Replay]:
    first = rng().normal(size=50)
    return [Replay("fresh_again", first, first, True), Replay("after_episode", first, first + gap, True)]


def living(bonus: float, goal: float, limit: int | None = 200) -> RewardSample:
    values = np.full(20 * 40, bonus)
    values[19::20] = goal
    return played(values, time_limit=limit)


def circling(again: float) -> RewardSample:
    """Two cells to and fro; the first visit pays 1, later ones `again`; the goal pays 10 and ends the episode."""
    place = np.tile(np.arange(20) % 2, 40).astype(float)
    after = np.tile((np.arange(20) + 1) % 2, 40).astype(float)
    values = np.tile([1.0, 1.0] + [again] * 17 + [10.0], 40)
    after[19::20] = 2.0
    return played(
        values, observations=place[:, None], next_observations=after[:, None],
        actions=np.zeros((800, 1)), time_limit=100,
    )  # fmt: skip


def end_only(length: int) -> RewardSample:
    values = np.zeros(40 * length)
    values[length - 1 :: length] = rng().normal(size=40)
    return played(values, length)


def clipped(bound: float) -> RewardSample:
    return played(np.clip(rng().normal(size=4000), -bound, bound))


def peaked(beyond: float) -> RewardSample:
    """Reward against the distance to a target at 0; places beyond it pay as `beyond` says."""
    x = rng().uniform(-3, 3, 2000)
    return sample((1 + np.where(x > 0, beyond * x, x) / 4), metric={"distance": np.abs(x)})


def first_free(state: Any, action: Any, r: Any) -> Any:
    """The first step rightly pays nothing; the others pay for their own transition."""
    paid = 3 * action[..., 0] + size(state, action, r)
    paid[:, 0] = 0.0
    return paid


def forgotten(weight: float) -> RewardSample:
    """A reward of two parts that holds the second one with `weight` only."""
    made = parted({"a": 1.0, "b": 0.7})
    return replace(made, rewards=made.components["a"] + weight * made.components["b"])


def hidden(weight: float) -> RewardSample:
    """A reward with a third part that is not reported, in every row."""
    made = parted({"a": 1.0, "b": 0.7})
    return replace(made, rewards=made.rewards + weight * np.random.default_rng(6).normal(size=1000))


def squashed(scale: float) -> RewardSample:
    """A reward that is the tanh of the sum of its parts."""
    made = parted({"a": 1.0, "b": 0.7})
    return replace(made, rewards=np.tanh(scale * made.rewards))


def rarely_paid() -> RewardSample:
    """A part that pays in one row of fifty, in a reward that is twice the first part plus it."""
    made = with_dead("bonus", 5.0 * (np.arange(1000) % 50 == 0))
    return replace(made, rewards=2 * (made.components["a"] + made.components["b"]) + made.components["bonus"])


def height(place: Any) -> float:
    """A potential of the places 0 to 4 of `shaped`."""
    return 1.0 + float(place)


def shaped(term: Callable[[Any, Any, Any, bool], float]) -> RewardSample:
    """Random walks over five places of which the last one ends them, and what is found out about `term`."""
    r, place, moves = rng(), 0, list[tuple[Any, Any, Any, bool, bool]]()
    for _ in range(3000):
        action = int(r.integers(2))
        after = max(0, place + (1 if action else -1))
        moves.append((place, action, after, after == 4, False))
        place = 0 if after == 4 else after
    return played(rng().normal(size=400), shaping=judged_term(Shaping(term), moves, 0.99))
