"""Keys of hand-written loops: plain words are understood, unclear ones are left alone."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.vocabulary import guess, map_keys, metrics

LANGUAGE = ("response_length",)
"""A key that only a language model's log has."""


def metric_of(key: str, beside: Iterable[str] = ()) -> str:
    found = map_keys([key, *beside], "", "").get(key)
    assert found is None or found.confidence == "alias"
    return found.metric if found else ""


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ("train/grad_norm", "optim/grad_norm"),
        ("gradient norm", "optim/grad_norm"),
        ("GradNorm", "optim/grad_norm"),
        ("critic/grad_norm", "critic/grad_norm"),
        ("actor/grad_norm", "optim/actor_grad_norm"),
        ("Policy/kl", "policy/kl_old"),
        ("Policy/clipped", "policy/clip_fraction"),
        ("Train/mean_length", "episode/length_mean"),
        ("Train/mean_reward", "reward/episode_return_mean"),
        ("AverageEpRet", "reward/episode_return_mean"),
        ("ret", "reward/episode_return_mean"),
        ("avg_score", "reward/episode_return_mean"),
        ("approx_kl", "policy/kl_old"),
        ("losses/approxKL", "policy/kl_old"),
        ("kl_old", "policy/kl_old"),
        ("losses/old_approx_kl", "policy/kl_k1"),
        ("kl_to_ref", "policy/kl_ref"),
        ("clip_frac", "policy/clip_fraction"),
        ("ppo/clipfrac", "policy/clip_fraction"),
        ("actor/pg_clipfrac", "policy/clip_fraction"),
        ("vf_clip_frac", "critic/clip_fraction"),
        ("policy/entropy_mean", "policy/entropy"),
        ("losses/entropy", "policy/entropy"),
        ("explained_var", "critic/explained_variance"),
        ("vf_explained_variance", "critic/explained_variance"),
        ("value_loss", "critic/loss"),
        ("loss/vf_loss", "critic/loss"),
        ("critic loss", "critic/loss"),
        ("loss", "optim/loss_total"),
        ("train/loss", "optim/loss_total"),
        ("policy_loss", "policy/loss"),
        ("loss/actor", "policy/loss"),
        ("ep_rew_mean", "reward/episode_return_mean"),
        ("eprewmean", "reward/episode_return_mean"),
        ("charts/episodic_return", "reward/episode_return_mean"),
        ("mean_reward", "reward/episode_return_mean"),
        ("return", "reward/episode_return_mean"),
        ("eplenmean", "episode/length_mean"),
        ("eval/episode_reward", "reward/eval_return_mean"),
        ("test_return", "reward/eval_return_mean"),
        ("heldout_accuracy", "reward/eval_mean"),
        ("completion_length", "seq/len_mean"),
        ("avg response tokens", "seq/len_mean"),
        ("response_length/max", "seq/len_max"),
        ("clipped_ratio", "seq/truncated_fraction"),
        ("truncation_rate", "seq/truncated_fraction"),
        ("no_eos_ratio", "seq/truncated_fraction"),
        ("frac_zero_std", "group/zero_std_fraction"),
        ("zero_std_group_fraction", "group/zero_std_fraction"),
        ("homogeneous_groups_ratio", "group/zero_std_fraction"),
        ("importance_sampling_ratio", "policy/ratio_mean"),
        ("is_ratio_max", "policy/ratio_max"),
        ("vllm_importance_ratio", "async/behave_ratio_mean"),
        ("behave_imp_weight", "async/behave_ratio_mean"),
        ("rollout_is_weight", "async/behave_ratio_mean"),
        ("trainer_vllm_logp_diff", "async/logprob_mismatch"),
        ("engine log_probs gap", "async/logprob_mismatch"),
        ("staleness", "async/staleness_mean"),
        ("policy_lag", "async/staleness_mean"),
        ("alpha", "sac/alpha"),
        ("alpha_loss", "sac/alpha_loss"),
        ("epsilon", "dqn/epsilon"),
        ("q_values", "critic/q_mean"),
        ("Q Targets Mean", "critic/target_mean"),
        ("action_noise_std", "policy/action_std"),
        ("policy_std", "policy/action_std"),
        ("learning_rate", "optim/lr"),
        ("charts/SPS", "time/fps"),
        ("steps_per_second", "time/fps"),
        ("tokens_per_sec", "perf/tokens_per_sec"),
        ("lr_now", "optim/lr"),
        ("current_lr", "optim/lr"),
        ("L_vf", "critic/loss"),
        ("L_td", "critic/loss"),
        ("L_q1", "critic/loss"),
        ("expl_variance", "critic/explained_variance"),
        ("crit_loss", "critic/loss"),
        ("L_pg", "policy/loss"),
        ("L_clip", "policy/loss"),
        ("surr_loss", "policy/loss"),
        ("kl_est", "policy/kl_old"),
        ("approximate_kl", "policy/kl_old"),
        ("gnorm", "optim/grad_norm"),
        ("expl_var", "critic/explained_variance"),
        ("clipped_frac", "policy/clip_fraction"),
        ("pi_entropy", "policy/entropy"),
        ("mean_R", "reward/episode_return_mean"),
        ("sum_reward", "reward/episode_return_mean"),
        ("rand_frac", "dqn/epsilon"),
    ],
)
def test_plain_words(key: str, metric: str) -> None:
    assert metric_of(key) == metric


