"""How a patch is written: the lines of a small diff in YAML, TOML, overrides, flags or keyword arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .patches import Change, Value


def diff(form: str, call: str, changes: Sequence[Change]) -> tuple[str, ...]:
    """Return the lines, each beginning with `+`, `-` or a space for what stays."""
    if form == "yaml":
        return tuple(_yaml(changes))
    if form == "toml":
        return tuple(_toml(changes))
    if form == "flags":
        return tuple(line for change in changes for line in _flag(change))
    if form == "kwargs":
        inner = [line for c in changes for line in _pair(c, "    {key}={value},", python)]
        return (f" {call}(", *inner, " )")
    return tuple(line for c in changes for line in _pair(c, "{key}={value}", yaml_scalar))


def result(lines: Sequence[str]) -> str:
    """Return the text after the patch: what stays and what is added."""
    return "\n".join(line[1:] for line in lines if line[:1] in "+ ")


def yaml_scalar(value: Value) -> str:
    """Write a value as YAML and Hydra read it."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def toml_scalar(value: Value) -> str:
    """Write a value as TOML reads it."""
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return yaml_scalar(value)


def python(value: Value) -> str:
    """Write a value as Python reads it."""
    return repr(value)


def _pair(change: Change, form: str, write: Callable[[Value], str]) -> list[str]:
    lines = ["-" + form.format(key=change.key, value=write(change.old))] if change.known else []
    return [*lines, "+" + form.format(key=change.key, value=write(change.value))]


def _yaml(changes: Sequence[Change]) -> list[str]:
    """Nest dotted keys; parents are context."""
    lines: list[str] = []
    open_: tuple[str, ...] = ()
    for change in changes:
        *parents, name = change.key.split(".")
        shared = 0
        while shared < min(len(parents), len(open_)) and parents[shared] == open_[shared]:
            shared += 1
        lines += [" " + "  " * depth + f"{parents[depth]}:" for depth in range(shared, len(parents))]
        open_ = tuple(parents)
        indent = "  " * len(parents)
        if change.known:
            lines.append(f"-{indent}{name}: {yaml_scalar(change.old)}")
        lines.append(f"+{indent}{name}: {yaml_scalar(change.value)}")
    return lines


def _toml(changes: Sequence[Change]) -> list[str]:
    """Group dotted keys under their table."""
    lines: list[str] = []
    table = ""
    for change in changes:
        parent, _, name = change.key.rpartition(".")
        if parent != table:
            lines.append(f" [{parent}]")
            table = parent
        if change.known and change.old is not None:
            lines.append(f"-{name} = {toml_scalar(change.old)}")
        lines.append(f"+{name} = {toml_scalar(change.value)}")
    return lines


def _flag(change: Change) -> list[str]:
    """A flag that takes no value stands alone; one to be removed has only its old line."""

    def shown(value: Value) -> str:
        return f"--{change.key}" if value is True else f"--{change.key} {value}"

    lines = [f"-{shown(change.old)}"] if change.known and change.old not in (None, False) else []
    return lines if change.remove else [*lines, f"+{shown(change.value)}"]
