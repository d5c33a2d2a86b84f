"""Every reward bug of the later list exists and is what the list says, as far as a few lines can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.preflight.later import rewards
from tests.preflight.later.catalogue import listed
from tests.preflight.later.reward_cases import load
from tests.preflight.planted.bases import Grid
from tests.preflight.planted.shapings import away, far

CASES = load()


def test_list_and_makers_are_the_same() -> None:
    assert {(e["id"], kind) for kind in ("bug", "harmless") for e in listed("reward", kind)} == set(CASES)


def test_ids_are_new() -> None:
    from tests.preflight.unseen.reward_cases import load as earlier

    assert not set(earlier()) & set(CASES)


@pytest.mark.parametrize("key", CASES, ids="-".join)
def test_case_gives_one_thing_to_look_at(key: tuple[str, str]) -> None:
    made = CASES[key]()
    assert sum([made.table is not None, made.env is not None, bool(made.returns), made.shaping is not None]) == 1


def played(env: Any, action: Any = None, steps: int = 200, seed: int = 0) -> tuple[Any, list[Any]]:
    """Rewards and infos of one episode."""
    env.action_space.seed(seed)
    env.reset(seed=seed)
    rewards_seen, infos = list[float](), list[Any]()
    for _ in range(steps):
        _, reward, over, cut, info = env.step(env.action_space.sample() if action is None else action)
        rewards_seen.append(float(reward))
        infos.append(info)
        if over or cut:
            break
    return np.array(rewards_seen), infos


PUSH = np.array([0.3, -0.2], np.float32)


def test_living_is_worth_nothing_and_progress_is_dead() -> None:
    env = rewards.Standardised(rewards.cartpole())
    assert not any(played(env, seed=seed)[0].any() for seed in range(5))
    got, infos = played(rewards.NotMeasured(), PUSH)
    assert not any(info["progress"] for info in infos)
    assert got.any()


def test_worst_paid_just_past_the_target() -> None:
    env = rewards.Turn()
    env.reset(seed=0)
    env.angle, env.rate = np.pi - 0.01, 0.0
    _, before, _, _, told = env.step(np.zeros(1, np.float32))
    env.angle = -np.pi + 0.01
    _, past, _, _, past_told = env.step(np.zeros(1, np.float32))
    assert told["error"] == pytest.approx(past_told["error"])
    assert before > -0.1
    assert past < -6


def test_farther_pays_more() -> None:
    got, infos = played(rewards.Grows())
    away_now = np.array([info["distance_to_target"] for info in infos])
    assert np.corrcoef(np.log(got), away_now)[0, 1] > 0.99


def test_yesterday_pays() -> None:
    got, infos = played(rewards.Yesterday())
    assert abs(np.corrcoef(got, [info["profit"] for info in infos])[0, 1]) < 0.75
    right, told = played(rewards.Market())
    assert np.allclose(right, [info["profit"] for info in told])


def test_goal_pays_no_more_than_a_step() -> None:
    env = rewards.Overwritten()
    env.reset(seed=0)
    env.cell = np.array([4, 3])
    _, reward, over, _, info = env.step(0)
    assert (reward, over, info["success"]) == (0.02, True, 1.0)
    assert isinstance(env, Grid)


def terms(name: str, kind: str = "bug") -> Iterator[tuple[Any, Any, bool, int, float]]:
    shaping = CASES[name, kind]().shaping
    assert shaping is not None
    for t, (before, action, after, over, cut) in enumerate(shaping.steps[:200]):
        yield before, after, over, t, shaping.term(before, action, after, over, cut, t)


def test_shaping_terms_are_what_the_list_says() -> None:
    for _, after, over, _, paid in terms("shaping-of-one-state-twice"):
        assert paid == pytest.approx((0.0 if over else 0.99 * away(after)) - away(after))
    for before, after, over, _, paid in terms("shaping-losses-clipped"):
        assert paid == pytest.approx(max(-0.2, (0.0 if over else 0.99 * away(after)) - away(before)))
    for before, after, over, t, paid in terms("shaping-in-every-second-step"):
        assert paid == pytest.approx(((0.0 if over else 0.99 * far(after)) - far(before)) * (t % 2))
    for before, after, over, _, paid in terms("shaping-with-an-offset", "harmless"):
        assert paid == pytest.approx((0.0 if over else 0.99 * (away(after) + 20)) - (away(before) + 20))


def columns(name: str, kind: str = "bug") -> dict[str, Any]:
    made = CASES[name, kind]()
    assert made.table is not None
    return dict(made.table)


def test_score_tables_are_what_the_list_says() -> None:
    late = columns("timeouts-score-full-marks")
    assert 0.09 < np.mean(late["score"] == 1) < 0.15
    assert late["score"][late["score"] < 1].max() <= 0.93
    assert abs(late["human score"][late["score"] == 1].mean() - late["human score"].mean()) < 0.3
    scales = columns("two-judges-two-scales")
    assert 0.4 < np.mean(scales["score"] > 1) < 0.6
    shifted = columns("scores-one-answer-late")
    within = [shifted[c].reshape(-1, 8) - shifted[c].reshape(-1, 8).mean(1, keepdims=True)
              for c in ("score", "human score")]  # fmt: skip
    assert np.corrcoef(np.roll(within[0], -1, axis=1).ravel(), within[1].ravel())[0, 1] > 0.8
    assert np.corrcoef(within[0].ravel(), within[1].ravel())[0, 1] < 0.05
    begun = columns("judge-reads-the-beginning-only")
    assert np.corrcoef(begun["score"], begun["length"])[0, 1] < -0.95


def test_other_tables_are_what_the_list_says() -> None:
    kl = columns("kl-penalty-added")
    assert kl["kl penalty"].min() >= 0
    assert np.allclose(kl["task"] + kl["kl penalty"], kl["total"])
    floored = columns("share-of-tests-floored")["score"]
    assert set(floored.tolist()) == {0.0, 1.0}
    assert floored.mean() < 0.05
    percent = columns("scores-become-per-cent-midway")
    assert percent["reward"][100:].mean() > 80 * percent["reward"][:100].mean()
    assert abs(percent["success"][100:].mean() - percent["success"][:100].mean()) < 0.02


def test_harmless_tables_agree_with_people() -> None:
    for name in ("share-of-ten-tests", "longer-is-a-little-better"):
        told = columns(name, "harmless")
        assert np.corrcoef(told["score"], told["human score"])[0, 1] > 0.6
    cost = columns("energy-as-cost", "harmless")
    assert cost["energy cost"].max() <= 0
