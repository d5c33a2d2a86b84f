"""The faces of `firstbreak start`: an ordered list of looks for a symptom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..symptoms import Symptom, symptoms
from .clean import plain
from .json import SCHEMA_VERSION
from .page import PLAIN, Face, Page

FIRST = "firstbreak diagnose PATH"


def render(text: str, found: Sequence[Symptom], face: Face = PLAIN) -> str:
    """Return where to look for the symptoms found, outermost look first; the list of symptoms when none was."""
    page = Page(face)
    if not found:
        if text:
            page.line(f"No symptom matches {plain(text, 80)!r}. Say it in one of these words:")
        else:
            page.line('Say what you see, for example: firstbreak start "reward stays flat". Known symptoms:')
        for symptom in symptoms():
            page.entry("", symptom.title)
        page.line(f"With a log at hand, begin with: {FIRST}")
        return page.text()
    for index, symptom in enumerate(found):
        if index:
            page.line()
        page.line(symptom.title if not index else f"Or: {symptom.title}", style="bold")
        if not index:
            page.entry("0", f"With a log at hand: {FIRST}")
        for number, look in enumerate(symptom.looks, 1):
            page.entry(str(number), f"{look.link}: {look.what}", style="bold")
            if look.command:
                page.entry("", look.command)
            if look.recipe:
                page.entry("", look.recipe)
        if symptom.rules:
            page.entry("rules", f"{', '.join(symptom.rules)} (firstbreak explain NAME)")
    page.line()
    page.line("Go from the top: do not tune the algorithm while an outer look is missing.")
    return page.text()


def document(text: str, found: Sequence[Symptom]) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "text": text,
        "first": FIRST,
        "symptoms": [
            {
                "name": symptom.name,
                "title": symptom.title,
                "rules": list(symptom.rules),
                "looks": [
                    {"link": look.link.value, "what": look.what, "command": look.command, "recipe": look.recipe}
                    for look in symptom.looks
                ],
            }
            for symptom in found
        ],
    }
