"""Gives configuration keys their canonical names and types."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ._names import framework as load_framework
from ._names import framework_names
from ._penalty import in_force

SPACES: dict[str, tuple[str, int, int]] = {
    "CartPole": ("discrete", 2, 500),
    "Acrobot": ("discrete", 3, 500),
    "MountainCarContinuous": ("continuous", 1, 999),
    "MountainCar": ("discrete", 3, 200),
    "Pendulum": ("continuous", 1, 200),
    "LunarLanderContinuous": ("continuous", 2, 1000),
    "LunarLander": ("discrete", 4, 1000),
    "BipedalWalker": ("continuous", 4, 1600),
    "HalfCheetah": ("continuous", 6, 1000),
    "Hopper": ("continuous", 3, 1000),
    "Walker2d": ("continuous", 6, 1000),
    "Ant": ("continuous", 8, 1000),
    "Humanoid": ("continuous", 17, 1000),
    "Swimmer": ("continuous", 2, 1000),
    "Reacher": ("continuous", 2, 50),
    "Pusher": ("continuous", 7, 100),
    "HumanoidStandup": ("continuous", 17, 1000),
    "InvertedPendulum": ("continuous", 1, 1000),
    "InvertedDoublePendulum": ("continuous", 1, 1000),
}
"""Action space, its size and the time limit of Gymnasium's standard environments."""
NAMED_BY_RUN = "env_id_from_run_name"
"""Setting that stands beside `env_id` where no setting named the task and the name of the run or its folder did."""
WRAPPED_IN = "env_wrappers"
"""Setting that stands beside `env_id` where wrappers of unknown effect may change what the task pays: their names."""
PLACES: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "critic": (
        frozenset({"critic", "value", "vf", "qf", "critic_model", "value_model"}),
        frozenset({"vf_coef", "tau"}),
    ),
    "optimiser": (
        frozenset({"optim", "optimizer", "optimiser", "adam", "adamw", "optimizer_config", "actor_optimizer"}),
        frozenset({"lr", "lr_schedule", "max_grad_norm", "optimizer", "gamma", "tau", "batch_size", "gradient_steps"}),
    ),
    "evaluation": (
        frozenset({"eval", "evaluation", "val", "validation", "test", "val_kwargs", "eval_env", "evaluation_config"}),
        frozenset({"eval_every", "eval_episodes", "eval_deterministic", "eval_planned"}),
    ),
    "other models": (
        frozenset({"ref", "reference", "ref_model", "reward_model", "lora", "peft", "tokenizer"}),
        frozenset[str](),
    ),
}
"""Parts of a dotted key that say whose setting it is, and the canonical keys that may still be read there."""
NOT = "!"
"""Stands before a framework's name of a setting that says the opposite: on where the canonical one is off."""
_TRUE, _FALSE, _NONE = {"true", "yes"}, {"false", "no"}, {"none", "null", ""}


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files("firstbreak.vocabulary").joinpath("config.toml").read_text("utf-8"))


@cache
def config_keys() -> dict[str, str]:
    """Return every canonical configuration key with its meaning."""
    return {key: entry["meaning"] for key, entry in _table().items()}


@cache
def _names() -> dict[str, str]:
    found: dict[str, str] = {}
    for key, entry in _table().items():
        for name in (key, *entry.get("names", ())):
            found.setdefault(_normal(name), key)
    return found


def canonical_config(config: Mapping[str, Any], framework: str = "") -> dict[str, Any]:
    """Return the canonical keys found in `config` with plain values, and what a well-known environment implies.

    The framework's own names come first, whole or as the end of a dotted key. Else the last part of a key counts, the
    shortest key first (`gamma` over `algorithm.gamma`), unless its place says that it is of another part: the critic's
    learning rate is not the policy's, an optimiser's `epsilon` not a clip range. Of KL penalties the one in force
    counts.
    """
    values = {str(key): value for key, raw in config.items() if (value := plain(raw)) is not None}
    parts = {key: tuple(_normal(part) for part in re.split(r"[./]", key)) for key in values}
    found: dict[str, Any] = {}
    used: set[str] = set()
    known = load_framework(framework) if framework in framework_names() else None
    own: Mapping[str, tuple[str, ...]] = known.config if known else {}
    for canonical, names in own.items():
        for name in names:
            wanted = tuple(map(_normal, name.removeprefix(NOT).split(".")))
            key = next((key for key in values if parts[key][-len(wanted) :] == wanted), None)
            if key is not None:
                found[canonical] = values[key] is False if name.startswith(NOT) else values[key]
                used.add(key)
                break
    for key in sorted(values.keys() - used, key=lambda k: (len(parts[k]), len(k), k)):
        canonical = _names().get(parts[key][-1])
        if canonical and canonical not in found and _in_place(canonical, parts[key]):
            found[canonical] = values[key]
    if found:
        found = in_force(found, known.always if known else {})
    return {**implied(str(found.get("env_id", ""))), **found}


def _normal(part: str) -> str:
    return part.lstrip("-").replace("-", "_").lower()


def _in_place(canonical: str, parts: tuple[str, ...]) -> bool:
    """Whether a key under these parts can mean `canonical`."""
    return all(canonical in allowed or not members.intersection(parts[:-1]) for members, allowed in PLACES.values())


def plain(value: Any) -> Any:
    """Return `value` as bool, int, float or text where its text says so; None for nothing."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if text.lower() in _NONE:
        return None
    for kind in (int, float, json.loads):
        try:
            return kind(text)
        except (ValueError, RecursionError):
            continue
    return text


def named_in(path: str) -> str:
    """Return the standard environment that the last parts of a run's `path` name (`CartPole-v1__ppo__1`), else ""."""
    names = "|".join(sorted(SPACES, key=len, reverse=True))
    for part in reversed(re.split(r"[/\\]", path)[-3:]):
        if found := re.search(rf"(?<![A-Za-z0-9])(?:{names})-v\d+(?![A-Za-z0-9])", part):
            return found[0]
    return ""


def implied(env_id: str) -> dict[str, Any]:
    """Return what the name of a standard environment implies about actions and time limit."""
    name = env_id.rsplit("/", 1)[-1].split("-", 1)[0]
    if name not in SPACES:
        return {}
    kind, size, limit = SPACES[name]
    limit = 200 if env_id == "CartPole-v0" else limit
    return {"action_space": kind, "n_actions" if kind == "discrete" else "action_dim": size, "max_episode_steps": limit}
