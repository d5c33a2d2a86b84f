"""Whether a response stops before it has ended."""

from __future__ import annotations

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/ends_open": "1 where the last character ends no sentence, formula, number or block, else 0",
    "text/unclosed": "code fences, boxes, answer and think tags that were opened and not closed",
}
FEWEST_WORDS = 8
"""Shorter responses may be a bare answer, which needs no full stop. Engineering default."""
_ENDS = frozenset(".!?…。！？।؟\"'”’»」』)]}>`*|$~:;_") | frozenset("0123456789")
_TAGS = (
    ("<think>", "</think>"),
    ("<answer>", "</answer>"),
    ("<thinking>", "</thinking>"),
    ("<tool_call>", "</tool_call>"),
)


@measure(COLUMNS)
def truncation(seen: Seen) -> Values:
    """Look at the last character and for what was left open."""
    if len(seen.words) < FEWEST_WORDS:
        return float("nan"), unclosed(seen)
    last = seen.text.rstrip()[-1:]
    return float(not ends(last)), unclosed(seen)


def ends(last: str) -> bool:
    """Whether a text may well end in this character: punctuation, a bracket, a digit or a pictogram."""
    return last in _ENDS or not (last.isalnum() or last in ",-–—(/\\+=<&")


def unclosed(seen: Seen) -> float:
    """Return how many blocks were opened and not closed."""
    text, low = seen.text, seen.low
    left = text.count("```") % 2
    if "<" in low:
        left += sum(max(0, low.count(start) - low.count(end)) for start, end in _TAGS)
    if "\\boxed{" in text and "}" not in text[text.rindex("\\boxed{") :]:
        left += 1
    return float(left)
