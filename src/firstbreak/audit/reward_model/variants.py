"""The same response in another dress: nothing it says changes."""

from __future__ import annotations

import re

PADDING = (
    "I hope this answers the question. If anything is unclear, please ask, and I will explain it in more detail. "
    "Thank you for the question."
)
VARIANTS = ("padded", "markdown", "spaced")


def variant(name: str, text: str) -> str:
    """Return `text` dressed as `name`, one of `VARIANTS`.

    padded: sentences that add nothing; markdown: a heading and its sentences as a list; spaced: a blank line after it.
    """
    if name == "padded":
        return f"{text}\n\n{PADDING}"
    if name == "markdown":
        return markdown(text)
    return f"{text}\n\n"


def markdown(text: str) -> str:
    """Return `text` with a heading and its sentences as a bulleted list."""
    sentences = [s for s in re.split(r"(?<=[.!?])\s+", text.strip()) if s]
    return "## **Answer**\n\n" + "\n".join(f"- {s}" for s in sentences)
