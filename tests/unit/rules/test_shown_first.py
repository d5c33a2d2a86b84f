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
        (STILL | {"policy/ratio_p01": synth.flat(0.9, 0.02)}, "policy/kl_old"),
        (STILL | {"policy/ratio_max": synth.constant(1.0)}, "policy/ratio_max"),
        ({"policy/kl_old": synth.after(0.5, synth.constant(0.0), synth.flat(0.01)), "policy/ratio_p01": STOPS},
         "policy/kl_old"),
    ],
    ids=("KL alone", "tails at 1", "a tail that is not at 1", "one tail", "moved once"),
)  # fmt: skip
def test_a_policy_at_rest_shows_in_the_tails_of_its_ratios(tracks: Mapping[str, Shape], metric: str):
    assert named("policy-frozen", "PPO", tracks, STEPS) == metric


def test_weights_that_do_not_move_at_all_say_it_by_themselves():
    at_rest = {"optim/weight_delta": synth.constant(0.0), "policy/ratio_min": synth.constant(1.0)}
    assert named("policy-frozen", "A2C", at_rest) == "optim/weight_delta"


def test_a_constant_reward_shows_in_its_spread_where_that_is_logged():
    assert named("reward-constant", "PPO", PAID) == "reward/episode_return_mean"
    assert named("reward-constant", "PPO", PAID | {"reward/env_std": synth.constant(0.0)}) == "reward/env_std"


def test_of_success_that_is_not_paid_the_silence_of_the_groups_is_named():
    assert named("success-unpaid", "GRPO", BLIND) == "group/zero_std_fraction"


def test_a_warm_up_that_hardly_ends_shows_in_a_return_that_stays_where_it_was():
    assert named("learning-never-starts", "DQN", {}, LATE) == "reward/episode_return_mean"


def test_steps_that_are_played_several_at_a_time_show_in_what_a_step_is_paid():
    between = {"env_id": "Pendulum-v1", "env_wrappers": "Mine", "layers_looked": 300.0, "layers_frames": 8.0}
    assert named("layers-change-task", "PPO", {}, between) == "episode/length_mean"
    assert named("layers-change-task", "PPO", {"reward/env_mean": synth.flat(-40.0)}, between) == "reward/env_mean"
