"""How the tests put one data check to rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firstbreak.check import Check, Look, checks_of, look_at
from firstbreak.finding import Severity
from tests.unit.preflight.data.making import data


def find_check(name: str) -> Check:
    return next(c for c in checks_of("data") if c.name == name)


def look(name: str, folder: Path, rows: list[Any], **settings: Any) -> Look:
    return look_at(find_check(name), data(folder, rows, **settings))


def fired(name: str, folder: Path, rows: list[Any]) -> Severity | None:
    """Return the severity with which the check fires, None when it is clear; anything else fails the test."""
    seen = look(name, folder, rows)
    assert not seen.error, seen.error
    if seen.symptom is None:
        assert seen.skip is None, seen.skip
        return None
    assert len(seen.symptom.message) <= 120
    assert any(ch.isdigit() for ch in seen.symptom.message)
    return seen.symptom.severity or find_check(name).severity


def talk(prompt: str, reply: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]
