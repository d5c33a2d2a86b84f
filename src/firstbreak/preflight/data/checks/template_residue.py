"""The check `template-residue`."""

from __future__ import annotations

import re
from collections import Counter

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile

NAMES = frozenset(
    {"prompt", "question", "instruction", "instructions", "query", "context", "user", "user_input", "user_message",
     "message", "messages", "system", "system_prompt", "system_message", "response", "completion", "answer", "problem",
     "history", "chat_history", "conversation", "document", "passage", "options", "choices", "task", "input", "output",
     "input_text", "content", "chosen", "rejected", "bos_token", "eos_token", "add_generation_prompt"}
)  # fmt: skip
"""Names that templates of prompts use; the file's own columns are added."""
_PLACEHOLDER = re.compile(r"(?<![\\\w}^_$])(?:\{\{\s*([a-z_][a-z0-9_]{1,30})\s*\}\}|\{([a-z_][a-z0-9_]{1,30})\})")
"""A name in braces, not after a backslash command, a letter or a brace: `\\frac{problem}` is mathematics."""
_BLOCK = re.compile(r"\{%-?\s*(?:for|if|endif|endfor|set|else)\b")
TEXTS = ("prompt", "completion", "chosen", "rejected")
SOME = 0.005
FEW = 3
"""Rows with one and the same placeholder; once may be a text about templates."""
MOST = 0.5


@check(
    "PDT014",
    "template-residue",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Fill the template before writing the file, and test that no placeholder is left.",
)
def look(data: DataFile) -> Answer:
    """Placeholders of a template were left in the texts.

    What is measured:
        Names in braces that prompt templates (or this file's columns) use, and blocks of a Jinja template, row by row;
        braces after a backslash command, a letter or a sign are passed over.

    Why it hurts:
        The model sees "{question}" instead of the question: prompts are all alike and the answer cannot be found.

    Usual causes:
        A format string that lost its format call; double braces after an f-string; a chat template applied to itself.

    What to try:
        Print the first row named; apply the template to one row by hand.

    When it is harmless:
        Texts about programming or templates.

    References:
        Engineering default: one placeholder in 3 rows and 0.5 %; an error from half of the rows on.
    """
    names = NAMES | {c.lower() for c in data.roles.values()}
    worst: tuple[int, str, int, int] = (0, "", 0, 0)
    for role in TEXTS:
        rows = data.with_texts(role)
        held: Counter[str] = Counter()
        first: dict[str, int] = {}
        for sample in rows:
            for mark in _marks(sample.texts[role].kept, names):
                held[mark] += 1
                first.setdefault(mark, sample.number)
        if held:
            mark, count = held.most_common(1)[0]
            if count > worst[0] and count >= max(FEW, SOME * len(rows)):
                worst = (count, role, len(rows), first[mark])
    count, role, seen, first_row = worst
    if not count:
        return None
    return Symptom(
        f"{role}: {shown(count, seen)} rows hold an unfilled placeholder of a template, first row {first_row}",
        role,
        {"rows_with_placeholder": count, "rows": seen, "first_row": first_row},
        severity=Severity.ERROR if count >= MOST * seen else None,
    )


def _marks(text: str, names: frozenset[str]) -> set[str]:
    if "{" not in text:
        return set()
    found = {a or b for a, b in _PLACEHOLDER.findall(text)} & names
    return found | {"block"} if _BLOCK.search(text) else found
