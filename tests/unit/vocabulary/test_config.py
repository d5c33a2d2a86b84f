"""Configuration: each framework's names for one setting, with plain values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak import synth
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.vocabulary import canonical_config, config_keys, named_in

MISUSE = "kl-estimator-misuse"
PROMISED = """
gamma lr lr_schedule n_epochs n_minibatches batch_size n_steps n_envs clip_range clip_range_low clip_range_high
target_kl ent_coef vf_coef max_grad_norm gae_lambda normalize_advantage buffer_size learning_starts train_freq
gradient_steps tau target_update_interval total_steps kl_coef kl_estimator reference_free group_size num_iterations
temperature top_p top_k min_p max_response_tokens max_prompt_tokens gradient_accumulation steps_per_generation
loss_type scale_rewards reward_weights target_entropy action_space n_actions action_dim max_episode_steps
timeout_bootstrap max_staleness behaviour_cap decoupled_loss recompute_logprob eval_every eval_episodes
eval_deterministic eval_planned step_increment env_id seed model dataset reward_min reward_max moe epsilon_final
exploration_fraction optimizer reward_scale kl_in_loss kl_in_reward kl_reward_coef kl_reward_estimator
"""


def test_every_promised_key_has_a_meaning() -> None:
    assert set(PROMISED.split()) <= config_keys().keys()
    assert all(config_keys().values())


@pytest.mark.parametrize("key", PROMISED.split())
def test_a_canonical_name_stands_for_itself(key: str) -> None:
    assert canonical_config({key: 3})[key] == 3


@pytest.mark.parametrize(
    ("framework", "config", "expected"),
    [
        ("stable_baselines3", {"learning_rate": "3e-4", "ent_coef": "auto"}, {"lr": 3e-4, "ent_coef": "auto"}),
        ("cleanrl", {"clip_coef": "0.2", "norm_adv": "True"}, {"clip_range": 0.2, "normalize_advantage": True}),
        ("rl_games", {"params.config.tau": 0.95}, {"gae_lambda": 0.95}),
        ("rsl_rl", {"algorithm.lam": 0.95, "num_steps_per_env": 24}, {"gae_lambda": 0.95, "n_steps": 24}),
        ("skrl", {"discount_factor": 0.99, "entropy_loss_scale": 0.01}, {"gamma": 0.99, "ent_coef": 0.01}),
        ("trl", {"beta": 0.04, "num_generations": 8}, {"kl_coef": 0.04, "group_size": 8}),
        ("areal", {"actor.eps_clip": 0.2}, {"clip_range": 0.2, "scale_rewards": "none"}),
        ("slime", {"--eps-clip": 0.2, "--eps-clip-high": 0.28}, {"clip_range": 0.2, "clip_range_high": 0.28}),
        ("", {"reward_weights": "[1.0, 0.0]"}, {"reward_weights": [1.0, 0.0]}),
        ("", {"GAMMA": 0.9, "NUM_ENVS": "4"}, {"gamma": 0.9, "n_envs": 4}),
    ],
)
def test_names_of_each_framework(framework: str, config: dict[str, Any], expected: dict[str, Any]) -> None:
    assert canonical_config(config, framework) == expected


@pytest.mark.parametrize(
    ("framework", "config", "expected"),
    [
        ("areal", {"actor.behav_imp_weight_cap": 5.0}, {"behaviour_cap": 5.0}),
        ("areal", {"actor.behave_imp_weight_cap": 5.0}, {"behaviour_cap": 5.0}),
        ("areal", {"actor.rejection_sampling.upper": 5.0}, {"behaviour_cap": 5.0}),
        ("openrlhf", {"--actor_learning_rate": 5e-7, "--max_epochs": 2}, {"lr": 5e-7, "n_epochs": 2}),
        ("openrlhf", {"--lambd": 0.95, "--async_queue_size": 1}, {"gae_lambda": 0.95, "max_staleness": 1}),
        ("openrlhf", {"actor.adam.lr": 5e-7, "train.max_epochs": 2}, {"lr": 5e-7, "n_epochs": 2}),
        ("prime_rl", {"orchestrator.rollouts_per_example": 16}, {"group_size": 16}),
        ("trl", {"vllm_importance_sampling_cap": 2.0}, {"behaviour_cap": 2.0}),
    ],
)
def test_older_versions_named_settings_otherwise(
    framework: str, config: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert expected.items() <= canonical_config(config, framework).items()


def test_tau_of_rl_games_is_not_the_polyak_coefficient() -> None:
    assert "tau" not in canonical_config({"params.config.tau": 0.95}, "rl_games")
    assert canonical_config({"tau": 0.005}, "stable_baselines3") == {"tau": 0.005}


def test_each_part_of_a_nested_configuration_keeps_its_own() -> None:
    config = {
        "critic.optim.lr": 1e-5,
        "actor_rollout_ref.actor.optim.lr": 1e-6,
        "actor_rollout_ref.rollout.n": 8,
        "actor_rollout_ref.rollout.temperature": 1.0,
        "actor_rollout_ref.rollout.val_kwargs.temperature": 0,
    }
    assert canonical_config(config, "verl") == {"lr": 1e-6, "group_size": 8, "temperature": 1.0}
    assert canonical_config({"critic.optim.lr": 1e-5, "actor.optim.lr": 1e-6})["lr"] == 1e-6


@pytest.mark.parametrize("key", ["optimizer.epsilon", "optim.adam.beta", "eval.temperature", "lora.alpha", "ref.model"])
def test_a_setting_of_another_part_is_not_taken(key: str) -> None:
    assert canonical_config({key: 1e-8}) == {}


@pytest.mark.parametrize(
    ("env_id", "expected"),
    [
        ("CartPole-v1", {"action_space": "discrete", "n_actions": 2, "max_episode_steps": 500}),
        ("CartPole-v0", {"action_space": "discrete", "n_actions": 2, "max_episode_steps": 200}),
        ("Pendulum-v1", {"action_space": "continuous", "action_dim": 1, "max_episode_steps": 200}),
        ("gymnasium/HalfCheetah-v5", {"action_space": "continuous", "action_dim": 6, "max_episode_steps": 1000}),
        ("LunarLander-v3", {"action_space": "discrete", "n_actions": 4, "max_episode_steps": 1000}),
        ("MyCartPole-v1", {}),
    ],
)
def test_what_a_standard_environment_implies(env_id: str, expected: dict[str, Any]) -> None:
    assert canonical_config({"env_id": env_id}) == {"env_id": env_id, **expected}


def test_the_configuration_wins_over_what_the_environment_implies() -> None:
    assert canonical_config({"env_id": "CartPole-v1", "max_episode_steps": 100})["max_episode_steps"] == 100


def test_nothing_is_made_of_nothing() -> None:
    assert canonical_config({"lr": None, "gamma": "None", "target_kl": ""}) == {}


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text(max_size=15), st.one_of(st.none(), st.floats(), st.text(max_size=10)), max_size=5))
def test_any_configuration_can_be_read(config: dict[str, Any]) -> None:
    assert canonical_config(config).keys() <= config_keys().keys()


def test_the_warm_up_of_a_learning_rate_is_not_the_start_of_learning() -> None:
    """Transformers call it `warmup_steps`, off-policy scripts mean the steps before the first update."""
    assert canonical_config({"warmup_steps": 10}, "trl") == {"lr_warmup_steps": 10}
    assert canonical_config({"warmup_steps": 10}) == {"learning_starts": 10}


@pytest.mark.parametrize(
    ("path", "task"),
    [
        ("runs/CartPole-v1__ppo__1__1650000000", "CartPole-v1"),
        ("logs/ppo/MountainCarContinuous-v0_1", "MountainCarContinuous-v0"),
        ("logs/CartPole-v1/seed_2/tb", "CartPole-v1"),
        ("runs/MyCartPole-v1", ""),
        ("runs/CartPole-v1beta", ""),
        ("CartPole-v1/a/b/c/d", ""),
        ("runs/ppo", ""),
    ],
)
def test_a_standard_task_is_read_off_the_name_of_a_run(path: str, task: str) -> None:
    assert named_in(path) == task


VERL = {
    "actor_rollout_ref.actor.use_kl_loss": False,
    "actor_rollout_ref.actor.kl_loss_coef": 0.001,
    "actor_rollout_ref.actor.kl_loss_type": "low_var_kl",
    "algorithm.use_kl_in_reward": False,
    "algorithm.kl_ctrl.kl_coef": 0.02,
    "algorithm.kl_penalty": "kl",
}
SLIME = {"--kl-loss-coef": 0.001, "--kl-loss-type": "k1", "--kl-coef": 0.0}


@pytest.mark.parametrize(
    ("framework", "config", "coefficient", "estimator"),
    [
        ("verl", VERL, 0.0, None),
        ("verl", {**VERL, "algorithm.use_kl_in_reward": True}, 0.02, "kl"),
        ("verl", {**VERL, "actor_rollout_ref.actor.use_kl_loss": True}, 0.001, "low_var_kl"),
        ("verl", {"algorithm.use_kl_in_reward": True, "algorithm.kl_ctrl.kl_coef": 0.02}, 0.02, None),
        ("slime", {**SLIME, "--use-kl-loss": False}, 0.0, None),
        ("slime", {**SLIME, "--use-kl-loss": False, "--kl-coef": 0.05}, 0.05, "k1"),
        ("slime", {**SLIME, "--use-kl-loss": True}, 0.001, "k1"),
        ("roll", {"kl_loss_coef": 0.001, "init_kl_coef": 0.2}, 0.0, None),
        ("roll", {"kl_loss_coef": 0.001, "init_kl_coef": 0.2, "add_token_level_kl": True}, 0.2, None),
        ("areal", {"actor.kl_ctl": 0.1, "actor.kl_estimator": "k1"}, 0.1, "k1"),
        ("openrlhf", {"algo.kl.init_coef": 0.01, "algo.kl.estimator": "k1"}, 0.01, "k1"),
        ("skyrl", {"trainer.algorithm.use_kl_loss": False, "trainer.algorithm.kl_loss_coef": 0.001}, None, None),
        ("", {"use_kl_loss": False, "use_kl_in_reward": False, "beta": 0.04}, 0.0, None),
        ("", {"beta": 0.04}, 0.04, None),
    ],
)
def test_the_kl_penalty_in_force_counts_and_not_one_that_a_switch_turns_off(
    framework: str, config: dict[str, Any], coefficient: float | None, estimator: str | None
) -> None:
    found = canonical_config(config, framework)
    assert found.get("kl_coef") == coefficient
    if coefficient:
        assert found.get("kl_estimator") == estimator


@pytest.mark.parametrize(("switch", "in_loss"), [(True, True), (False, False), (None, False)])
def test_openrlhf_pays_the_kl_out_of_the_reward_unless_told_otherwise(switch: bool | None, in_loss: bool) -> None:
    found = canonical_config({"algo.kl.init_coef": 0.01, "algo.kl.use_loss": switch}, "openrlhf")
    assert found["kl_in_loss"] is in_loss


@pytest.mark.parametrize(
    ("framework", "settings", "named"),
    [
        ("areal", {"actor.kl_ctl": 0.1, "actor.kl_estimator": "k1"}, set[str]()),
        ("openrlhf", {"algo.kl.init_coef": 0.01, "algo.kl.estimator": "k1"}, set[str]()),
        ("openrlhf", {"algo.kl.init_coef": 0.01, "algo.kl.estimator": "k1", "algo.kl.use_loss": True}, {MISUSE}),
        ("verl", VERL, {"no-kl-anchor"}),
        ("verl", {**VERL, "algorithm.use_kl_in_reward": True}, set[str]()),
        ("slime", {**SLIME, "--use-kl-loss": True}, {MISUSE}),
    ],
)
def test_a_signed_estimate_is_called_misused_only_where_it_is_the_loss(
    framework: str, settings: dict[str, Any], named: set[str]
) -> None:
    config = {**settings, **canonical_config(settings, framework)}
    log = synth.like("GRPO", framework=framework, config=config)({})
    assert {f.name for f in diagnose_log(log, Settings()).findings} & {MISUSE, "no-kl-anchor"} == named


@pytest.mark.parametrize(
    ("framework", "settings", "divides"),
    [
        ("verl", {"algorithm.norm_adv_by_std_in_grpo": False}, False),
        ("verl", {"algorithm.norm_adv_by_std_in_grpo": True}, True),
        ("skyrl", {"trainer.algorithm.grpo_norm_by_std": False}, False),
        ("nemo_rl", {"grpo.normalize_rewards": False}, False),
        ("slime", {"--disable-grpo-std-normalization": True}, False),
        ("slime", {"--disable-grpo-std-normalization": False}, True),
        ("openrlhf", {"algo.advantage.no_std_norm": True}, False),
        ("areal", {"gconfig.n_samples": 8}, False),
        ("areal", {"actor.reward_norm.std_level": "group"}, True),
        ("prime_rl", {"orchestrator.group_size": 8}, False),
        ("open_instruct", {"--advantage_normalization_type": "centered"}, False),
        ("trl", {"scale_rewards": "none"}, False),
        ("trl", {}, True),
    ],
)
def test_who_does_not_divide_by_the_spread_of_the_group_is_not_told_so(
    framework: str, settings: dict[str, Any], divides: bool
) -> None:
    config = {**settings, **canonical_config(settings, framework)}
    tiny = {"group/reward_std_mean": synth.flat(0.01, 0.1), "reward/train_std": synth.flat(0.4, 0.05)}
    log = synth.like("GRPO", framework=framework, config=config)(tiny)
    assert ("difficulty-bias" in {f.name for f in diagnose_log(log, Settings()).findings}) == divides
