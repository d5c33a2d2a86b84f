"""`Protocol`: read from TOML, checked, fingerprinted, compared."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import ConfigError, InputError, UnreadableError
from .fields import FILL_IN, REQUIRED, SECTIONS, Field, Values, checked, insist_on_filled

LARGEST = 1 << 20
"""Bytes of a protocol file."""
HASH_DIGITS = 16
MISSING = "not said"
"""How a field that one protocol leaves open is shown."""


class DifferentProtocolsError(InputError):
    """Two scores were measured under different protocols; the message names the fields."""

    kind = "different_protocols"


@dataclass(frozen=True)
class Protocol:
    """Everything that a score was measured under."""

    values: Values

    @property
    def canonical(self) -> str:
        """One text for one protocol, whatever the order of its fields and however its numbers were written."""
        return json.dumps(self.values, sort_keys=True, ensure_ascii=True, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of `canonical`."""
        return hashlib.sha256(self.canonical.encode("ascii")).hexdigest()[:HASH_DIGITS]

    @property
    def flat(self) -> dict[str, Any]:
        """`section.field` -> value."""
        return {f"{s}.{name}": value for s, fields in self.values.items() for name, value in fields.items()}

    @property
    def pass_at(self) -> list[int]:
        """The k of pass@k."""
        return list(self.values.get("generation", {}).get("pass_at", ()))

    @property
    def lower(self) -> bool:
        """Whether a lower score is better; higher ones are unless it says so."""
        return self.values.get("evaluation", {}).get("better") == "lower"

    @property
    def open_fields(self) -> list[str]:
        """Fields of its sections that it does not fix."""
        return [f"{s}.{name}" for s in self.values for name in SECTIONS[s] if name not in self.values[s]]


def read(path: Path) -> Protocol:
    """Read a protocol file.

    Raises:
        UnreadableError: it cannot be read.
        ConfigError: it is not TOML, or a field is wrong, missing or still the placeholder of an example.
        UnknownNameError: a section or field does not exist.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(
                f"{path}: a protocol file of more than 1 MiB.", "Put templates into files; fix their hash."
            )
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise UnreadableError(
            f"{path}: cannot be read ({error.strerror or type(error).__name__}).",
            "Write one with: firstbreak eval protocol init protocol.toml",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text.", "Save the protocol as UTF-8.") from error
    try:
        found = of(tomllib.loads(text), str(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}.", "Write it as section, then name = value.") from error
    insist_on_filled(found.values, str(path))
    return found


def of(values: Mapping[str, Any], source: str = "the protocol") -> Protocol:
    """Return the protocol of section -> field -> value, checked."""
    return Protocol(checked(values, source))


def from_canonical(text: str) -> Protocol:
    """Return the protocol that a ledger holds as text."""
    return of(json.loads(text), "the recorded protocol")


def differences(one: Protocol, other: Protocol) -> dict[str, tuple[Any, Any]]:
    """Return `section.field` -> both values for each field in which they differ; `MISSING` for what one leaves open."""
    a, b = one.flat, other.flat
    names = [f"{s}.{name}" for s, fields in SECTIONS.items() for name in fields]
    return {n: (a.get(n, MISSING), b.get(n, MISSING)) for n in names if a.get(n, MISSING) != b.get(n, MISSING)}


def same_or_refuse(one: Protocol, other: Protocol) -> None:
    """Refuse to compare scores of different protocols.

    Raises:
        DifferentProtocolsError: they differ; the message names the fields.
    """
    found = differences(one, other)
    if not found:
        return
    listed = [f"{name} ({_short(a)} against {_short(b)})" for name, (a, b) in found.items()]
    more = f" and {len(listed) - 6} more" if len(listed) > 6 else ""
    raise DifferentProtocolsError(
        f"These scores were measured under different protocols: {', '.join(listed[:6])}{more}.",
        "Measure one of them again under the other's protocol.",
    )


def _short(value: Any) -> str:
    text = value if value is MISSING else json.dumps(value)
    return text if len(text) <= 60 else text[:59] + "…"


def example(sections: tuple[str, ...]) -> str:
    """Return the text of a protocol file that shows every field of `sections`.

    Optional ones are commented out; texts that only the user knows are left to be filled in.
    """
    lines = [
        "# What a score is measured under. Every field that is set enters the protocol's hash.",
        f'# Fill in what says "{FILL_IN}"; until then no score is taken. Look at the other values: they are examples.',
    ]
    for section in sections:
        lines += ["", f"[{section}]"]
        lines += [_line(name, field, name in REQUIRED[section]) for name, field in SECTIONS[section].items()]
    return "\n".join(lines) + "\n"


def _line(name: str, field: Field, required: bool) -> str:
    choices = f": {' or '.join(field.choices)}" if field.choices else ""
    if required and field.kind == "text" and not field.choices:
        return f"{name} = {json.dumps(FILL_IN)}  # {field.meaning}; for example {json.dumps(field.example)}"
    return f"{'' if required else '# '}{name} = {json.dumps(field.example)}  # {field.meaning}{choices}"