@pytest.mark.parametrize(
    "key",
    [
        "kl",
        "kl_loss",
        "kl_penalty",
        "entropy_loss",
        "entropy_bonus",
        "ratio",
        "returns",
        "target",
        "temperature",
        "eval/loss",
        "val_loss",
        "test/grad_norm_ratio",
        "value_clip_range",
        "reward_scale",
        "best_reward",
        "time_step",
        "reward(lag=3)",
        "system.cpu",
        "",
        "///",
    ],
)
def test_unclear_words_are_left_alone(key: str) -> None:
    assert metric_of(key) == ""


def test_reward_means_what_the_log_is_about() -> None:
    assert metric_of("reward", LANGUAGE) == "reward/train_mean"
    assert metric_of("reward") == "reward/episode_return_mean"
    assert metric_of("eval/reward", LANGUAGE) == "reward/eval_mean"
    assert metric_of("eval/reward") == "reward/eval_return_mean"


def test_a_lone_letter_is_read_beside_an_update_of_a_policy_only() -> None:
    assert metric_of("H", ["L_pg"]) == "policy/entropy"
    assert metric_of("H") == ""
    assert metric_of("clip_pct", ["policy_loss"]) == "policy/clip_fraction"
    assert metric_of("clip_pct", ["policy_loss", *LANGUAGE]) == ""
    assert metric_of("clip_pct") == ""
    assert metric_of("cf", ["pi_loss"]) == "policy/clip_fraction"
    assert metric_of("cf") == ""


def test_control_words_are_not_read_in_a_language_log() -> None:
    assert metric_of("alpha", LANGUAGE) == metric_of("epsilon", LANGUAGE) == metric_of("q", LANGUAGE) == ""


def test_accuracy_is_an_objective_only_beside_a_reward() -> None:
    assert metric_of("accuracy") == metric_of("mean_token_accuracy", ["reward"]) == ""
    assert metric_of("accuracy", ["reward"]) == "reward/true_objective"


def test_reward_terms() -> None:
    found = map_keys(["rewards/format/mean", "digit_reward", "best_reward", "rewards/true_score/mean"], "", "")
    assert found["rewards/format/mean"].component == "format"
    assert found["digit_reward"].component == "digit"
    assert "best_reward" not in found
    assert found["rewards/true_score/mean"].metric == "reward/true_objective"


def test_log_std_is_turned_into_a_std() -> None:
    found = map_keys(["action_log_std"], "", "")["action_log_std"]
    assert (found.metric, found.transform) == ("policy/action_std", "exp")


def test_of_two_keys_the_more_telling_counts() -> None:
    found = map_keys(["reward", "episode_return"], "", "")
    assert list(found) == ["episode_return"]


def test_two_equally_telling_keys_cancel_each_other() -> None:
    assert map_keys(["critic_loss_q1", "QF1 Loss", "QF2 Loss"], "", "")["QF1 Loss"].metric == "critic/loss"
    assert map_keys(["eval/pass@4", "test/pass@8"], "", "") == {}


def test_one_metric_under_two_prefixes_is_one_metric() -> None:
    assert set(map_keys(["grad_norm", "train/grad_norm"], "", "")) == {"grad_norm", "train/grad_norm"}


def test_an_alias_never_replaces_a_framework_key() -> None:
    found = map_keys(["train/approx_kl", "approx_kl"], "stable_baselines3", "PPO")
    assert list(found) == ["train/approx_kl"]
    assert found["train/approx_kl"].confidence == "exact"


@pytest.mark.parametrize(
    ("key", "metric"),
    [
        ("train/entropy_loss", "policy/entropy"),
        ("my_clip_fraction_thing", "policy/clip_fraction"),
        ("zzz", None),
        ("system.network.sent", None),
    ],
)
def test_guess_is_for_display(key: str, metric: str | None) -> None:
    assert guess(key) == metric


def test_the_table_speaks_of_known_metrics_and_contexts() -> None:
    table = tomllib.loads(files("firstbreak.vocabulary").joinpath("aliases.toml").read_text("utf-8"))
    for entry in [*table["alias"], *table["family"]]:
        assert entry["metric"] in metrics(), entry
        assert entry.get("context", "") in {"", "language", "control", "episodes", "policy", "reward"}
        assert set(entry.get("keep", ())) <= set(table["ignore"])


@settings(deadline=None, max_examples=80)
@given(st.lists(st.text(max_size=25), max_size=8, unique=True))
def test_any_text_can_be_read(keys: list[str]) -> None:
    found = map_keys(keys, "", "")
    assert found.keys() <= set(keys)
    assert all(m.metric in metrics() for m in found.values())
    assert all(name is None or name in metrics() for name in map(guess, keys))
