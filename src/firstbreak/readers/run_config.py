"""The configuration files that lie beside a log, as one flat mapping: parsed as data, never executed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from ..errors import missing_extra
from ..runlog import Problem

NAMES = frozenset(
    {"config", "params", "args", "hparams", "cfg", "run_meta", "agent", "env", "overrides", "hyperparameters", "flags",
     "experiment_config"}
)  # fmt: skip
ENDINGS = frozenset({".yaml", ".yml", ".json"})
MAX_YAML, MAX_JSON = 512 << 10, 16 << 20
"""Larger files are not configurations; the YAML parser takes about a second a megabyte."""
MAX_KEYS = 20_000
MAX_DEPTH = 30
MODEL_MARKS = frozenset({"architectures", "model_type", "torch_dtype"})
"""Keys of a language model's own `config.json`, which says nothing of the training."""


def is_config(path: Path) -> bool:
    """Whether `path` is named like a configuration of a run."""
    return path.stem in NAMES and path.suffix in ENDINGS


def flat_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config` with nested keys joined by dots; at most `MAX_KEYS` of them."""
    flat: dict[str, Any] = {}
    _flatten(config, "", flat, 0)
    return flat


def _flatten(config: Mapping[Any, Any], prefix: str, flat: dict[str, Any], depth: int) -> None:
    for key, value in config.items():
        if len(flat) >= MAX_KEYS:
            return
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            inner = cast(Mapping[Any, Any], value)
            if depth < MAX_DEPTH and inner:
                _flatten(inner, f"{name}.", flat, depth + 1)
        else:
            flat[name] = value


def read_config(paths: Iterable[Path]) -> tuple[dict[str, Any], list[Problem]]:
    """Return the settings in the files `paths` (later ones win) and what was wrong."""
    found: dict[str, Any] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            data = _load(path)
        except ImportError as error:
            problems.append(Problem(str(path), "", *str(error).split("\n", 1)))
        except (OSError, ValueError, RecursionError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0][:200]
            problems.append(Problem(str(path), "", f"the configuration cannot be read ({first}).", "It was left out."))
        else:
            table = _as_table(data)
            if table and not MODEL_MARKS & table.keys():
                found.update(flat_config(table))
    return found, problems


def _load(path: Path) -> Any:
    yaml = path.suffix in (".yaml", ".yml")
    size = path.stat().st_size
    if size > (MAX_YAML if yaml else MAX_JSON):
        raise ValueError(f"{size} bytes is more than a configuration holds")
    text = path.read_text("utf-8-sig", "replace")
    return load_yaml(text, path) if yaml else json.loads(text)


def load_yaml(text: str, path: Path) -> Any:
    """Parse YAML as plain data: a tag that names a Python object yields what is written below it.

    Raises:
        MissingExtraError: pyyaml is not installed; ValueError: not YAML.
    """
    try:
        import yaml
    except ImportError:
        raise missing_extra("pyyaml", "yaml", f"Reading {path.name}") from None
    library: Any = yaml

    class PlainLoader(library.SafeLoader):
        """Builds dictionaries, lists, numbers and texts, whatever the tag."""

    PlainLoader.add_multi_constructor("", _construct)
    loader = PlainLoader(text)
    try:
        return loader.get_single_data()
    except library.YAMLError as error:
        raise ValueError(str(error)) from error
    finally:
        loader.dispose()


def _construct(loader: Any, suffix: str, node: Any) -> Any:
    """Return what a node of an unknown tag holds; an ordered dict written as pairs becomes a dict."""
    if node.id == "mapping":
        return loader.construct_mapping(node, deep=True)
    if node.id == "sequence":
        items: list[Any] = loader.construct_sequence(node, deep=True)
        pairs: Any = items[0] if len(items) == 1 else items
        if "OrderedDict" in suffix and isinstance(pairs, list) and all(map(_is_pair, cast(list[Any], pairs))):
            return {str(key): value for key, value in cast(list[Any], pairs)}
        return items
    return loader.construct_scalar(node)


def _is_pair(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(cast(list[Any], item)) == 2


def _as_table(data: Any) -> dict[str, Any]:
    """Return parsed `data` as a table: W&B's `{key: {value: v}}` unwrapped, a list of `key=value` texts split."""
    if isinstance(data, list):
        texts = [item for item in cast(list[Any], data) if isinstance(item, str) and "=" in item]
        pairs = (text.lstrip("+~").partition("=") for text in texts)
        return {key: _word(value) for key, _, value in pairs}
    if not isinstance(data, dict):
        return {}
    table = {str(key): value for key, value in cast(dict[Any, Any], data).items()}
    inner = {key: value for key, value in table.items() if not key.startswith("_") and key != "wandb_version"}
    if inner and all(isinstance(v, dict) and v.keys() <= {"value", "desc"} and "value" in v for v in inner.values()):
        return {key: value["value"] for key, value in inner.items()}
    return table


def _word(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
