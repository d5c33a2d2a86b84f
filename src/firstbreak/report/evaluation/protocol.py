"""A protocol and the differences of two, as text and as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...evaluation.protocol.protocol import MISSING, Protocol
from ..clean import plain
from ..page import Page
from ..words import count


def data(found: Protocol) -> dict[str, Any]:
    """Return the document for programs."""
    return {"protocol": {"hash": found.hash, "values": found.values, "open": found.open_fields}}


def draw(page: Page, found: Protocol) -> None:
    """Draw the fingerprint, what is fixed and what is left open."""
    name = plain(found.values["evaluation"]["name"], 60)
    page.line(f"{name}: complete, hash {found.hash}", style="bold")
    for section, fields in found.values.items():
        page.line(f"{section}: " + ", ".join(f"{n} {_said(v)}" for n, v in fields.items()))
    if found.open_fields:
        page.line(f"left open: {count(len(found.open_fields), 'field')} not fixed: {', '.join(found.open_fields)}")


def draw_differences(page: Page, found: Mapping[str, tuple[Any, Any]]) -> None:
    """Draw the fields in which two protocols differ."""
    if not found:
        page.line("The same protocol: scores may be compared.", style="bold")
        return
    page.line(f"{count(len(found), 'field')} differ: scores must not be compared.", style="bold")
    for name, (one, other) in found.items():
        page.line(f"{name}: {_said(one)} against {_said(other)}")


def _said(value: Any) -> str:
    return str(value) if value is MISSING else plain(json.dumps(value, ensure_ascii=False), 80)
