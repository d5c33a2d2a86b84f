"""Every planted fault of recorded episodes is named; no twin, and no healthy recording, is warned of."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.audit.trajectories.api import inspect_record
from firstbreak.audit.trajectories.npz import episodes_of
from firstbreak.audit.trajectories.record import record_of
from firstbreak.audit.trajectories.trajectory import Trajectory
from firstbreak.finding import Severity
from firstbreak.inspection import Inspection
from tests.audit import planted
from tests.audit.control import bouncing, grid, point, record

LIST: list[dict[str, Any]] = tomllib.loads((Path(planted.__file__).parent / "trajectories.toml").read_text("utf-8"))[
    "fault"
]
CART, PENDULUM, LAKE = "CartPole-v1", "Pendulum-v1", "FrozenLake-v1"


@cache
def play(name: str, policy: str, episodes: int = 40, **options: Any) -> tuple[Trajectory, ...]:
    return tuple(record(name, policy, episodes, **{"limit": 60 if name == PENDULUM else 0, **options}))


def changed(episodes: Sequence[Trajectory], **how: Callable[[Trajectory], Any]) -> list[Trajectory]:
    return [replace(one, **{name: make(one) for name, make in how.items()}) for one in episodes]


def with_one_reward(episodes: Sequence[Trajectory], reward: float) -> list[Trajectory]:
    rewards = episodes[7].rewards.copy()
    rewards[3] = reward
    return [replace(one, rewards=rewards) if one is episodes[7] else one for one in episodes]


def kept_action() -> list[Trajectory]:
    """Pendulum with one action an episode; the observations do not matter here."""
    return changed(play(PENDULUM, "random"), actions=lambda one: np.repeat(one.actions[:1], one.steps, axis=0))


def badly_cut(every: int) -> list[Trajectory]:
    """One buffer of CartPole whose every third end is missing from the flags."""
    each = play(CART, "random", 60)
    ends = [np.arange(one.steps) == one.steps - 1 for one in each]
    flags = [end & (i % every != 0) if every else end for i, end in enumerate(ends)]
    arrays = {
        "observations": np.concatenate([one.observations for one in each]),
        "actions": np.concatenate([one.actions for one in each]),
        "rewards": np.concatenate([one.rewards for one in each]),
        "terminated": np.concatenate(flags),
    }
    return list(episodes_of(arrays, Path("x"), "x"))


def handed_over() -> list[Trajectory]:
    each = play(CART, "random", tail=True)
    after = [*each[1:], each[0]]
    return [
        replace(one, observations=np.vstack([one.observations[:-1], other.observations[:1]]))
        for one, other in zip(each, after, strict=True)
    ]


def ended(one: Trajectory) -> bool:
    return True


def never(one: Trajectory) -> bool:
    return False


def longer_way() -> list[Trajectory]:
    """The shortest way of 30 steps through a corridor: as long each time, ending at the goal; a few fall before it."""
    found: list[Trajectory] = []
    for i in range(40):
        steps = np.arange(30.0 if i % 4 else 5.0 + i / 2)
        states = np.column_stack([steps, 0.1 * i * np.sin(steps) * (steps < 29)]) / 7
        found.append(Trajectory("x", i, states, np.arange(steps.size) % 3, steps + 0.1 * i, True, False))
    return found


FAULTS: dict[str, Callable[[], Sequence[Trajectory]]] = {
    "reward-nan": lambda: with_one_reward(play(CART, "random"), float("nan")),
    "same-seed": lambda: play(CART, "scripted", same=True),
    "data-doubled": lambda: [*play(PENDULUM, "random", 20), *play(PENDULUM, "random", 20)],
    "one-action": lambda: play(CART, "right"),
    "one-action-an-episode": kept_action,
    "action-dimension-dead": lambda: point(second=0),
    "actions-clipped": lambda: play(PENDULUM, "clipped"),
    "observation-frozen": lambda: changed(
        play(PENDULUM, "random"), observations=lambda one: np.zeros_like(one.observations)
    ),
    "success-not-paid": lambda: point(reward="constant"),
    "never-paid": lambda: changed(play(LAKE, "random"), rewards=lambda one: np.zeros_like(one.rewards)),
    "one-episode-carries": lambda: with_one_reward(play(PENDULUM, "random"), 1e6),
    "limit-as-end": lambda: changed(
        play(CART, "good", 20, limit=60) + play(CART, "poor", 20, limit=60),
        terminated=ended,
        truncated=never,
    ),
    "limit-as-end-always": lambda: changed(play(PENDULUM, "random", limit=200), terminated=ended, truncated=never),
    "end-as-limit": lambda: changed(play(CART, "random"), terminated=never, truncated=ended),
    "boundary-lost": lambda: badly_cut(3),
    "last-observation-after-reset": handed_over,
    "reward-pump": lambda: grid("stand"),
    "circling": lambda: grid("circle"),
}
TWINS: dict[str, Callable[[], Sequence[Trajectory]]] = {
    "reward-nan": lambda: changed(play(CART, "random"), rewards=lambda one: 1e12 * one.rewards),
    "same-seed": lambda: [
        *play(LAKE, "random", is_slippery=False), *play(LAKE, "way", 4, is_slippery=False),
    ],
    "data-doubled": lambda: [*play(PENDULUM, "random", 20), *play(PENDULUM, "random", 20, seed=5)],
    "one-action": lambda: play(CART, "mostly right"),
    "one-action-an-episode": lambda: [*play(LAKE, "random", 40), *play(LAKE, "way", 10)],
    "action-dimension-dead": lambda: point(second=0.01),
    "actions-clipped": lambda: [*play(PENDULUM, "random", 20), *play(PENDULUM, "swing", 20, limit=100)],
    "observation-frozen": lambda: changed(
        play(PENDULUM, "random"),
        observations=lambda one: np.column_stack([one.observations, np.full(len(one.observations), 0.7)]),
    ),
    "success-not-paid": lambda: [replace(one, success=True) for one in play(CART, "good", limit=200)],
    "never-paid": lambda: [*play(LAKE, "random", 40), *play(LAKE, "way", 20)],
    "one-episode-carries": lambda: [
        *changed(play(LAKE, "random"), rewards=lambda one: np.zeros_like(one.rewards))[:39],
        *play(LAKE, "way", 1, is_slippery=False),
    ],
    "limit-as-end": longer_way,
    "limit-as-end-always": lambda: play(PENDULUM, "random", limit=200),
    "end-as-limit": lambda: [*play(CART, "random", 20), *play(CART, "good", 20, limit=60)],
    "boundary-lost": bouncing,
    "last-observation-after-reset": lambda: play(CART, "random", tail=True),
    "reward-pump": lambda: grid("stay"),
    "circling": lambda: [*play(PENDULUM, "swing", 40, limit=100)],
}  # fmt: skip


def looked_at(episodes: Sequence[Trajectory]) -> Inspection:
    seen = inspect_record(record_of(episodes, "x"))
    assert seen.errors == ()
    return seen


def warned(seen: Inspection) -> dict[str, Severity]:
    return {f.name: f.severity for f in seen.findings if f.severity.rank}


def test_every_entry_of_the_list_is_planted() -> None:
    assert [f["id"] for f in LIST] == list(FAULTS) == list(TWINS)


@pytest.mark.parametrize("fault", LIST, ids=lambda f: f["id"])
def test_a_planted_fault_is_named(fault: dict[str, Any]) -> None:
    found = warned(looked_at(FAULTS[fault["id"]]()))
    named = [found[name] for name in fault["named_by"] if name in found]
    assert named, found
    assert max(s.rank for s in named) >= Severity(fault["severity"]).rank
    assert len(found) <= len(fault["named_by"]) + 1


@pytest.mark.parametrize("fault", LIST, ids=lambda f: f["id"])
def test_a_twin_is_not_warned_of(fault: dict[str, Any]) -> None:
    assert warned(looked_at(TWINS[fault["id"]]())) == {}


@pytest.mark.parametrize(
    ("name", "policy"),
    [(CART, "random"), (CART, "good"), (CART, "poor"), (PENDULUM, "random"), (PENDULUM, "swing"), (LAKE, "way")],
)
def test_a_healthy_recording_is_healthy(name: str, policy: str) -> None:
    seen = looked_at(play(name, policy, limit=100))
    assert warned(seen) == {}
    assert seen.verdict == "healthy", seen.skipped


@pytest.mark.parametrize("kind", ["stand", "stay"])
def test_a_pump_without_success_flags_is_not_decided(kind: str) -> None:
    """Pay for standing still may be the task: without success nothing is claimed, and success is asked for."""
    seen = looked_at(grid(kind, known=False))
    assert warned(seen) == {}
    assert seen.verdict == "undecided"
    (skipped,) = [s for s in seen.skipped if s.name == "paid-for-standing-still"]
    assert skipped.unlock_with == ("success",)


def test_a_controller_that_is_a_switch_by_design_is_not_warned_of() -> None:
    switch = changed(play(PENDULUM, "random"), actions=lambda one: np.sign(one.actions))
    assert warned(looked_at(switch)) == {}


def test_few_episodes_are_not_judged() -> None:
    seen = looked_at(play(CART, "right", 6))
    assert warned(seen) == {}
    assert seen.verdict == "undecided"
    assert any("more episodes" in s.unlock_with for s in seen.skipped)


def test_a_nan_is_an_error_even_in_one_episode() -> None:
    (one,) = with_one_reward(play(CART, "random"), float("inf"))[7:8]
    assert warned(looked_at([one])) == {"trajectory-not-finite": Severity.ERROR}


def test_no_episode_at_all() -> None:
    seen = looked_at([])
    assert seen.verdict == "undecided"
    assert seen.findings == ()


def test_what_is_not_stored_is_asked_for() -> None:
    bare = changed(play(CART, "random"), terminated=lambda _: None, truncated=lambda _: None)
    bare = changed(bare, observations=lambda one: np.zeros((one.steps, 0)))
    seen = looked_at(bare)
    unlock = {name for s in seen.skipped for name in s.unlock_with}
    assert {"terminated", "truncated", "observations"} <= unlock


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_units_do_not_matter(factor: float) -> None:
    """Observations and rewards in other units: the same findings."""
    for name in ("boundary-lost", "reward-pump", "circling", "last-observation-after-reset"):
        scaled = changed(
            FAULTS[name](), observations=lambda one: factor * one.observations, rewards=lambda one: factor * one.rewards
        )
        assert set(warned(looked_at(scaled))) == set(warned(looked_at(FAULTS[name]()))), name
