"""Which of several metrics that show one thing a rule names: the one that shows it first, or alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import find_rule
from firstbreak.synth import Shape

STILL = {"policy/kl_old": synth.constant(0.0), "policy/clip_fraction": synth.constant(0.0)}
STEPS = {"n_epochs": 10, "n_minibatches": 4}
AT_ONE = {"policy/ratio_p01": synth.constant(1.0), "policy/ratio_max": synth.constant(1.0)}
STOPS = synth.after(0.5, synth.constant(1.0), synth.flat(0.9, 0.02))
PAID = {"reward/episode_return_mean": synth.constant(-200.0)}
BLIND = {
    "reward/success_rate": synth.clipped(synth.flat(0.4, 0.1), 0, 1),
    "group/zero_std_fraction": synth.clipped(synth.flat(0.8, 0.05), 0, 1),
    "group/all_solved_fraction": synth.clipped(synth.flat(0.05, 0.1), 0, 1),
}
SIZES = "reward/env_distinct_frac"
LATE = {"learning_starts": 900_000, "total_steps": 1_000_000}


def named(rule: str, algorithm: str, tracks: Mapping[str, Shape], config: Mapping[str, Any] | None = None) -> str:
    """The metric that `rule` names on a run that shows `tracks`."""
    (outcome,) = run_rules(synth.like(algorithm, config=config or {})(tracks), [find_rule(rule)])
    assert outcome.findings, outcome.status
    return outcome.findings[0].metric


@pytest.mark.parametrize(
    ("tracks", "metric"),
    [
        (STILL, "policy/kl_old"),
        (STILL | AT_ONE, "policy/ratio_p01"),
        (STILL | {"policy/ratio_min": synth.constant(0.998)}, "policy/ratio_min"),
        (STILL | {"policy/ratio_p01": synth.flat(0.9, 0.02)}, "policy/kl_old"),
        (STILL | {"policy/ratio_max": synth.constant(1.0)}, "policy/ratio_max"),
        ({"policy/kl_old": synth.after(0.5, synth.constant(0.0), synth.flat(0.01)), "policy/ratio_p01": STOPS},
         "policy/kl_old"),
    ],
    ids=("KL alone", "tails at 1", "a tail next to 1", "a tail that is not at 1", "one tail", "moved once"),
)  # fmt: skip
def test_a_policy_at_rest_shows_in_the_tails_of_its_ratios(tracks: Mapping[str, Shape], metric: str):
    assert named("policy-frozen", "PPO", tracks, STEPS) == metric


def test_weights_that_do_not_move_at_all_say_it_by_themselves():
    at_rest = {"optim/weight_delta": synth.constant(0.0), "policy/ratio_min": synth.constant(1.0)}
    assert named("policy-frozen", "A2C", at_rest) == "optim/weight_delta"


def test_a_constant_reward_shows_in_how_many_sizes_were_paid_then_in_its_spread():
    alike = PAID | {"reward/env_std": synth.constant(0.0)}
    assert named("reward-constant", "PPO", PAID) == "reward/episode_return_mean"
    assert named("reward-constant", "PPO", alike) == "reward/env_std"
    assert named("reward-constant", "PPO", alike | {SIZES: synth.constant(1 / 64)}) == SIZES
    assert named("reward-constant", "PPO", alike | {SIZES: synth.constant(1.0)}) == "reward/env_std"


def test_rewards_that_layers_pay_twice_show_in_how_many_sizes_were_paid():
    late = {"env_id": "Pendulum-v1", "env_wrappers": "Mine", "layers_looked": 300.0, "layers_reward_lag": 20.0}
    assert named("layers-change-reward", "PPO", {}, late) == "reward/env_mean"
    assert named("layers-change-reward", "PPO", {SIZES: synth.constant(1.0)}, late) == "reward/env_mean"
    assert named("layers-change-reward", "PPO", {SIZES: synth.clipped(synth.flat(0.9, 0.05), 0, 1)}, late) == SIZES


@pytest.mark.parametrize(
    ("tries", "metric"),
    [(None, "reward/eval_mean"), (0.0, "reward/eval_pass_at_k"), (0.3, "reward/eval_mean")],
    ids=("not logged", "not one of several is right", "one of several is right"),
)
def test_an_evaluation_that_is_all_wrong_shows_in_several_tries_first(tries: float | None, metric: str):
    solves = {"reward/success_rate": synth.clipped(synth.flat(0.6, 0.1), 0, 1), "reward/eval_mean": synth.constant(0.0)}
    more = {} if tries is None else {"reward/eval_pass_at_k": synth.constant(tries)}
    assert named("evaluation-all-wrong", "GRPO", solves | more) == metric


def test_of_a_proxy_and_an_objective_the_proxy_is_what_moves():
    shown = {"reward/true_objective": synth.ramp(0.5, 0.2, 0.05)}
    assert named("proxy-divergence", "GRPO", shown) == "reward/train_mean"


def test_of_success_that_is_not_paid_the_silence_of_the_groups_is_named():
    assert named("success-unpaid", "GRPO", BLIND) == "group/zero_std_fraction"


def test_a_warm_up_that_hardly_ends_shows_in_a_return_that_stays_where_it_was():
    assert named("learning-never-starts", "DQN", {}, LATE) == "reward/episode_return_mean"
    same = {"reward/env_mean": synth.constant(1.0), "reward/env_std": synth.constant(0.0)}
    assert named("learning-never-starts", "DQN", same, LATE) == "reward/episode_return_mean"
    moves = {"reward/env_mean": synth.flat(-1.0, 0.1), "reward/env_std": synth.flat(0.5, 0.1)}
    assert named("learning-never-starts", "DQN", moves, LATE) == "reward/env_mean"


def test_steps_that_are_played_several_at_a_time_show_in_what_a_step_is_paid():
    between = {"env_id": "Pendulum-v1", "env_wrappers": "Mine", "layers_looked": 300.0, "layers_frames": 8.0}
    assert named("layers-change-task", "PPO", {}, between) == "episode/length_mean"
    assert named("layers-change-task", "PPO", {"reward/env_mean": synth.flat(-40.0)}, between) == "reward/env_mean"
