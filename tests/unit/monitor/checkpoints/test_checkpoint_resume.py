"""What a checkpoint lacks is named, whoever wrote it, and what it does not lack is not."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from firstbreak.errors import FirstbreakError, InputError, UnknownNameError
from firstbreak.monitor.checkpoints import (
    CheckpointError,
    Checkpoints,
    missing_parts,
    rng_state,
    snapshot,
    validate_resume,
)
from firstbreak.monitor.checkpoints.needed import PARTS, parts_of_algorithm
from firstbreak.monitor.checkpoints.outline import outline_of
from firstbreak.registry import all_rules
from firstbreak.vocabulary import algorithms

torch.set_num_threads(1)


def stepped(module: torch.nn.Module, make: Any = torch.optim.Adam) -> torch.optim.Optimizer:
    optimiser = make(module.parameters(), 1e-3)
    sum(p.sum() for p in module.parameters()).backward()  # type: ignore[union-attr]
    optimiser.step()
    return optimiser


def sac() -> dict[str, Any]:
    actor, critic, alpha = torch.nn.Linear(2, 1), torch.nn.Linear(3, 1), torch.nn.Linear(1, 1)
    return {
        "actor": actor,
        "qf1": critic,
        "qf1_target": torch.nn.Linear(3, 1),
        "optimizer": stepped(actor),
        "q_optimizer": stepped(critic),
        "log_alpha": torch.zeros(1, requires_grad=True),
        "a_optimizer_alpha": stepped(alpha),
        "replay_buffer": {"obs": np.zeros((4, 2)), "pos": 3},
        "global_step": 1000,
        "rng": rng_state(),
    }


def names(lacks: tuple[Any, ...], certain: bool = True) -> set[str]:
    return {lack.part for lack in lacks if lack.certain is certain}


def test_the_table_names_rules_that_exist_and_covers_every_algorithm() -> None:
    rules = {rule.name for rule in all_rules()}
    assert {rule for part in PARTS for rule in part.rules} <= rules
    assert all(part.symptom and part.title and (part.always or part.perhaps) for part in PARTS)
    assert all(len(parts_of_algorithm(name)[0]) >= 4 for name in algorithms())
    assert {p.name for p in parts_of_algorithm("DQN")[0]} == {
        *("critic", "target_network", "optimiser", "replay", "epsilon", "step", "rng")
    }


def test_a_complete_state_lacks_nothing_certain() -> None:
    assert names(missing_parts(sac(), "SAC")) == set()
    assert "observation_normaliser" in names(missing_parts(sac(), "SAC"), certain=False)


@pytest.mark.parametrize(
    ("gone", "part"),
    [
        (("actor",), "policy"),
        (("qf1",), "critic"),
        (("qf1_target",), "target_network"),
        (("optimizer", "q_optimizer"), "optimiser"),
        (("log_alpha",), "log_alpha"),
        (("a_optimizer_alpha",), "alpha_optimiser"),
        (("replay_buffer",), "replay"),
        (("global_step",), "step"),
        (("rng",), "rng"),
    ],
)
def test_each_missing_part_of_sac_is_named(gone: tuple[str, ...], part: str) -> None:
    state = {name: value for name, value in sac().items() if name not in gone}
    (lack,) = [x for x in missing_parts(state, "sac") if x.certain]
    assert (lack.part, lack.what) == (part, "missing")
    assert lack.symptom in str(lack)


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("obs_rms", "observation_normaliser"),
        ("model/actor_obs_normalizer._mean", "observation_normaliser"),
        ("state_preprocessor", "observation_normaliser"),
        ("running_mean_std", "observation_normaliser"),
        ("vec_normalize", "observation_normaliser"),
        ("ret_rms", "return_normaliser"),
        ("reward_scaler", "return_normaliser"),
        ("value_preprocessor", "return_normaliser"),
        ("lr_scheduler", "scheduler"),
        ("grad_scaler", "grad_scaler"),
        ("log_ent_coef", "log_alpha"),
        ("rb/_storage", ""),
        ("replay_buffer", "replay"),
        ("q_net_target.0.weight", "target_network"),
        ("target_entropy", ""),
        ("ema_model", "ema"),
        ("ref_model", "reference"),
        ("exploration_rate", "epsilon"),
        ("kl_ctl", "kl_coefficient"),
        ("dataloader", "data_position"),
        ("optimizer_state_dict", "optimiser"),
        ("ent_coef_optimizer", "alpha_optimiser"),
        ("iter", "step"),
        ("num_timesteps", "step"),
        ("frame", "step"),
        ("n_steps", "step"),
        ("preference", ""),
        ("schema", ""),
        ("gamma", ""),
    ],
)
def test_names_are_understood(key: str, part: str) -> None:
    (leaf,) = outline_of({key: 5}).leaves.values()
    assert leaf.part == part


@pytest.mark.parametrize(
    ("key", "part"),
    [("mlp_extractor.value_net.0.weight", "critic"), ("q_net.0.weight", "critic"), ("v.bias", "critic")],
)
def test_weights_are_told_apart(key: str, part: str) -> None:
    assert set(outline_of({"model": {key: torch.zeros(2), "actor.0.weight": torch.zeros(2)}}).parts) == {part, "policy"}


def test_values_of_attention_are_no_critic() -> None:
    names = ("encoder.0.attention.self.value.weight", "h.0.attn.v.weight")
    assert set(outline_of({"model": {name: torch.zeros(2) for name in names}}).parts) == {"policy"}
    assert set(outline_of({"critic": {name: torch.zeros(2) for name in names}}).parts) == {"critic"}


def test_an_optimiser_without_moments_is_empty_unless_training_has_not_begun() -> None:
    net = torch.nn.Linear(2, 1)
    fresh = {"net": net, "opt": torch.optim.Adam(net.parameters())}
    (lack,) = missing_parts({**fresh, "global_step": 50}, ["policy", "optimiser"])
    assert (lack.part, lack.what) == ("optimiser", "empty")
    assert missing_parts({**fresh, "global_step": 0}, ["policy", "optimiser"]) == ()
    plain = {"net": net, "opt": torch.optim.SGD(net.parameters(), 0.1), "step": 9}
    assert missing_parts(plain, ["optimiser"]) == ()


def test_a_fixed_epsilon_schedule_is_made_good_by_the_counter() -> None:
    net = torch.nn.Linear(2, 1)
    state = {"q_net": net, "target": net, "opt": stepped(net), "replay": [1], "rng": rng_state()}
    assert names(missing_parts(state, "DQN")) == {"epsilon", "step"}
    assert names(missing_parts({**state, "global_step": 7}, "DQN")) == set()


def test_a_torch_file_is_opened_without_running_it(tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 1)
    torch.save({"model_state_dict": net.state_dict(), "iter": 40, "infos": None}, tmp_path / "model_40.pt")
    found = names(missing_parts(tmp_path / "model_40.pt", "PPO"))
    assert found == {"critic", "optimiser", "rng"}

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "sprung",))

    for name, write in (("a.pt", torch.save), ("b.pkl", lambda x, p: p.write_bytes(pickle.dumps(x)))):
        write({"x": Trap()}, tmp_path / name)
        with pytest.raises(CheckpointError, match="running code"):
            missing_parts(tmp_path / name, "PPO")
    assert not (tmp_path / "sprung").exists()


def test_a_folder_of_transformers_is_understood(tmp_path: Path) -> None:
    net = torch.nn.Linear(2, 1)
    optimiser = stepped(net, torch.optim.AdamW)
    torch.save(optimiser.state_dict(), tmp_path / "optimizer.pt")
    torch.save(torch.optim.lr_scheduler.LinearLR(optimiser).state_dict(), tmp_path / "scheduler.pt")
    (tmp_path / "model.safetensors").write_bytes(b"not opened")
    (tmp_path / "trainer_state.json").write_text(json.dumps({"global_step": 500}))
    assert names(missing_parts(tmp_path, "GRPO")) == {"rng"}
    (tmp_path / "rng_state.pth").write_bytes(b"not opened")
    assert names(missing_parts(tmp_path, "GRPO")) == set()
    (tmp_path / "optimizer.pt").unlink()
    assert names(missing_parts(tmp_path, "GRPO")) == {"optimiser"}


def test_a_checkpoint_of_ours_is_understood(tmp_path: Path) -> None:
    state = {name: value for name, value in sac().items() if name not in {"rng", "global_step", "log_alpha"}}
    path = Checkpoints(tmp_path).save(state, step=7)
    assert path is not None
    assert names(missing_parts(path, "SAC")) == {"log_alpha"}


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"\x80\x04garbage", b"step,loss\n1,2\n"])
def test_what_is_no_checkpoint_is_a_clear_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"x\.pt"):
        missing_parts(tmp_path / "x.pt", "PPO")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        missing_parts(tmp_path, "PPO")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        missing_parts(tmp_path / "none", "PPO")


def test_what_to_expect_must_be_known() -> None:
    with pytest.raises(InputError):
        missing_parts({})
    with pytest.raises(UnknownNameError, match="'optimiser'"):
        missing_parts({}, ["optimizer"])
    with pytest.raises(FirstbreakError):
        missing_parts({}, "PPPO")


def test_the_resume_of_an_algorithm_is_judged_beyond_what_both_sides_have() -> None:
    state = {"actor": torch.nn.Linear(2, 1), "critic": torch.nn.Linear(2, 1)}
    assert validate_resume(state, state) == ()
    assert names(validate_resume(state, state, algorithm="PPO")) == {"optimiser", "step", "rng"}


def test_shape_dtype_and_lr_changes_show() -> None:
    net = torch.nn.Linear(2, 1)
    optimiser = stepped(net)
    before = snapshot({"opt": optimiser, "w": np.zeros(4), "note": "a", "flag": True})
    optimiser.param_groups[0]["lr"] = 1.0
    found = validate_resume(before, {"opt": optimiser, "w": np.zeros(4, "f4").reshape(2, 2), "note": "b", "flag": 1})
    assert [(x.part, x.paths) for x in found] == [
        ("policy", ("w",)),
        ("scheduler", ("opt/param_groups/0/lr",)),
        ("note", ("note",)),
        ("flag", ("flag",)),
    ]


def test_nan_equals_itself_and_minus_zero_does_not_equal_zero() -> None:
    state = {"w": np.array([np.nan, 0.0]), "x": float("nan")}
    assert validate_resume(snapshot(state), state) == ()
    assert validate_resume(state, {**state, "w": np.array([np.nan, -0.0])}) != ()
