"""Where a key does not mean what its name says: one test for each trap."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.errors import UnknownNameError
from firstbreak.loading import load
from firstbreak.vocabulary import MappedKey, apply_transform, framework_names, map_keys, usable


def meaning(key: str, framework: str, algorithm: str = "", beside: Iterable[str] = ()) -> MappedKey | None:
    return map_keys([key, *beside], framework, algorithm).get(key)


def the(key: str, framework: str, algorithm: str = "", beside: Iterable[str] = ()) -> MappedKey:
    found = meaning(key, framework, algorithm, beside)
    assert found is not None, f"{key} has no meaning in {framework}"
    return found


def test_sb3_entropy_loss_is_minus_the_entropy() -> None:
    found = the("train/entropy_loss", "stable_baselines3", "PPO")
    assert (found.metric, found.transform) == ("policy/entropy", "negate")


@pytest.mark.parametrize(
    ("framework", "key"),
    [
        ("openrlhf", "train/entropy_loss"),
        ("slime", "train/entropy_loss"),
        ("verl", "actor/entropy_loss"),
        ("tianshou", "update/ent_loss/mean"),
        ("rsl_rl", "Loss/entropy"),
        ("rsl_rl", "Mean entropy loss"),
        ("roll", "critic/entropy/mean"),
        ("cleanrl", "losses/entropy"),
    ],
)
def test_entropy_that_is_positive_whatever_its_name(framework: str, key: str) -> None:
    found = the(key, framework)
    assert (found.metric, found.transform) == ("policy/entropy", "")


def test_skrl_entropy_loss_hangs_on_the_algorithm() -> None:
    ppo = the("Loss / Entropy loss", "skrl", "PPO")
    assert (ppo.metric, ppo.transform) == ("policy/entropy", "negate_divide_by:ent_coef")
    assert the("Loss / Entropy loss", "skrl", "SAC").metric == "sac/alpha_loss"
    assert meaning("Loss / Entropy loss", "skrl") is None


@pytest.mark.parametrize(
    ("framework", "algorithm", "key", "metric", "estimator"),
    [
        ("stable_baselines3", "PPO", "train/approx_kl", "policy/kl_old", "k3"),
        ("stable_baselines3", "TRPO", "train/kl_divergence_loss", "policy/kl_old", "exact_old_new"),
        ("cleanrl", "PPO", "losses/approx_kl", "policy/kl_old", "k3"),
        ("cleanrl", "PPO", "losses/old_approx_kl", "policy/kl_k1", "k1"),
        ("torchrl", "PPO", "train/kl_approx", "policy/kl_k1", "k1"),
        ("rllib", "PPO", "learners/default_policy/mean_kl_loss", "policy/kl_old", "exact_old_new"),
        ("rl_games", "PPO", "info/kl", "policy/kl_old", "exact_new_old"),
        ("trl", "GRPO", "kl", "policy/kl_ref", ""),
        ("trl", "RLOO", "train/kl", "policy/kl_ref", ""),
        ("trl", "AsyncGRPO", "kl", "policy/kl_old", "k3"),
        ("trl", "RLHF-PPO", "objective/kl", "policy/kl_ref_seq", "k1"),
        ("trl", "RLHF-PPO", "policy/approxkl_avg", "policy/kl_old", "k2"),
        ("verl", "GRPO", "actor/ppo_kl", "policy/kl_k1", "k1"),
        ("verl", "GRPO", "actor/reward_kl_penalty", "policy/kl_ref", "k1"),
        ("verl", "GRPO", "rollout_corr/k3_kl", "async/mismatch_kl", "k3"),
        ("verl", "GRPO", "mismatch/mismatch_kl", "async/mismatch_kl", "k1"),
        ("openrlhf", "GRPO", "train/ppo_kl", "policy/kl_k1", "k1"),
        ("openrlhf", "GRPO", "train/vllm_kl", "async/mismatch_kl", "k1"),
        ("areal", "GRPO", "ppo_actor/update/approx_kl/avg", "policy/kl_k1", "k1"),
        ("prime_rl", "GRPO", "mismatch_kl/all/mean", "async/mismatch_kl", "k3"),
        ("roll", "GRPO", "actor/approxkl", "policy/kl_old", "k2"),
        ("slime", "GRPO", "train/ppo_kl", "policy/kl_k1", "k1"),
    ],
)
def test_each_kl_is_its_own(framework: str, algorithm: str, key: str, metric: str, estimator: str) -> None:
    found = the(key, framework, algorithm)
    assert (found.metric, found.estimator) == (metric, estimator)


@pytest.mark.parametrize("settings", [{}, {"algorithm": "GRPO"}, {"algorithm": "RLOO"}])
def test_rloo_of_trl_logs_a_k1_that_scatters_below_0_under_the_key_of_grpo(settings: dict[str, str]) -> None:
    rows = {"frac_reward_zero_std": [0.2] * 30, "kl": [0.01, -0.0135, 0.02] * 10, "reward": [0.5] * 30}
    log = load({key: list(enumerate(values)) for key, values in rows.items()}, config=settings)
    assert log.get("policy/kl_ref") is not None
    assert "impossible-value" not in {finding.name for finding in diagnose_log(log, Settings()).findings}


def test_the_same_kl_key_of_trl_is_not_guessed_without_the_algorithm() -> None:
    assert meaning("kl", "trl") is None


@pytest.mark.parametrize(
    ("framework", "key"),
    [("areal", "ppo_actor/update/approx_kl/avg"), ("prime_rl", "ref_kl/mean"), ("roll", "actor/policykl")],
)
def test_kl_logged_with_the_opposite_sign(framework: str, key: str) -> None:
    assert the(key, framework).transform == "negate"


@pytest.mark.parametrize("name", framework_names())
def test_a_k1_estimate_never_counts_as_a_kl_that_cannot_be_negative(name: str) -> None:
    from firstbreak.vocabulary import framework

    assert not [key for key in framework(name).keys if key.metric == "policy/kl_old" and key.estimator == "k1"]


@pytest.mark.parametrize("algorithm", ["PPO", "A2C", "TRPO"])
def test_sb3_on_policy_rows_hold_the_update_before(algorithm: str) -> None:
    found = the("train/explained_variance", "stable_baselines3", algorithm)
    assert (found.timing, found.lag_rows) == ("previous_update", 1)
    assert the("rollout/ep_rew_mean", "stable_baselines3", algorithm).lag_rows == 0


@pytest.mark.parametrize("algorithm", ["SAC", "TD3", "DQN", ""])
def test_sb3_off_policy_rows_are_on_time(algorithm: str) -> None:
    assert the("train/n_updates", "stable_baselines3", algorithm).lag_rows == 0


def test_pufferlib_losses_are_one_interval_late() -> None:
    assert the("losses/approx_kl", "pufferlib", "PPO").lag_rows == 1
    assert the("environment/episode_return", "pufferlib", "PPO").lag_rows == 0


def test_sb3_train_loss_hangs_on_the_algorithm() -> None:
    assert the("train/loss", "stable_baselines3", "DQN").metric == "critic/loss"
    ppo = the("train/loss", "stable_baselines3", "PPO")
    assert (ppo.metric, ppo.aggregation) == ("optim/loss_total", "last_minibatch")
    assert meaning("train/loss", "stable_baselines3") is None


@pytest.mark.parametrize(
    ("framework", "key", "aggregation"),
    [
        ("stable_baselines3", "train/approx_kl", "last_epoch"),
        ("cleanrl", "losses/value_loss", "last_minibatch"),
        ("cleanrl", "losses/clipfrac", "mean"),
        ("rllib", "learners/default_policy/vf_loss", "last_minibatch"),
    ],
)
def test_what_a_number_is_averaged_over(framework: str, key: str, aggregation: str) -> None:
    assert the(key, framework, "PPO").aggregation == aggregation


def test_rllib_value_loss_is_cut_and_has_an_uncut_twin() -> None:
    assert "vf_clip_param" in the("learners/default_policy/vf_loss", "rllib", "PPO").note
    assert the("learners/default_policy/vf_loss_unclipped", "rllib", "PPO").metric == "critic/loss_unclipped"


@pytest.mark.parametrize(
    ("framework", "key", "word"),
    [
        ("stable_baselines3", "train/value_loss", "without any factor"),
        ("cleanrl", "losses/value_loss", "one half"),
        ("skrl", "Loss / Value loss", "coefficient"),
        ("torchrl", "loss_critic", "coefficient"),
        ("prime_rl", "loss/mean", "NaN"),
        ("rllib", "env_runners/episode_return_mean", "NaN"),
        ("areal", "ppo_actor/no_eos_ratios/avg", "padded width"),
        ("verl", "response_length/clip_ratio", "padded"),
        ("verl_agent", "response_length/mean", "one step"),
        ("trl", "loss", "0 by construction"),
    ],
)
def test_the_note_says_what_to_beware_of(framework: str, key: str, word: str) -> None:
    assert word in the(key, framework, "PPO").note


@pytest.mark.parametrize(
    ("framework", "key"),
    [
        ("sample_factory", "train/ratio_mean"),
        ("nemo_rl", "train/probs_ratio_clamped"),
        ("nemo_rl", "train/num_masked_seqs_by_logprob_error"),
        ("roll", "critic/correct/mean"),
        ("roll", "actor/train_infer_diff_token_mean"),
        ("open_instruct", "time/generation_waiting_for_trainer"),
        ("slime", "perf/actor_train_tflops"),
        ("torchrl", "write_count"),
        ("trl", "rewards/chosen"),
        ("trl", "train/rewards/accuracies"),
        ("trl", "eps"),
        ("cleanrl", "eval/episodic_return"),
        ("rl_games", "rewards/time"),
        ("rl_games", "rewards/iter"),
        ("rl_games", "diagnostics/exp_var"),
        ("rsl_rl", "Train/mean_reward/time"),
        ("verl", "val-aux/gsm8k/format/mean@4"),
        ("areal", "rollout/accepted"),
        ("areal", "rollout/rejected"),
        ("trl", "objective/entropy"),
        ("torchtune", "num_stop_tokens"),
        ("skyrl", "policy/response_length"),
        ("nemo_rl", "train/total_num_tokens"),
    ],
)
def test_keys_whose_words_mislead_stay_without_a_meaning(framework: str, key: str) -> None:
    assert meaning(key, framework, "PPO") is None


def test_torchrl_reward_is_per_step_where_the_return_has_its_own_key() -> None:
    assert the("train/reward", "torchrl", "SAC", ["train/episode_reward"]).metric == "reward/step_mean"
    assert the("train/reward", "torchrl", "SAC").metric == "reward/episode_return_mean"


@pytest.mark.parametrize("scope", ["grpo_actor", "ppo_actor"])
@pytest.mark.parametrize(
    "name", ["task_reward/avg", "entropy/avg", "behave_imp_weight/avg", "grad_norm", "seq_len/avg"]
)
def test_areal_up_to_v0_4_0_scoped_its_keys_otherwise(scope: str, name: str) -> None:
    now = "" if name in ("task_reward/avg", "seq_len/avg") else "update/"
    assert the(f"{scope}/{name}", "areal") == the(f"ppo_actor/{now}{name}", "areal")


V0_4 = {"reward/mean": 0.4, "completion_len/mean": 300.0, "batch/solve_none": 0.3, "batch/solve_all": 0.2}
V0_6 = {"reward/all/mean": 0.4, "decode_len/all/mean": 300.0, "solve_none/all": 0.3, "solve_all/all": 0.2}


@pytest.mark.parametrize("keys", [V0_4, V0_6])
def test_older_versions_of_prime_rl_had_other_names(keys: dict[str, float]) -> None:
    log = load({key: list(enumerate([value] * 4)) for key, value in keys.items()})
    assert log.framework == "prime_rl"
    found = {series.metric: float(series.value[-1]) for series in log.series}
    assert found == {
        "reward/train_mean": 0.4,
        "seq/len_mean": 300.0,
        "group/none_solved_fraction": 0.3,
        "group/all_solved_fraction": 0.2,
    }


def test_a_loop_of_ones_own_with_such_words_is_not_prime_rl() -> None:
    rows = {"reward/mean": 0.4, "reward/max": 1.0, "entropy/mean": 0.5, "seq_len/mean": 300.0, "loss/mean": 0.1}
    assert load({key: list(enumerate([value] * 4)) for key, value in rows.items()}).framework == ""


def test_an_old_log_of_areal_is_recognised_and_its_rate_of_success_made() -> None:
    rows = {
        "grpo_actor/task_reward/avg": 0.5,
        "grpo_actor/importance_weight/avg": 1.0,
        "grpo_actor/correct_n_seqs": 64.0,
        "grpo_actor/n_seqs": 128.0,
        "grpo_actor/grad_norm": 0.3,
    }
    log = load({key: list(enumerate([value] * 4)) for key, value in rows.items()})
    assert log.framework == "areal"
    made = log.get("reward/success_rate")
    assert made is not None
    assert made.value.tolist() == [0.5] * 4


def test_skyrl_extra_metrics_are_not_reward_terms() -> None:
    assert the("environment/steps_taken", "skyrl").metric == "env/metric"


def test_trl_reward_function_that_is_not_trained_on() -> None:
    keys = ["rewards/length/mean", "rewards/judge/mean", "rewards/true_accuracy/mean"]
    by_name = map_keys(keys, "trl", "GRPO")
    assert by_name["rewards/true_accuracy/mean"].metric == "reward/true_objective"
    assert by_name["rewards/judge/mean"] == MappedKey("reward/component", "judge")
    for config in (
        {"reward_weights": {"length": 1.0, "judge": 0.0}},
        {"reward_weights": [1.0, 0.0], "reward_funcs": ["length", "judge"]},
    ):
        by_weight = map_keys(keys, "trl", "GRPO", config=config)
        assert by_weight["rewards/judge/mean"].metric == "reward/true_objective"
        assert by_weight["rewards/length/mean"].metric == "reward/component"


def test_trl_speaks_alike_in_its_state_file_and_in_trackers() -> None:
    for key in ("reward", "train/reward"):
        assert the(key, "trl", "GRPO").metric == "reward/train_mean"
    for key in ("eval_reward", "eval/reward"):
        assert the(key, "trl", "GRPO").metric == "reward/eval_mean"
    assert meaning("eval/completions/mean_length", "trl", "GRPO") is None


def test_step_axes() -> None:
    from firstbreak.vocabulary import framework

    assert framework("skrl").clock == "rows", "skrl counts steps of the vector, not of its environments"
    assert framework("rsl_rl").clock == "updates"
    assert framework("stable_baselines3").clock == "env_steps"
    assert framework("trl").clock == "updates"


def test_the_user_has_the_last_word() -> None:
    found = map_keys(["train/approx_kl", "mine"], "stable_baselines3", "PPO", {"train/approx_kl": "policy/kl_k1"})
    assert found["train/approx_kl"] == MappedKey("policy/kl_k1", confidence="user")
    part = map_keys(["mine"], "", "", {"mine": "reward/component@format"})["mine"]
    assert (part.metric, part.component) == ("reward/component", "format")
    with pytest.raises(UnknownNameError):
        map_keys(["mine"], "", "", {"mine": "policy/kll_old"})


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        ("", [1.0, 50.0]),
        ("negate", [-1.0, -50.0]),
        ("exp", [np.e, np.exp(50.0)]),
        ("log", [0.0, np.log(50.0)]),
        ("percent", [0.01, 0.5]),
        ("one_minus", [0.0, -49.0]),
        ("scale:-0.5", [-0.5, -25.0]),
        ("divide_by:vf_coef", [2.0, 100.0]),
        ("negate_divide_by:ent_coef", [-100.0, -5000.0]),
    ],
)
def test_transforms(transform: str, expected: list[float]) -> None:
    got = apply_transform(transform, np.array([1.0, 50.0]), {"vf_coef": 0.5, "ent_coef": "0.01"})
    np.testing.assert_allclose(got, expected)


@pytest.mark.parametrize(
    "config", [{}, {"ent_coef": 0.0}, {"ent_coef": "auto"}, {"ent_coef": None}, {"ent_coef": True}]
)
def test_an_unknown_factor_makes_a_key_unusable(config: dict[str, object]) -> None:
    found = MappedKey("policy/entropy", transform="negate_divide_by:ent_coef")
    assert not usable(found, config)
    assert np.isnan(apply_transform(found.transform, np.ones(3), config)).all()


def test_an_unknown_transform_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown transform"):
        apply_transform("square", np.ones(1), {})
