"""Takes secrets, names and places out of what a report shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..readers.credentials import CREDENTIAL, LOGIN, REMOVED
from .clean import plain

SECRET_KEY = re.compile(r"token|key|secret|passw|credential|auth|cookie|api", re.IGNORECASE)
"""Settings with such a name lose their value, unless it is a number (`max_response_tokens`)."""
_HARD_KEY = re.compile(r"secret|passw|credential", re.IGNORECASE)
"""Settings with such a name lose even a number."""
_PERSON_KEY = re.compile(
    r"(?:^|[._/-])(?:user|owner|author|host|node|ip)(?:[._-]?(?:name|addr|address))?$", re.IGNORECASE
)
_CREDENTIAL = (CREDENTIAL, REMOVED)
_DIGEST = (re.compile(r"\b[0-9a-fA-F]{32,}\b"), "[removed]")
_LOGIN = (LOGIN, REMOVED)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\w[\w.+-]*@[\w-]+\.[\w.]+"), "[email]"),
    (re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE), "[address]"),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "[address]"),
    _CREDENTIAL,
    _DIGEST,
    (re.compile(r"(?:[A-Za-z]:)?(?:[\\/]+|~[\\/])(?:[^\\/\s:;,'\"]+[\\/]+)+"), ".../"),
    (re.compile(r"(?<![\w.])(?:[\w.-]+[\\/]+)*(?:home|Users|root)[\\/]+[^\\/\s:;,'\"]+[\\/]*"), ".../"),
)


def redact(value: Any, key: str = "") -> Any:
    """Return plain data without secrets: values under secret names, credentials, addresses and folders."""
    if not isinstance(value, Mapping) and (is_secret(key, value) or _PERSON_KEY.search(key)):
        return "[removed]"
    if isinstance(value, Mapping):
        return {redact_text(str(k)): redact(v, str(k)) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [redact(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return redact_text(value) if isinstance(value, str) else value


def is_secret(key: str, value: Any) -> bool:
    """Whether the setting `key` looks like one that must not be shown."""
    return bool(_HARD_KEY.search(key) or (SECRET_KEY.search(key) and not isinstance(value, (bool, int, float))))


def setting(key: str, value: Any, limit: int) -> str:
    """Return a setting as one line for a report: folders and addresses stay, what looks like a credential does not."""
    if is_secret(key, value):
        return "[removed]"
    shown = plain(value, limit)
    for pattern, instead in (_LOGIN, _CREDENTIAL, _DIGEST):
        shown = pattern.sub(instead, shown)
    return shown


def redact_text(text: str) -> str:
    """Return one line of text without credentials, addresses and folders."""
    shown = plain(text, 500)
    for pattern, instead in _PATTERNS:
        shown = pattern.sub(instead, shown)
    return shown
