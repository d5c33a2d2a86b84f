"""Settings and seeds of a run, from its command, its configuration and its environment."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SEED = re.compile(r"(?:^|[._/-])(?:[a-z]{1,12}[_-])?seeds?$", re.IGNORECASE)
"""Names that hold a seed: `seed`, `train.seed`, `env_seed`, `PYTHONHASHSEED` is listed by hand."""
_VARIABLES = ("PYTHONHASHSEED", "SEED")
FOLDERS = ("run-dir", "logdir", "log-dir", "output-dir", "out-dir", "save-dir", "out", "output", "tensorboard-log")
"""Options that name the folder of a run."""


def arguments(command: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command: `--key value`, `--key=value`, `--flag`, and Hydra's `key=value`."""
    found: dict[str, Any] = {}
    words = list(command)
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        following = words[index + 1] if index + 1 < len(words) else "--"
        if re.fullmatch(r"--?[A-Za-z][\w.-]*", name) and not (len(name) == 2 and not equals and index < 3):
            key = name.lstrip("-")
            if equals:
                found[key] = word_value(value)
            else:
                found[key] = True if _is_option(following) else word_value(following)
        elif equals and re.fullmatch(r"\+{0,2}[A-Za-z_][\w./-]*", name):
            found[name.lstrip("+")] = word_value(value)
    return found


def _is_option(word: str) -> bool:
    return word.startswith("-") and not re.fullmatch(r"-\d[\d.e+-]*|-\.\d+", word)


def word_value(text: str) -> Any:
    """Return a number, a boolean or None where the text is one; the text otherwise."""
    lowered = text.strip().lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("none", "null"):
        return None
    try:
        number = json.loads(text)
    except (ValueError, RecursionError):
        try:
            return float(text) if re.fullmatch(r"[+-]?[\d.]+(?:[eE][+-]?\d+)?", text) else text
        except ValueError:
            return text
    return number if isinstance(number, int | float) else text


def seeds(
    options: Mapping[str, Any], config: Mapping[str, Any], environment: Mapping[str, str]
) -> dict[str, int | list[int]]:
    """Return every seed found, by where it was found. A seed of None is none: it is drawn anew each time."""
    places = [(f"argument --{k}", k, v) for k, v in options.items()]
    places += [(f"config {k}", k, v) for k, v in config.items() if k not in options]
    places += [(f"environment {k}", "seed", word_value(environment[k])) for k in _VARIABLES if k in environment]
    return {where: value for where, key, value in places if SEED.search(key) and _is_seed(value)}


def _is_seed(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_seed, value))  # pyright: ignore[reportUnknownArgumentType]
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def run_folder(options: Mapping[str, Any]) -> Path | None:
    """Return the folder that the command itself names for its output, if any."""
    plain = {key.lower().replace("_", "-"): value for key, value in options.items()}
    return next((Path(plain[name]) for name in FOLDERS if isinstance(plain.get(name), str)), None)
