"""The keys of `[preflight]` in firstbreak.toml."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any, cast

from ...errors import MOST_SEED, ConfigError

KEYS: dict[str, tuple[type, ...]] = {
    "environment": (str,),
    "policy": (str,),
    "expert": (str,),
    "goal": (str,),
    "reward": (str, dict),
    "components": (list,),
    "metric": (str,),
    "metric_direction": (str, dict),
    "shaping": (str,),
    "potential": (str,),
    "gamma": (int, float),
    "trainer": (str,),
    "trainer_script": (str,),
    "data": (str, dict),
    "eval_data": (str,),
    "memory": (str, dict),
    "returns": (dict,),
    "baselines": (dict,),
    "run": (str,),
    "jobs": (int,),
    "seed": (int,),
    "episodes": (int,),
}
"""Key -> kinds of value. `returns` (or `baselines`): random, expert and trained -> a table's path or a list."""

RANGES: dict[str, tuple[float, float]] = {
    "gamma": (0, 1),
    "jobs": (1, math.inf),
    "seed": (0, MOST_SEED - 1000),
    "episodes": (20, math.inf),
}
"""Key -> the least and the most of a number; of fewer than 20 episodes means cannot be compared."""
_KINDS = {str: "text", dict: "a table", list: "a list"}

REWARD = (
    "target",
    "components",
    "metric",
    "metric_direction",
    "shaping",
    "potential",
    "endless",
    "columns",
    "gamma",
    "steps",
)
DATA = ("path", "columns", "eos_id", "pad_id")
RETURNS = ("random", "expert", "trained")


def proper(settings: Mapping[str, Any]) -> None:
    """Refuse what would do nothing or something else than meant.

    Raises:
        ConfigError: an unknown key or a value of another kind.
    """
    _known("preflight", settings, tuple(KEYS))
    for key, value in settings.items():
        if not isinstance(value, KEYS[key]) or (isinstance(value, bool) and bool not in KEYS[key]):
            kinds = dict.fromkeys(_KINDS.get(k, "a number") for k in KEYS[key])
            raise ConfigError(f"preflight: {key} = {value!r} will not do.", f"It is {' or '.join(kinds)}.")
        if key in RANGES and not RANGES[key][0] <= value <= RANGES[key][1]:
            low, high = RANGES[key]
            limits = f"from {low} to {high}" if high < math.inf else f"at least {low}"
            raise ConfigError(f"preflight: {key} = {value!r} will not do.", f"It is a number, {limits}.")
    if isinstance(settings.get("data"), dict) and not isinstance(settings["data"].get("path"), str):
        raise ConfigError("preflight.data: path is missing.", 'For example: data = { path = "train.jsonl" }')
    for key, inner in (("reward", REWARD), ("data", DATA), ("returns", RETURNS), ("baselines", RETURNS)):
        if isinstance(settings.get(key), dict):
            _known(f"preflight.{key}", cast("dict[str, Any]", settings[key]), inner)


def _known(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise ConfigError(f"{where}: unknown key {key!r}.", f"{hint}Known keys: {', '.join(known)}.")
