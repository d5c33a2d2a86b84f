"""Every unseen reward bug exists and is what the list says, as far as a few lines can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.preflight.planted.bases import Drive
from tests.preflight.planted.shapings import away, far
from tests.preflight.unseen import rewards
from tests.preflight.unseen.catalogue import listed
from tests.preflight.unseen.reward_cases import load

CASES = load()


def test_list_and_makers_are_the_same() -> None:
    names = {(e["id"], kind) for kind in ("bug", "harmless") for e in listed("reward", kind)}
    assert names == set(CASES)


@pytest.mark.parametrize("key", CASES, ids="-".join)
def test_case_gives_one_thing_to_look_at(key: tuple[str, str]) -> None:
    made = CASES[key]()
    assert sum([made.table is not None, made.env is not None, bool(made.returns), made.shaping is not None]) == 1


def paid(make: Any, action: Any, seed: int = 0, steps: int = 200) -> Any:
    env, found = make(), []
    env.reset(seed=seed)
    for _ in range(steps):
        _, reward, over, cut, _ = env.step(action)
        found.append(float(reward))
        if over or cut:
            break
    return np.array(found)


PUSH = np.array([0.3, -0.2], np.float32)


def test_sums_and_doubles() -> None:
    clean = paid(Drive, PUSH)
    assert np.allclose(paid(rewards.Summed, PUSH), clean.cumsum())
    doubled = paid(rewards.FirstDoubled, PUSH)
    assert doubled[0] == 2 * clean[0]
    assert np.array_equal(doubled[1:], clean[1:])


def test_penalty_goes_on() -> None:
    extra = paid(Drive, PUSH) - paid(rewards.Repeats, PUSH)
    assert np.all(np.diff(extra) >= -1e-9)
    assert set(np.round(extra)) == {0.0, 1.0}


def test_retreat_pays() -> None:
    clean = paid(Drive, PUSH)
    assert np.allclose(paid(rewards.Retreat, PUSH, steps=len(clean))[1:], -np.diff(clean))


def test_always_zero_and_never_finite_at_goal() -> None:
    assert not paid(rewards.Cast, PUSH).any()
    env = rewards.Logged()
    env.reset(seed=0)
    env.cell = np.array([4, 3])
    assert np.isinf(env.step(0)[1])


def test_bonus_at_the_limit() -> None:
    got = paid(rewards.AnyEnd, 1, steps=100)
    assert got[-1] == 1.0
    assert len(got) == 100


def terms(name: str) -> Any:
    case = CASES[name, "bug"]().shaping
    assert case is not None
    for t, (before, action, after, over, cut) in enumerate(case.steps[:50]):
        yield before, after, case.term(before, action, after, over, cut, t)


def test_shaping_terms_are_what_the_list_says() -> None:
    for before, after, paid_now in terms("shaping-terms-exchanged"):
        assert paid_now == pytest.approx(away(before) - 0.99 * away(after))
    for before, after, paid_now in terms("shaping-discount-on-wrong-term"):
        assert paid_now == pytest.approx(far(after) - 0.99 * far(before))
    for before, after, paid_now in terms("shaping-weight-on-one-side"):
        assert paid_now == pytest.approx(1.98 * away(after) - away(before))
    for before, after, paid_now in terms("shaping-with-other-discount"):
        assert paid_now == pytest.approx(0.9 * far(after) - far(before))


def columns(name: str) -> dict[str, Any]:
    made = CASES[name, "bug"]()
    assert made.table is not None
    return dict(made.table)


def test_tables_are_what_the_list_says() -> None:
    assert 0.55 < np.mean(columns("judge-at-its-ceiling")["score"] == 1) < 0.7
    assert 0.02 < np.isnan(columns("some-scores-nan")["score"]).mean() < 0.04
    assert columns("score-of-prompt-only")["score"].reshape(-1, 8).std(1).max() < 3e-4
    weighted = columns("part-weighted-in-total-only")
    assert not np.allclose(weighted["progress"] + weighted["energy"], weighted["total"])
    twice = columns("part-added-twice")
    assert np.allclose(twice["progress"] + 2 * twice["contact"], twice["total"])
    feet = columns("two-parts-read-one-sensor")
    assert np.array_equal(feet["left foot"], feet["right foot"])
    flat = columns("reward-up-success-flat")
    assert flat["reward"][-20:].mean() - flat["reward"][:20].mean() > 4
    assert abs(flat["success"][-20:].mean() - flat["success"][:20].mean()) < 0.02
    counted = columns("success-scored-as-failure-count")
    assert np.corrcoef(counted["reward"], counted["human score"])[0, 1] < -0.8
