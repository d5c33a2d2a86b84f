"""Every bug of the unseen lists exists and changes what is seen; every harmless oddity plays to its end."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from tests.preflight.unseen.catalogue import ORIGINALS, attribute, listed, load

MADE = load()
BUGS, HARMLESS = listed("environment", "bug"), listed("environment", "harmless")
BY_POLICY = {"policy-counts-from-one", "policy-nan-far-out"}
ELSEWHERE = {"state-in-class-attribute", "threads-pile-up", "data-runs-out", "breakpoint-left-in", *BY_POLICY} | {
    "seeds-itself-in-every-reset"
}
"""Bugs that one instance, played from a few seeds, does not show; each has a test of its own below."""


def played(env: Any, resets: int = 6) -> list[str]:
    """What a few seeded episodes of actions drawn from one seed look like, each value with its type."""
    seen: list[str] = []
    if isinstance(env.action_space, gym.Space):
        env.action_space.seed(1)
    for number in range(resets):
        seen.append(text(reset(env, 7 + number)))
        for _ in range(130):
            row = env.step(drawn(env))
            seen.append(text(row))
            if over(row):
                break
    return seen


def reset(env: Any, seed: int | None) -> Any:
    if hasattr(env, "seed"):
        env.seed(seed)
        return env.reset()
    return env.reset(seed=seed)


def drawn(env: Any) -> Any:
    if hasattr(env, "possible_agents"):
        return dict.fromkeys(env.agents, 1)
    return env.action_space.sample()


def over(row: Any) -> bool:
    if isinstance(row[2], dict):
        return not any(not (row[2][a] or row[3][a]) for a in row[2])
    flags = row[2:-1] if len(row) == 5 else row[2:3]
    return bool(np.all([bool(np.all(f)) for f in flags[:1]]) or (len(flags) > 1 and np.all(flags[1])))


def text(value: Any) -> str:
    """The value with types and array shapes."""
    if isinstance(value, tuple | list):
        return "(" + ", ".join(text(v) for v in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tolist()}"
    return f"{type(value).__name__} {value!r}"


def spaces(env: Any) -> str:
    observations = env.observation_space
    return "" if callable(observations) else str(observations)


def alone(name: str, table: dict[str, Any]) -> list[str]:
    env = table[name]()
    return [spaces(env), *played(env), spaces(env)]


@pytest.mark.parametrize("bug", [b for b in BUGS if b["id"] not in ELSEWHERE], ids=lambda b: b["id"])
def test_bug_changes_what_is_seen(bug: dict[str, Any]) -> None:
    name = attribute("bug", bug["id"])
    assert alone(name, ORIGINALS) != alone(name, MADE)


@pytest.mark.parametrize("bug", BUGS, ids=lambda b: b["id"])
def test_original_repeats_itself(bug: dict[str, Any]) -> None:
    """Otherwise a difference would prove nothing."""
    name = attribute("bug", bug["id"])
    assert alone(name, ORIGINALS) == alone(name, ORIGINALS)


@pytest.mark.parametrize("entry", HARMLESS, ids=lambda b: b["id"])
def test_harmless_plays(entry: dict[str, Any]) -> None:
    assert len(alone(attribute("harmless", entry["id"]), MADE)) > 6


def test_lists_and_makers_are_the_same() -> None:
    listed_names = {attribute("bug", b["id"]) for b in BUGS} | {attribute("harmless", b["id"]) for b in HARMLESS}
    assert listed_names == {n for n in MADE if not n.startswith("policy_")}


def test_unseeded_starts_are_the_same() -> None:
    for table, alike in ((MADE, True), (ORIGINALS, False)):
        env = table["bug_seeds_itself_in_every_reset"]()
        assert np.array_equal(env.reset()[0], env.reset()[0]) == alike


def test_two_instances_move_one_body() -> None:
    first, second = (MADE["bug_state_in_class_attribute"]() for _ in range(2))
    first.reset(seed=1)
    second.reset(seed=2)
    before = first.seen()
    second.step(np.ones(2, np.float32))
    assert not np.array_equal(before, first.seen())


def test_threads_pile_up() -> None:
    import threading

    env, before = MADE["bug_threads_pile_up"](), threading.active_count()
    for _ in range(3):
        env.reset()
    assert threading.active_count() == before + 3


def test_data_runs_out() -> None:
    env = MADE["bug_data_runs_out"]()
    for _ in range(30):
        env.reset()
    with pytest.raises(StopIteration):
        env.reset()


def test_breakpoint_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or "")
    env = MADE["bug_breakpoint_left_in"]()
    env.reset(seed=0)
    for _ in range(25):
        env.step(0)
    assert len(asked) == 1


@pytest.mark.parametrize("identifier", sorted(BY_POLICY))
def test_policy_is_wrong_somewhere(identifier: str) -> None:
    env, policy = MADE[attribute("bug", identifier)](), MADE[attribute("policy", identifier)]
    rng = np.random.default_rng(0)
    rows = rng.uniform(-8, 8, (200, *env.observation_space.shape)).astype(np.float32)
    assert not all(env.action_space.contains(policy(row)) for row in rows)
