"""Who wrote a log: real key lists are recognised, loops of unknown origin are not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.vocabulary import framework, framework_names, recognise

KEYS = Path(__file__).parents[2] / "data" / "keys"
RECORDED = sorted(KEYS.glob("*.json"))


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_a_real_log_is_recognised_by_its_keys_alone(path: Path) -> None:
    log = read(path)
    got = recognise(log["keys"], log["config"])
    assert (got.framework, got.algorithm) == (log["framework"], log["algorithm"])
    assert got.verified
    assert got.clock == framework(got.framework).clock


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_order_does_not_matter(path: Path) -> None:
    keys = list(read(path)["keys"])
    shuffled = random.Random(0).sample(keys, len(keys))
    assert recognise(shuffled) == recognise(keys)


@pytest.mark.parametrize("path", RECORDED, ids=lambda p: p.stem)
def test_other_letters_are_other_keys(path: Path) -> None:
    keys = [key.swapcase() for key in read(path)["keys"]]
    assert recognise(keys).framework == ""


UNKNOWN = {
    "a SAC loop": "episode_return actor_loss critic_loss alpha alpha_loss steps_per_second q1",
    "a PPO loop": "loss policy_loss value_loss entropy approx_kl clipfrac lr rewards returns advantages gn",
    "a scoped PPO loop": "train/loss train/entropy train/kl eval/return train/grad_norm train/lr",
    "a scoped SAC loop": "train/reward train/actor_loss train/q_loss train/alpha train/entropy train/lr eval/reward",
    "a GRPO loop": "reward loss kl grad_norm lr response_length clipfrac entropy ratios scores",
    "a DQN loop": "loss epsilon q_values returns speed lr",
    "a classifier": "loss accuracy val_loss val_accuracy lr epoch",
    "fine-tuning": "loss grad_norm learning_rate epoch num_tokens mean_token_accuracy entropy",
    "baselines": "approxkl clipfrac ep_rewmean eplenmean explained_variance policy_entropy policy_loss value_loss fps",
    "the machine": "system.cpu system.memory gpu.0.powerWatts",
    "nothing": "",
}


@pytest.mark.parametrize("keys", UNKNOWN.values(), ids=UNKNOWN)
def test_a_loop_of_unknown_origin_stays_unknown(keys: str) -> None:
    assert recognise(keys.split()).framework == ""


def test_two_frameworks_in_one_log_are_not_decided() -> None:
    keys = ["rollout/ep_rew_mean", "rollout/ep_len_mean", "Train/mean_reward", "Train/mean_episode_length"]
    got = recognise(keys)
    assert got.framework == ""
    assert set(got.rivals) >= {"stable_baselines3", "rsl_rl"}


def test_a_hint_counts_only_with_a_key_of_that_framework() -> None:
    assert recognise(["reward", "loss", "kl"], None, "trl").framework == "trl"
    assert recognise(["my/own"], None, "trl").framework == ""


def test_supervised_fine_tuning_has_no_algorithm() -> None:
    assert recognise(["loss", "grad_norm", "learning_rate", "epoch", "entropy"], None, "trl").algorithm == ""


SIGNS = {
    "trl": ("frac_reward_zero_std", "reward"),
    "verl": ("critic/score/mean", "actor/pg_loss", "response_length/mean", "actor/pg_clipfrac_lower"),
    "ragen": ("critic/score/mean", "actor/pg_clipfrac_lower", "collapse/mi_estimate"),
    "openrlhf": ("train/reward", "train/ppo_kl", "train/actor_grad_norm", "train/ppo_clip_ratio", "train/actor_lr"),
    "areal": ("ppo_actor/update/entropy/avg", "ppo_actor/task_reward/avg"),
    "prime_rl": ("mismatch_kl/all/mean", "entropy/all/mean", "optim/grad_norm"),
    "slime": ("rollout/raw_reward", "train/ppo_kl", "train/pg_loss"),
    "skyrl": ("reward/avg_raw_reward", "policy/policy_entropy"),
    "nemo_rl": ("train/probs_ratio", "train/gen_kl_error", "train/reward"),
    "roll": ("actor/approxkl", "critic/entropy/mean", "actor_train/grad_norm"),
    "open_instruct": ("objective/verifiable_reward", "val/stop_rate"),
    "unsloth": ("Training Loss", "reward", "reward_std", "completion_length", "kl"),
}


@pytest.mark.parametrize("name", SIGNS)
def test_language_frameworks_are_told_apart(name: str) -> None:
    assert recognise(SIGNS[name]).framework == name


@pytest.mark.parametrize("name", framework_names())
def test_every_framework_is_found_by_its_whole_vocabulary(name: str) -> None:
    keys = [key.exact for key in framework(name).keys if key.exact] + [
        s for sign in framework(name).signs for s in sign
    ]
    assert recognise([key for key in keys if not key.startswith("^")]).framework in {name, framework(name).extends}


LANGUAGE = ["response_length/mean", "critic/score/mean", "actor/pg_clipfrac_lower"]


@pytest.mark.parametrize(
    ("keys", "config", "algorithm"),
    [
        (["policy_loss", "value_loss", "clipfrac"], {}, "PPO"),
        (["reward"], {"algo": "PPO"}, "PPO"),
        (["reward"], {"exp_name": "ppo"}, "PPO"),
        (["reward"], {"run_name": "CartPole-v1__dqn__1__0"}, "DQN"),
        (["reward"], {"run_name": "ppo-against-sac"}, ""),
        (LANGUAGE, {"algorithm.adv_estimator": "gae"}, "RLHF-PPO"),
        (LANGUAGE, {"algorithm.adv_estimator": "rloo"}, "RLOO"),
        ([*LANGUAGE, "critic/vf_loss"], {"algo": "ppo"}, "RLHF-PPO"),
        (["train/ent_coef", "train/critic_loss", "rollout/ep_rew_mean"], {}, "SAC"),
        (["rollout/exploration_rate", "rollout/ep_rew_mean", "train/loss"], {}, "DQN"),
        (["train/kl_divergence_loss", "train/value_loss", "rollout/ep_rew_mean"], {}, "TRPO"),
        (["frac_reward_zero_std", "buffer_qsize", "queue_wait_time_s", "reward"], {}, "AsyncGRPO"),
        (["objective/kl", "objective/scores", "objective/rlhf_reward", "rewards/accuracies"], {}, "OnlineDPO"),
        (["objective/kl", "objective/scores", "objective/rlhf_reward", "loss/value_avg"], {}, "RLHF-PPO"),
        (["loss", "lr"], {}, ""),
        (["train/actor_loss", "train/critic_loss", "train/n_updates", "rollout/ep_rew_mean"], {}, "TD3"),
        (["train/actor_loss", "train/critic_loss", "train/n_updates", "train/ent_coef"], {}, ""),
        (["train/actor_loss", "train/critic_loss", "train/entropy", "train/n_updates"], {}, ""),
    ],
)
def test_algorithm(keys: list[str], config: dict[str, Any], algorithm: str) -> None:
    assert recognise(keys, config).algorithm == algorithm


WORDS = st.sampled_from(["train", "loss", "reward", "actor", "critic", "kl", "entropy", "mean", "eval", "rollout"])
ANY_KEY = st.one_of(st.text(max_size=30), st.lists(WORDS, min_size=1, max_size=4).map("/".join))
ANY_CONFIG = st.dictionaries(st.text(max_size=12), st.one_of(st.none(), st.integers(), st.text(max_size=8)), max_size=4)


@settings(deadline=None, max_examples=60)
@given(keys=st.lists(ANY_KEY, max_size=12, unique=True), config=ANY_CONFIG, seed=st.integers(0, 9))
def test_recognition_never_raises_and_ignores_order(keys: list[str], config: dict[str, Any], seed: int) -> None:
    shuffled = random.Random(seed).sample(keys, len(keys))
    assert recognise(keys, config) == recognise(shuffled, config)


SKRL = ["Reward / Total reward (mean)", "Episode / Total timesteps (mean)"]
TIANSHOU = ["training/returns_stat/mean", "training/lens_stat/mean", "test/returns_stat/mean"]
PFRL = ["steps", "episodes", "elapsed", "mean", "median", "stdev", "max", "min"]
ON_POLICY = ["Loss / Policy loss", "Loss / Value loss", "Policy / Standard deviation"]
SINCE_2 = ["update/actor_loss/mean", "update/vf_loss/mean", "update/ent_loss/mean"]


@pytest.mark.parametrize(
    ("keys", "algorithm"),
    [
        ([*SKRL, "Loss / Q-network loss", "Target / Target (mean)"], "DQN"),
        ([*SKRL, *ON_POLICY], ""),
        ([*TIANSHOU, "update/loss", "update/gradient_steps"], "DQN"),
        ([*TIANSHOU, "update/clip_loss/mean", "update/vf_loss/mean", "update/ent_loss/mean"], "PPO"),
        ([*TIANSHOU, *SINCE_2], ""),
        ([*TIANSHOU, "update/actor_loss/mean", "update/vf_loss/mean", "update/kl/mean"], "TRPO"),
        ([*TIANSHOU, "update/actor_loss", "update/critic1_loss", "update/critic2_loss"], "TD3"),
        ([*TIANSHOU, "update/actor_loss", "update/critic1_loss", "update/critic2_loss", "update/alpha"], "SAC"),
        ([*PFRL, "average_value", "average_value_loss", "average_policy_loss", "explained_variance"], "PPO"),
        ([*PFRL, "average_actor", "average_value", "average_entropy"], "A2C"),
        ([*PFRL, "average_value", "average_entropy", "average_kl", "average_policy_step_size"], "TRPO"),
        ([*PFRL, "average_q1", "average_q_func1_loss", "average_entropy", "temperature"], "SAC"),
    ],
)
def test_keys_of_one_algorithm_alone_tell_it(keys: list[str], algorithm: str) -> None:
    assert recognise(keys).algorithm == algorithm


LOOP = ["episode_return", "policy_loss", "value_loss", "entropy"]


@pytest.mark.parametrize(
    ("keys", "place", "algorithm"),
    [
        (LOOP, "runs/a2c_cartpole/seed1", "A2C"),
        ([*SKRL, *ON_POLICY], "/data/26-01-01_12-00-00_PPO", "PPO"),
        (LOOP, "runs/ppo_against_a2c/seed1", ""),
        (LOOP, "runs/cartpole/seed1", ""),
        (LOOP, "ppo/2026/runs/cartpole/seed1", ""),
        (["episode_return", "epsilon", "q_values"], "runs/ppo/1", "DQN"),
        (["loss", "accuracy"], "runs/ppo/1", ""),
    ],
)
def test_the_folder_is_asked_where_the_keys_do_not_tell(keys: list[str], place: str, algorithm: str) -> None:
    assert recognise(keys, place=place).algorithm == algorithm


def test_the_class_of_an_agent_in_its_settings_tells_it() -> None:
    assert recognise([*SKRL, *ON_POLICY], {"agent.class": "PPO"}, place="runs/a2c").algorithm == "PPO"
