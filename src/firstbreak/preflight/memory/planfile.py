"""A `Plan` from a TOML file or a table of settings."""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ...errors import ConfigError, UnreadableError
from .architecture import Architecture, architecture_like, architecture_of
from .plan import CHECKPOINTING, ENGINES, GIB, OPTIMISERS, PRECISIONS, ROLES, SHARDING, Model, Plan, Rollout

EXAMPLE = """\
gpu_gib = 80
precision = "mixed"
[models.actor]
config = "path/to/config.json"
trained = true"""

_SETTINGS: dict[str, type | tuple[type, ...]] = {
    "gpu_gib": (int, float), "gpu_bytes": int, "precision": str, "optimiser": str, "sharding": str, "ranks": int,
    "tensor_parallel": int, "checkpointing": str, "micro_batch": int, "prompt_tokens": int, "response_tokens": int,
    "flash_attention": bool, "logits_chunk_tokens": int, "offload_optimiser": bool, "fragmentation_frac": (int, float),
    "context_bytes": int, "models": dict, "rollout": dict,
}  # fmt: skip
_MODEL: dict[str, type | tuple[type, ...]] = {
    "config": str, "architecture": dict, "parameters": (int, float), "trained": bool, "bits": int, "lora_rank": int,
    "lora_targets": (list, str), "shares": str, "offloaded": bool,
}  # fmt: skip
_ROLLOUT: dict[str, type | tuple[type, ...]] = {
    "engine": str, "gpu_memory_utilisation": (int, float), "sequences": int, "tensor_parallel": int, "sleeps": bool,
}  # fmt: skip
_CHOICES: dict[str, Iterable[str]] = {
    "precision": PRECISIONS, "optimiser": OPTIMISERS, "sharding": SHARDING, "checkpointing": CHECKPOINTING,
    "engine": ENGINES, "shares": ROLES,
}  # fmt: skip


def read_plan(path: Path) -> Plan:
    """Read the plan in `path`, a TOML file.

    Raises:
        ConfigError: it is not valid TOML, or a key or value is wrong.
        UnreadableError: it cannot be read.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.", "Give the path of a TOML file.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.", "Mend the file.") from error
    return plan_of(cast("dict[str, Any]", table.get("memory", table)), path.parent, str(path))


def plan_of(table: Mapping[str, Any], folder: Path = Path("."), where: str = "memory") -> Plan:
    """Return the plan in a table of settings; paths in it are relative to `folder`.

    Raises:
        ConfigError: a key or value is wrong.
    """
    _proper(where, table, _SETTINGS)
    if "gpu_bytes" not in table and "gpu_gib" not in table:
        raise ConfigError(f"{where}: the memory of a GPU is missing.", f"For example:\n{EXAMPLE}")
    models = cast("Mapping[str, Any]", table.get("models", {}))
    if not models:
        raise ConfigError(f"{where}: there are no models.", f"For example:\n{EXAMPLE}")
    _among(where, "model", models, ROLES)
    made = {role: _model(f"{where}: models.{role}", role, entry, folder) for role, entry in models.items()}
    made = {role: _shared(f"{where}: models.{role}", model, made) for role, model in made.items()}
    plain = {k: table[k] for k in table if k not in ("models", "rollout", "gpu_gib", "gpu_bytes")}
    gpu = table.get("gpu_bytes") or round(float(table["gpu_gib"]) * GIB)
    rollout = cast("Mapping[str, Any]", table.get("rollout", {}))
    _proper(f"{where}: rollout", rollout, _ROLLOUT)
    return Plan(tuple(made.values()), int(gpu), **plain, rollout=Rollout(**rollout))


def _model(where: str, role: str, entry: Any, folder: Path) -> Model | Mapping[str, Any]:
    if not isinstance(entry, dict):
        raise ConfigError(f"{where} is no table.", f"For example:\n{EXAMPLE}")
    table = cast("dict[str, Any]", entry)
    _proper(where, table, _MODEL)
    count = int(table.get("parameters", 0))
    targets = table.get("lora_targets", ("q", "k", "v", "o"))
    targets = (targets,) if isinstance(targets, str) else tuple(str(t) for t in cast("list[Any]", targets))
    shape = _architecture(where, table, count, folder)
    if shape is None:
        return table
    return Model(
        role, shape, bool(table.get("trained", False)), count, int(table.get("bits", 0)),
        int(table.get("lora_rank", 0)), targets, str(table.get("shares", "")), bool(table.get("offloaded", False)),
    )  # fmt: skip


def _architecture(where: str, table: Mapping[str, Any], count: int, folder: Path) -> Architecture | None:
    """Return the shape of a model; None for one that shares the trunk of another and gives no shape of its own."""
    if "config" in table:
        path = folder / str(table["config"])
        try:
            return architecture_of(json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, AttributeError) as error:
            raise ConfigError(f"{where}: {path}: {error}", "Give the config.json of the model.") from error
    if "architecture" in table:
        try:
            return architecture_of(table["architecture"])
        except ValueError as error:
            raise ConfigError(f"{where}: {error}", "Names as in a config.json are understood.") from error
    if count:
        return architecture_like(count)
    if table.get("shares"):
        return None
    raise ConfigError(f"{where}: its size is missing.", "Give config, architecture or parameters.")


def _shared(where: str, model: Model | Mapping[str, Any], made: Mapping[str, Model | Mapping[str, Any]]) -> Model:
    if isinstance(model, Model):
        return model
    owner = made.get(str(model["shares"]))
    if not isinstance(owner, Model):
        raise ConfigError(f"{where}: shares = {model['shares']!r} is no model with a size.", "Name its owner's role.")
    role = where.rpartition(".")[2]
    return Model(role, owner.architecture, bool(model.get("trained", False)), shares=owner.role)


def _proper(where: str, table: Mapping[str, Any], known: Mapping[str, type | tuple[type, ...]]) -> None:
    """Refuse unknown keys, values of another type, numbers below 0 and words that are no choice."""
    _among(where, "key", table, known)
    for key, value in table.items():
        kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
        right = isinstance(value, known[key]) and (
            bool in cast("tuple[type, ...]", kinds) or not isinstance(value, bool)
        )
        if not right or (isinstance(value, (int, float)) and value < 0):
            raise ConfigError(f"{where}: {key} = {value!r} will not do.", f"It is a {_kind(known[key])}.")
        if key in _CHOICES and value:
            _among(where, key, [str(value)], _CHOICES[key])
        if isinstance(value, float) and not math.isfinite(value):
            raise ConfigError(f"{where}: {key} = {value} will not do.", "It is a finite number.")
        if key in ("micro_batch", "ranks", "tensor_parallel", "gpu_gib", "gpu_bytes") and value == 0:
            raise ConfigError(f"{where}: {key} is 0.", "It is 1 at least.")


def _kind(kind: type | tuple[type, ...]) -> str:
    one = kind[0] if isinstance(kind, tuple) else kind
    return {bool: "true or false", int: "number, 0 or more", str: "text", dict: "table"}.get(one, one.__name__)


def _among(where: str, what: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, list(known), n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"{where}: unknown {what} {name!r}.", f"{hint}Known: {', '.join(known)}.")
