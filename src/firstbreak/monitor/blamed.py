"""The likeliest cause in a notice: its name, which `firstbreak explain` knows, and what it means."""

from __future__ import annotations

from ..causes import all_causes


def blamed(name: str) -> str:
    """Return ` Likeliest cause: <name>. <what it is>`, and `""` where none was found."""
    if not name:
        return ""
    meaning = next((f" {cause.summary}" for cause in all_causes() if cause.name == name), "")
    return f" Likeliest cause: {name}.{meaning}"
