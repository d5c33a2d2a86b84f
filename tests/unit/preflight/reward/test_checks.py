"""Every reward check: a case that fires, a healthy one, a near miss; and what holds for all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from firstbreak.check import LONGEST_MESSAGE, Look, checks_of, look_at
from firstbreak.finding import Severity
from firstbreak.preflight.reward.sample import Replay, RewardSample

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


def living(bonus: float, goal: float) -> RewardSample:
    values = np.full(20 * 40, bonus)
    values[19::20] = goal
    return played(values, time_limit=200)


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


CASES: dict[str, tuple[list[Make], list[Make]]] = {
    "rewards-not-finite": (
        [lambda: sample([1.0, float("nan")] * 20), lambda: steps([1.0] * 39 + [float("inf")])],
        [lambda: sample(rng().normal(size=40)), lambda: sample([1e300] * 40)],
    ),
    "reward-always-zero": (
        [lambda: steps(np.zeros(4000)), lambda: played(np.zeros(4000))],
        [lambda: sample(rng().normal(size=40)), lambda: steps([0.0] * 3999 + [1.0])],
    ),
    "reward-saturated": (
        [lambda: sample(np.ones(500)), lambda: sample([1.0] * 495 + [0.0] * 5)],
        [
            lambda: sample(rng().integers(0, 2, 500)),
            lambda: RewardSample(np.ones(585), episode=np.repeat(np.arange(30), np.arange(5, 35))),
        ],
    ),
    "reward-too-sparse": (
        [lambda: sample([1.0, 1.0] + [0.0] * 998)],
        [lambda: sample(rng().normal(size=100)), lambda: steps(np.tile([0.0] * 39 + [1.0], 100))],
    ),
    "groups-without-spread": ([lambda: grouped(94)], [lambda: grouped(0), lambda: grouped(30)]),
    "reward-long-tail": (
        [lambda: sample(rng().lognormal(0, 3, 3000))],
        [
            lambda: sample(rng().normal(size=3000)),
            lambda: sample(rng().exponential(size=3000)),
            lambda: sample([1.0] * 3 + [0.0] * 397),
        ],
    ),
    "return-spans-orders": (
        [lambda: sample(10 ** rng().uniform(-3, 4, 500))],
        [lambda: sample(rng().normal(size=500)), lambda: sample(rng().lognormal(0, 1.5, 500))],
    ),
    "return-scale-extreme": (
        [lambda: steps(1e4 * rng().normal(size=4000)), lambda: steps(1e-6 * rng().normal(size=4000))],
        [lambda: steps(rng().normal(size=4000)), lambda: steps(4000 + rng().normal(size=4000))],
    ),
    "reward-opposes-reference": (
        [lambda: judged(-0.9), lambda: judged(0.9, name="distance_to_goal")],
        [lambda: judged(0.6), lambda: judged(0.0)],
    ),
    "reward-unrelated-to-reference": ([lambda: judged(0.0)], [lambda: judged(0.6), lambda: judged(0.2, 40)]),
    "top-rewards-judged-badly": (
        [lambda: peaked(1.0)],
        [lambda: peaked(-1.0), lambda: judged(0.0)],
    ),
    "reward-sign-unclear": (
        [lambda: sample(np.concatenate([rng().normal(-1, 0.1, 99), rng().normal(1, 0.1, 99)]))],
        [lambda: sample(rng().normal(size=200)), lambda: sample(rng().normal(1, 0.1, 200))],
    ),
    "reward-leaves-metric": ([lambda: training(0.45)], [lambda: training(0.0), lambda: training(-0.05)]),
    "score-follows-length": ([lambda: longer(2.0)], [lambda: longer(0.0), lambda: longer(0.3)]),
    "default-value-spike": (
        [lambda: defaults(0.2, 0.0)],
        [lambda: defaults(0.0, 0.0), lambda: defaults(0.01, 0.0), lambda: sample(rng().integers(0, 2, 500))],
    ),
    "reward-clipped": ([lambda: clipped(1.0)], [lambda: clipped(9.0), lambda: clipped(3.4)]),
    "reward-part-dominates": (
        [lambda: parted({"heading": 50.0, "progress": 1.0})],
        [lambda: parted({"a": 1.0, "b": 1.0}), lambda: parted({"a": 2.0, "b": 1.0})],
    ),
    "reward-parts-cancel": ([lambda: balanced(0.2)], [lambda: balanced(5.0), lambda: balanced(1.0)]),
    "reward-part-dead": (
        [lambda: with_dead("contact", np.zeros(1000))],
        [lambda: parted({"a": 1.0, "b": 1.0}), lambda: with_dead("contact", np.arange(1000) % 200 == 0)],
    ),
    "reward-parts-do-not-add-up": (
        [lambda: not_adding(0.1)],
        [
            lambda: parted({"a": 1.0, "b": 1.0}),
            lambda: replace(parted({"a": 1.0}), rewards=7 * parted({"a": 1.0}).rewards),
        ],
    ),
    "penalty-pays": ([lambda: energy(1.0)], [lambda: energy(-1.0), lambda: parted({"energy": 1.0, "b": 1.0})]),
    "reward-ignores-agent": (
        [lambda: played(rng().normal(size=400), replays=replays("other_actions", 0.0))],
        [
            lambda: played(rng().normal(size=400), replays=replays("other_actions", 0.3)),
            lambda: played(np.ones(400), replays=replays("other_actions", 0.0, spread=0.0)),
        ],
    ),
    "reward-not-explained": (
        [lambda: world(lambda s, a, r: 5 + r.normal(size=(30, 40)))],
        [lambda: world(size), lambda: world(lambda s, a, r: size(s, a, r) + 2 * r.normal(size=(30, 40)))],
    ),
    "reward-fixed-per-episode": (
        [lambda: played(np.repeat(5 + rng().normal(size=40), 20))],
        [
            lambda: played(rng().normal(size=800)),
            lambda: played(np.repeat(rng().normal(size=40), 20) + 1e-3 * rng().normal(size=800)),
        ],
    ),
    "reward-one-step-late": ([lambda: world(late)], [lambda: world(size), lambda: world(first_free)]),
    "reward-remembers-past": (
        [lambda: played(rng().normal(size=400), replays=remembers(2.0))],
        [
            lambda: played(rng().normal(size=400), replays=remembers(0.0)),
            lambda: played(rng().normal(size=400), replays=remembers(1e-12)),
        ],
    ),
    "reward-noise": (
        [lambda: played(rng().normal(size=400), replays=replays("fresh_again", 1.3))],
        [
            lambda: played(rng().normal(size=400), replays=replays("fresh_again", 0.0)),
            lambda: played(rng().normal(size=400), replays=replays("fresh_again", 0.05)),
        ],
    ),
    "living-bonus-outweighs-goal": (
        [lambda: living(0.1, 1.0)],
        [lambda: living(-0.01, 1.0), lambda: living(0.1, 100.0), lambda: living(1.0, 1.0)],
    ),
    "reward-only-at-end": ([lambda: end_only(500)], [lambda: played(rng().normal(size=4000)), lambda: end_only(30)]),
    "loop-pays": ([lambda: circling(1.0)], [lambda: circling(0.0), lambda: circling(0.01)]),
}


def first_free(state: Any, action: Any, r: Any) -> Any:
    """The first step rightly pays nothing; the others pay for their own transition."""
    paid = 3 * action[..., 0] + size(state, action, r)
    paid[:, 0] = 0.0
    return paid


def put(name: str, make: Make) -> Look:
    one = next(c for c in checks_of("reward") if c.name == name)
    with np.errstate(all="ignore"):
        return look_at(one, make())


def test_every_check_has_cases() -> None:
    assert set(CASES) == {c.name for c in checks_of("reward")}


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (fires, _) in CASES.items() for m in fires])
def test_it_fires(name: str, make: Make) -> None:
    found = put(name, make)
    assert not found.error
    assert found.symptom is not None, found.skip
    assert len(found.symptom.message) <= LONGEST_MESSAGE
    assert any(letter.isdigit() for letter in found.symptom.message)


@pytest.mark.parametrize(("name", "make"), [(n, m) for n, (_, quiet) in CASES.items() for m in quiet])
def test_it_is_silent(name: str, make: Make) -> None:
    found = put(name, make)
    assert not found.error
    assert found.symptom is None, found.symptom


SCALED = sorted(set(CASES) - {"return-scale-extreme", "rewards-not-finite"})


@pytest.mark.parametrize("name", SCALED)
def test_ten_times_the_reward_changes_nothing(name: str) -> None:
    for makes in CASES[name]:
        for make in makes:
            once = make()
            ten = replace(
                once,
                rewards=10 * once.rewards,
                components={k: 10 * v for k, v in once.components.items()},
                replays=[replace(r, first=10 * r.first, second=10 * r.second) for r in once.replays],
            )
            before, after = put(name, lambda: once), put(name, lambda: ten)  # noqa: B023
            assert (before.symptom is None) == (after.symptom is None)


def test_random_play_is_not_blamed_for_what_it_cannot_show() -> None:
    for name, made in (("reward-saturated", played(-np.ones(4000))), ("reward-part-dominates", energy(-1.0))):
        found = put(name, lambda: made)  # noqa: B023
        assert found.symptom is not None
        assert found.symptom.severity is Severity.INFO
