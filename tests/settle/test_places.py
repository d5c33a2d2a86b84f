"""Runs as something that can be made again: their names, their worlds, and when what was planted is on."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.faults import planting
from benchmarks.faults.catalogue import faults, task_of
from benchmarks.settle import golden, paid, worlds
from benchmarks.settle.experts import EXPERTS
from benchmarks.settle.golden import paid as played
from benchmarks.settle.places import Place, place_named, place_of
from benchmarks.settle.trainers import Course
from firstbreak.target import load_target

REACH = Place("sb3_ppo", "Reach", "reward-term-flipped", 0.4)


def test_every_fault_in_an_environment_has_a_name_that_leads_back() -> None:
    for fault in faults().values():
        for where in fault.subjects:
            task = task_of(where)
            for switch in (None, 0.0, 0.357):
                place = Place(task.subject, task.name, fault.id, switch)
                assert place.name.isidentifier()
                assert place_named(place.name) == place


@pytest.mark.parametrize("name", ["CartPole", "ppo__CartPole_v1__no_such_fault__never", "ppo__Nowhere__clean__never"])
def test_a_name_of_no_place_is_no_name_of_the_modules(name: str) -> None:
    with pytest.raises(KeyError):
        place_named(name)
    assert not hasattr(worlds, name)
    assert not hasattr(paid, name)


def test_a_recorded_run_says_what_was_switched_on_and_when() -> None:
    run: dict[str, Any] = {"subject": "ppo", "task": "CartPole-v1", "kind": "fault", "seed": 1, "start_frac": 0.5}
    assert place_of({**run, "id": "ppo/CartPole-v1/policy-overconfident/1"}).switch == 0.5
    clean = place_of({**run, "id": "ppo/CartPole-v1/clean/1", "kind": "healthy", "start_frac": None})
    assert clean.switch is None
    rescaled = {**run, "subject": "sac", "task": "Pendulum-v1", "id": "sac/Pendulum-v1/reward-rescaled/100"}
    assert place_of({**rescaled, "kind": "hard_negative:reward-rescaled", "start_frac": None}).switch == 0.0


def rewards(env: Any, steps: int = 5) -> list[float]:
    env.action_space.seed(1)
    env.reset(seed=1)
    return [float(env.step(env.action_space.sample())[1]) for _ in range(steps)]


def test_agents_are_scored_by_the_reward_that_is_wanted_and_trained_on_the_one_that_was_paid() -> None:
    true = rewards(load_target("benchmarks.settle.worlds:sb3_ppo__Reach__clean__never")())
    assert rewards(load_target(f"benchmarks.settle.worlds:{REACH.name}")()) == true
    wrong = rewards(load_target(f"benchmarks.settle.paid:{REACH.name}")())
    assert wrong != true
    course = Course(
        REACH, total=10, seed=0, make_env=load_target(f"benchmarks.settle.worlds:{REACH.name}"), settings={}
    )
    hired = course.world()
    assert rewards(hired) == wrong, "a training shorter than the run asks about the trainer as it has become"


def test_a_sum_over_skipped_frames_is_what_they_earned() -> None:
    planting.load("reference")
    env = load_target("benchmarks.settle.worlds:ppo__Reach__frame_skip__from_start")()
    once = load_target("benchmarks.settle.worlds:ppo__Reach__clean__never")()
    action = env.action_space.high
    env.reset(seed=3), once.reset(seed=3)
    assert float(env.step(action)[1]) == pytest.approx(sum(float(once.step(action)[1]) for _ in range(8)))


def test_what_came_midway_comes_where_it_came_in_a_training_as_long_as_the_run() -> None:
    whole = REACH.entry.total

    def at(place: Place, total: int) -> float | None:
        return Course(place, total, 0, lambda: None, {}).at

    assert at(REACH, whole) == pytest.approx(0.4 * whole)
    assert at(REACH, whole // 100) == 0.0
    assert at(REACH, 0) == 0.0
    assert at(Place("sb3_ppo", "Reach", "clean", None), whole) is None


def test_a_golden_set_was_scored_before_what_came_midway(tmp_path: Any) -> None:
    import json

    def differ(place: Place) -> bool:
        golden.write(place, tmp_path / "golden.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "golden.jsonl").read_text("utf-8").splitlines()]
        score = getattr(golden, place.name)
        return any(abs(score(row["prompt"], row["response"]) - row["reward"]) > 1e-9 for row in rows)

    assert differ(REACH)
    assert not differ(Place("sb3_ppo", "Reach", "reward-term-flipped", 0.0))
    assert not differ(Place("sb3_ppo", "Reach", "clean", None))
    assert played(load_target("benchmarks.settle.worlds:sb3_ppo__Reach__clean__never")(), "1", "[]") == 0.0


NEAR = ("CartPole-v1", "Pendulum-v1", "Catch", "Reach", "ReachScaled", "Corridor")
FAR = [pytest.param(name, marks=pytest.mark.full) for name in ("InvertedPendulum-v5", "LunarLander-v3")]
"""They want MuJoCo and Box2D."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # raised while Box2D is imported, one ends the interpreter
@pytest.mark.parametrize("world", [*NEAR, *FAR])
def test_whoever_knows_the_task_plays_better_than_chance(world: str) -> None:
    from benchmarks.faults.tiny_worlds import made

    expert = load_target(f"benchmarks.settle.experts:{EXPERTS[world]}")

    def score(act: Any) -> float:
        env, total = made(world), 0.0
        env.action_space.seed(0)
        for seed in range(10):
            obs, _ = env.reset(seed=seed)
            over = False
            while not over:
                obs, reward, terminated, truncated, _ = env.step(act(obs, env))
                total, over = total + float(reward), terminated or truncated
        return total / 10

    assert score(lambda obs, env: expert(obs)) > score(lambda obs, env: env.action_space.sample())
