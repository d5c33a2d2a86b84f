"""Archives of the real Stable-Baselines3: what they lack is named, and a whole algorithm goes back."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.monitor.checkpoints import (
    Checkpoints,
    missing_parts,
    restore,
    rng_state,
    set_rng_state,
    snapshot,
    validate_resume,
)
from firstbreak.monitor.checkpoints.sb3_state import SB3State

torch.set_num_threads(1)
pytestmark = pytest.mark.full

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import stable_baselines3 as sb3
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.vec_env import VecNormalize

OFF = {"learning_starts": 20, "buffer_size": 500, "batch_size": 16}
MAKE: dict[str, tuple[str, dict[str, Any]]] = {
    "PPO": ("CartPole-v1", {"n_steps": 64, "batch_size": 32, "n_epochs": 2}),
    "A2C": ("CartPole-v1", {}),
    "DQN": ("CartPole-v1", OFF),
    "SAC": ("Pendulum-v1", OFF),
    "TD3": ("Pendulum-v1", OFF),
}
LACKS = {
    "PPO": {"rng"},
    "A2C": {"rng"},
    "DQN": {"rng", "replay"},
    "SAC": {"rng", "replay"},
    "TD3": {"rng", "replay"},
}


def made(name: str, normalised: bool = False, **more: Any) -> Any:
    env_id, settings = MAKE[name]
    env: Any = make_vec_env(env_id, 1, seed=0)
    env = VecNormalize(env) if normalised else env
    return getattr(sb3, name)("MlpPolicy", env, seed=0, device="cpu", **{**settings, **more})


@pytest.mark.parametrize("name", MAKE)
def test_an_archive_is_recognised_and_its_lacks_are_named(name: str, tmp_path: Path) -> None:
    model = made(name)
    model.learn(128)
    model.save(tmp_path / "rl_model_128_steps.zip")
    lacks = missing_parts(tmp_path / "rl_model_128_steps.zip")
    assert {lack.part for lack in lacks if lack.certain} == LACKS[name]
    perhaps = {lack.part: lack for lack in lacks if not lack.certain}
    assert set(perhaps) == {"observation_normaliser", "return_normaliser"}
    assert "VecNormalize" in perhaps["observation_normaliser"].detail
    for beside in ("rl_model_replay_buffer_128_steps.pkl", "rl_model_vecnormalize_128_steps.pkl"):
        (tmp_path / beside).write_bytes(b"never opened")
    assert {lack.part for lack in missing_parts(tmp_path / "rl_model_128_steps.zip")} == {"rng"}


def test_a_fixed_temperature_needs_no_saving_and_a_schedule_does(tmp_path: Path) -> None:
    model = made("SAC", ent_coef=0.1, learning_rate=lambda left: 1e-3 * left)
    model.learn(64)
    model.save(tmp_path / "m.zip")
    found = {lack.part: lack for lack in missing_parts(tmp_path / "m.zip", "SAC")}
    assert {"log_alpha", "alpha_optimiser"}.isdisjoint(found)
    assert "reset_num_timesteps=False" in found["scheduler"].detail


def test_an_archive_without_its_optimiser_is_seen(tmp_path: Path) -> None:
    model = made("SAC")
    model.learn(64)

    model._get_torch_save_params = lambda: (["policy"], [])
    model.save(tmp_path / "n.zip")
    certain = {lack.part for lack in missing_parts(tmp_path / "n.zip") if lack.certain}
    assert certain == {"optimiser", "log_alpha", "alpha_optimiser", "rng", "replay"}


@pytest.mark.parametrize("name", ["PPO", "SAC", "DQN"])
def test_a_whole_algorithm_goes_back(name: str, tmp_path: Path) -> None:
    before = rng_state()
    model = made(name, normalised=True)
    model.learn(200)
    parts = {"model": SB3State(model, replay=True)}
    store = Checkpoints(tmp_path)
    assert store.save(parts, step=model.num_timesteps), store.faults
    saved, at, probe = snapshot(parts), model.num_timesteps, model.observation_space.sample()
    action, _ = model.predict(probe, deterministic=True)
    model.learn(200, reset_num_timesteps=False)
    for parameter in model.policy.parameters():
        parameter.data.fill_(float("nan"))
    assert {lack.part for lack in validate_resume(saved, parts)} >= {"step", "optimiser", "observation_normaliser"}
    store.broke(at=300)
    state, step = store.roll_back()
    restore(state, **parts)
    assert validate_resume(saved, parts) == ()
    assert (model.num_timesteps, step) == (at, at)
    assert np.array_equal(model.predict(probe, deterministic=True)[0], action)
    assert not [x for x in missing_parts(tmp_path / "save-000001", name) if x.certain and x.part != "replay"]
    model.learn(100, reset_num_timesteps=False)
    assert all(bool(p.isfinite().all()) for p in model.policy.parameters())
    set_rng_state(before)
