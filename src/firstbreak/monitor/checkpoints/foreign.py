"""Opens checkpoints that others wrote, as far as that runs no code: torch files, SB3 archives, transformers folders."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from . import content
from .errors import CheckpointError
from .files import read as read_checkpoint
from .manifest import MANIFEST, describe

_SB3_VERSION = "_stable_baselines3_version"
_SIMPLE = ("num_timesteps", "_n_updates", "exploration_rate")
_SB3_ADVICE = {
    "scheduler": "it follows the counter: resume with learn(..., reset_num_timesteps=False)",
    "observation_normaliser": "not in the archive: save VecNormalize with env.save(...)",
    "return_normaliser": "not in the archive: save VecNormalize with env.save(...)",
    "replay": "not in the archive: save it with model.save_replay_buffer(...)",
    "rng": "not in the archive: save firstbreak.monitor.checkpoints.rng_state()",
}
_HF_WEIGHTS = re.compile(r"^(?:model|pytorch_model|adapter_model).*\.(?:safetensors|bin)$")


@dataclass(frozen=True)
class Found:
    """What a file holds, under names that say what it is."""

    state: Mapping[str, Any]
    algorithm: str = ""
    """Where the file tells."""
    beside: tuple[str, ...] = ()
    """Parts that lie in files beside it, known by their names only."""
    without: tuple[str, ...] = ()
    """Parts that this trainer does not have, as its settings say."""
    advice: Mapping[str, str] = field(default_factory=dict[str, str])
    """Part -> how this framework keeps it."""


def look_into(path: Path) -> Found:
    """Open a checkpoint of ours, an SB3 archive, a torch file or a folder of transformers.

    Raises:
        CheckpointError: It cannot be opened without running code from it, or is none of these.
    """
    if not path.exists():
        raise CheckpointError(f"There is no checkpoint {path}.", "Give a file or a folder.")
    if path.is_dir():
        return _own(path) if (path / MANIFEST).exists() else _transformers(path)
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if _SB3_VERSION in archive.namelist():
                    return _sb3(path, archive)
        return Found(_mapping(content.read_tensors(path), path))
    except CheckpointError:
        raise
    except Exception as error:
        raise _unreadable(path, error) from error


def _own(path: Path) -> Found:
    opened = read_checkpoint(describe(path))
    return Found({**_mapping(opened.state, path), "rng": opened.rng, "step": opened.checkpoint.step})


def _sb3(path: Path, archive: zipfile.ZipFile) -> Found:
    data = json.loads(archive.read("data"))
    state: dict[str, Any] = {key: data[key] for key in _SIMPLE if isinstance(data.get(key), int | float)}
    for name in archive.namelist():
        if name.endswith(".pth"):
            state[name.removesuffix(".pth")] = content.read_tensors(io.BytesIO(archive.read(name)))
    state = {key: value for key, value in state.items() if value != {}}
    without = ["grad_scaler", "ema"]
    if isinstance(data.get("ent_coef"), int | float):
        without += ["log_alpha", "alpha_optimiser"]
    if not _is_schedule(data):
        without.append("scheduler")
    return Found(state, _sb3_algorithm(data), beside=_sb3_beside(path), without=tuple(without), advice=_SB3_ADVICE)


def _is_schedule(data: Mapping[str, Any]) -> bool:
    """Whether the learning rate changes; SB3 writes the schedule as text beside its pickle."""
    schedule = data.get("lr_schedule")
    text = str(cast("Mapping[str, Any]", schedule).get("value_schedule", "")) if isinstance(schedule, Mapping) else ""
    return isinstance(data.get("learning_rate"), Mapping) or (bool(text) and not text.startswith("ConstantSchedule"))


def _sb3_algorithm(data: Mapping[str, Any]) -> str:
    module = str(data.get("policy_class", {}).get("__module__", "")).split(".")
    if "clip_range" in data and "n_epochs" in data:
        return "PPO"
    if len(module) > 1 and module[-1] == "policies" and module[-2] != "common":
        return module[-2].upper()
    return "A2C" if "gae_lambda" in data else ""


def _sb3_beside(path: Path) -> tuple[str, ...]:
    """Parts in pickles beside the archive, as SB3's own callback and examples name them. They are not opened."""
    digits = re.findall(r"_(\d+)_steps$", path.stem)
    names = [p.name.lower() for p in path.parent.glob("*.pkl") if not digits or f"_{digits[0]}_" in p.name]
    found: list[str] = []
    if any("replay_buffer" in name for name in names):
        found.append("replay")
    if any(re.search(r"vec_?normalize", name) for name in names):
        found += ["observation_normaliser", "return_normaliser"]
    return tuple(found)


def _transformers(path: Path) -> Found:
    names = sorted(p.name for p in path.iterdir() if p.is_file())
    state: dict[str, Any] = {}
    for name, part in (("optimizer.pt", "optimizer"), ("scheduler.pt", "scheduler"), ("scaler.pt", "scaler")):
        if name in names:
            state[part] = _opened(path / name)
    if any(_HF_WEIGHTS.match(name) for name in names):
        state["policy"] = "weights, not opened"
    if "trainer_state.json" in names:
        state["global_step"] = json.loads((path / "trainer_state.json").read_text("utf-8")).get("global_step")
    if not state:
        raise CheckpointError(f"{path} is no checkpoint that is known.", "Give a file, or the state as a mapping.")
    beside = ("policy",) if "policy" in state else ()
    rng = ("rng",) if any(name.startswith("rng_state") for name in names) else ()
    return Found({k: v for k, v in state.items() if k != "policy"}, beside=(*beside, *rng))


def _opened(path: Path) -> Any:
    try:
        return content.read_tensors(path)
    except Exception as error:
        raise _unreadable(path, error) from error


def _mapping(value: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise CheckpointError(f"{path} holds a {type(value).__name__}, not a mapping of parts.")
    return cast("Mapping[str, Any]", value)


def _unreadable(path: Path, error: Exception) -> CheckpointError:
    return CheckpointError(
        f"{path} cannot be opened without running code from it, or is damaged: {type(error).__name__}.",
        "If you trust it, load it yourself and give the mapping.",
    )
