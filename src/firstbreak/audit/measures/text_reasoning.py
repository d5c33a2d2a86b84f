"""Whether the place for reasoning holds any."""

from __future__ import annotations

import re

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/reasoning_words": "words between the tags of reasoning, where the response has such tags",
    "text/reasoning_empty": "1 where reasoning is opened and closed with fewer than 5 words in it, else 0",
}
FEWEST_WORDS = 5
"""Fewer words are no reasoning. Engineering default."""
_THOUGHT = re.compile(r"<(think|thinking|reasoning|scratchpad)>(.*?)</\1>", re.DOTALL)
NAN = float("nan")


@measure(COLUMNS)
def reasoning(seen: Seen) -> Values:
    """Count the words of the reasoning; the tags are those of the common templates."""
    if "</" not in seen.low:
        return NAN, 0.0
    thoughts = [m.group(2) for m in _THOUGHT.finditer(seen.low)]
    if not thoughts:
        return NAN, 0.0
    words = sum(len(t.split()) for t in thoughts)
    return float(words), float(words < FEWEST_WORDS)
