"""Gives configuration keys their canonical names and types."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from ._names import framework as load_framework
from ._names import framework_names

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
}
"""Action space, its size and the time limit of Gymnasium's standard environments."""
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
            found.setdefault(name.lower(), key)
    return found


def canonical_config(config: Mapping[str, Any], framework: str = "") -> dict[str, Any]:
    """Return the canonical keys found in `config` with plain values, and what a well-known environment implies.

    The shortest source key wins where several mean the same (`gamma` over `critic.gamma`).
    """
    own: Mapping[str, str] = load_framework(framework).config if framework in framework_names() else {}
    renamed = {source: canonical for canonical, source in own.items()}
    found: dict[str, Any] = {}
    for key in sorted(config, key=lambda k: (str(k).count("."), len(str(k)), str(k))):
        last = str(key).replace("/", ".").rsplit(".", 1)[-1].lstrip("-").lower()
        canonical = renamed.get(last) or _names().get(last)
        value = plain(config[key])
        if canonical and canonical not in found and value is not None:
            found[canonical] = value
    return found | {k: v for k, v in implied(str(found.get("env_id", ""))).items() if k not in found}


def plain(value: Any) -> Any:
    """Return `value` as bool, int, float or text where its text says so; None for nothing."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if text.lower() in _NONE:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def implied(env_id: str) -> dict[str, Any]:
    """Return what the name of a standard environment implies about actions and time limit."""
    name = env_id.rsplit("/", 1)[-1].split("-", 1)[0]
    if name not in SPACES:
        return {}
    kind, size, limit = SPACES[name]
    return {"action_space": kind, "n_actions" if kind == "discrete" else "action_dim": size, "max_episode_steps": limit}
