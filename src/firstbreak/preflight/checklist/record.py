"""Questions to the configuration of a run: is written down what a later reader will need?"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import InputError, UnreadableError, missing_extra

MOST_BYTES = 4 << 20
"""Larger files are no configuration."""


@dataclass(frozen=True)
class Record:
    """The configuration as flat keys (`eval.temperature`), and where it lies."""

    path: Path
    keys: Mapping[str, Any]
    components: tuple[str, ...] = ()

    def having(self, pattern: str, within: str = "") -> list[str]:
        """Return the keys that match `pattern`, of those that match `within`; in lower case, None left out."""
        chosen = [k for k, v in self.keys.items() if v is not None and re.search(within, k.lower())]
        return [k for k in chosen if re.search(pattern, k.lower())]


Reply = tuple[bool | None, str]
"""Pass, fail or cannot tell (None), and why."""


def read_record(path: Path, components: tuple[str, ...] = ()) -> Record:
    """Read a configuration in YAML, JSON or TOML.

    Raises:
        UnreadableError: it cannot be read; InputError: it is none of these, or no table.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: larger than {MOST_BYTES >> 20} MiB.", "Give the configuration of the run.")
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.", "Give the configuration of the run.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file.", "Give the configuration as YAML, JSON or TOML.") from error
    found = _parsed(path, text)
    if not isinstance(found, dict):
        raise InputError(f"{path}: no table of settings.", "Give the configuration as YAML, JSON or TOML.")
    table = cast("dict[Any, Any]", found)
    if {"config", "seeds", "code", "packages"} <= table.keys():  # firstbreak record: packages are no settings
        table = {key: table[key] for key in ("config", "seeds", "code")}
    return Record(path, dict(_flat(table)), components)


def _parsed(path: Path, text: str) -> Any:
    ending = path.suffix.lower()
    try:
        if ending == ".json":
            return json.loads(text)
        if ending == ".toml":
            return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid {ending[1:].upper()}.", "Mend the file.") from error
    try:
        import yaml
    except ImportError as error:
        raise missing_extra("pyyaml", "yaml", f"Reading {path}") from error
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid YAML.", "Mend the file.") from error


def _flat(table: Mapping[Any, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        name = f"{before}{key}"
        if isinstance(value, dict) and value and depth < 12:
            yield from _flat(cast("dict[Any, Any]", value), f"{name}.", depth + 1)
        else:
            yield name, value


def seed(record: Record) -> Reply:
    """Is the seed written down?"""
    found = record.having(r"(^|[._-])(random_|rng_|torch_|global_)?seeds?$")
    good = [k for k in found if isinstance(record.keys[k], (int, list)) and not isinstance(record.keys[k], bool)]
    return (True, f"{good[0]} is set") if good else (False, f"no seed among {len(record.keys)} settings")


_EVAL = r"(^|[._-])(eval|evaluation|val|validation|test|benchmark)"
_COUNT = r"episodes|n_eval|num_|samples|prompts|dataset|data|split|file|tasks|freq|interval|every|steps"
_HOW = r"determin|greedy|do_sample|seed|temperature|stochastic"
_LINES = {
    "on what or how often": ("eval_episodes", 100),
    "deterministic or sampled": ("eval_deterministic", True),
    "on what": ("eval_dataset", "math-500"),
    "temperature": ("eval_temperature", 0.6),
    "longest response": ("eval_max_tokens", 1024),
}
"""What is missing -> a setting that says it, with a value for an example."""
_LANGUAGE = r"tokenizer|model_name|max_(new_)?tokens|max_(completion|response|prompt)_length|top_p|llm|vocab"


def evaluation_protocol(record: Record) -> Reply:
    """Does it say on what, how often and how is evaluated? For language models: temperature and length as well."""
    if not record.having(_EVAL):
        lines = _lines(record, ("on what or how often", "deterministic or sampled"))
        return False, f"nothing about evaluation among {len(record.keys)} settings; {lines}"
    wanted = {"on what or how often": _COUNT, "deterministic or sampled": _HOW}
    if record.having(_LANGUAGE):
        wanted = {"on what": _COUNT, "temperature": r"temperature|greedy|do_sample", "longest response": r"max_|length"}
    missing = [what for what, pattern in wanted.items() if not record.having(pattern, _EVAL)]
    if missing:
        return False, f"evaluation is configured without: {', '.join(missing)}; {_lines(record, missing)}"
    return True, f"{len(record.having(_EVAL))} settings fix it"


def _lines(record: Record, missing: Iterable[str]) -> str:
    """Return the lines that are missing, as they are written in this file."""
    ending = record.path.suffix.lower()
    form = {".toml": "{} = {}", ".json": '"{}": {}'}.get(ending, "{}: {}")
    lines = [form.format(name, json.dumps(value)) for name, value in (_LINES[what] for what in missing)]
    return f"for example {', '.join(lines)} in {record.path.name}"


def code_version(record: Record) -> Reply:
    """Is the version of the code written down, or at least under version control?"""
    found = record.having(r"git|commit|code_version|revision|(^|[._-])sha$")
    if found:
        return True, f"{found[0]} is set"
    place = record.path.resolve().parent
    if any((folder / ".git").exists() for folder in (place, *place.parents)):
        return True, "the configuration lies in a git work tree; save the commit with the run"
    return False, "no commit in the configuration, and it does not lie in a git work tree"


def reward_components(record: Record) -> Reply:
    """Are the parts of the reward named, so that they can be logged one by one?"""
    if record.components:
        return True, f"{len(record.components)} parts are named"
    found = record.having(r"(reward|rew)[a-z_]*[._-]?(components?|parts|terms)|log_reward")
    if found:
        return True, f"{found[0]} is set"
    weights = record.having(r"reward.*(weight|scale|coef)")
    if len(weights) >= 2:
        return False, f"{len(weights)} weights of reward parts, and nothing says that the parts are logged"
    return None, "the configuration does not tell whether the reward has parts"


QUESTIONS: dict[str, Callable[[Record], Reply]] = {
    "seed": seed,
    "evaluation-protocol": evaluation_protocol,
    "code-version": code_version,
    "reward-components": reward_components,
}
