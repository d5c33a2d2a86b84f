"""Takes secrets out of commands, settings and diffs before they are written down."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from ..audit.masking import PATTERNS
from .contents import REMOVED

NAMED = re.compile(
    r"passw|passphrase|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?(?:key|token)|bearer"
    r"|(?:^|[._-])(?:token|key|auth|cookie)$|(?:hf|wandb|github|gitlab|access|api)[_-]?token",
    re.IGNORECASE,
)
"""Settings, options and variables of such a name lose their value; `max_tokens` and `key_dim` keep theirs."""
_KEYS = tuple((re.compile(pattern), judge) for pattern, instead, judge in PATTERNS if instead == "[key]")
_DIGEST = re.compile(r"[0-9a-fA-F]+")
_ASSIGNED = re.compile(
    r"((?i:passw(?:or)?d|passphrase|secret|credentials?|api_?key|access_?key|private_?key|auth_?token|_token)[\w-]{0,40}"
    r"[\"']?\s{0,3}[:=]\s{0,3})([\"'][^\"'\n]{3,}[\"']|[^\s\"'(){}\[\],;]{8,})"
)
"""A secret by the name that it is given to: a quoted text, or one word that is no call and no list."""


def without_keys(text: str) -> str:
    """Return `text` without what looks like a key wherever it stands, and without what is assigned to a secret name.

    Digests in hexadecimal stay: they are what a record is for.
    """
    for pattern, judge in _KEYS:
        text = pattern.sub(lambda found, judge=judge: _cut(found[0], judge(found[0])), text)
    return _ASSIGNED.sub(lambda found: found[1] + REMOVED, text)


def _cut(found: str, size: int) -> str:
    if not size or _DIGEST.fullmatch(found):
        return found
    return REMOVED + found[size:]


def clean_command(words: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a command, values of secret options removed."""
    cleaned: list[str] = []
    hidden = False
    for word in words:
        name, equals, _ = word.partition("=")
        if hidden and not word.startswith("--"):
            cleaned.append(REMOVED)
            hidden = False
            continue
        secret = bool(NAMED.search(name.lstrip("-+"))) and (word.startswith("-") or bool(equals))
        hidden = secret and not equals
        cleaned.append(f"{name}={REMOVED}" if secret and equals else without_keys(word))
    return tuple(cleaned)


def clean_line(line: str) -> str:
    """Return a command in one line, values of secret options removed."""
    try:
        return shlex.join(clean_command(shlex.split(line)))
    except ValueError:  # an open quote: no shell would take it either
        return without_keys(line)


def clean_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return flat settings as plain data: numbers, texts, booleans, None, or lists of these; secrets removed."""
    return {str(key): _setting(str(key), value) for key, value in settings.items()}


def _setting(key: str, value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return REMOVED if re.search(r"passw|secret|credential", key, re.IGNORECASE) else value
    if NAMED.search(key):
        return REMOVED
    if isinstance(value, list | tuple):
        return [_setting(key, item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    number = getattr(value, "item", None)
    if callable(number) and getattr(value, "ndim", 1) == 0:
        return _setting(key, number())
    return without_keys(str(value))[:2000]
