"""What the settings of a Stable-Baselines3 model say of its normaliser."""

from __future__ import annotations

import pytest

from firstbreak.monitor.adapters.parts.sb3.config import model_config


@pytest.mark.parametrize("rewards", [True, False])
def test_a_normaliser_says_what_it_normalises(rewards: bool) -> None:
    from stable_baselines3 import A2C
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

    env = VecNormalize(make_vec_env("CartPole-v1"), norm_obs=not rewards, norm_reward=rewards)
    config = model_config(A2C("MlpPolicy", env, device="cpu"))
    assert (config["normalize_reward"], config["normalize_observation"]) == (rewards, not rewards)
