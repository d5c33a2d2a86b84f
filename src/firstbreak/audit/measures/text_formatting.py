"""How much of a response is form."""

from __future__ import annotations

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/headings": "Markdown headings in the response",
    "text/bullets": "lines that begin with a bullet or a number",
    "text/bold": "pieces in bold type",
    "text/code_fences": "fenced code blocks begun",
    "text/boxed": "answers in \\boxed{}",
    "text/answer_tags": "<answer> tags opened",
    "text/think_tags": "<think> tags opened",
    "text/markup_lines_frac": "share of lines with text that begin a heading, an item, a quote or a row of a table",
}
_LINE_MARKS = frozenset("#*-+•>|0123456789")


@measure(COLUMNS)
def formatting(seen: Seen) -> Values:
    """Count the marks of Markdown and of answer formats."""
    text = seen.text
    lines = headings = bullets = others = 0
    for raw in text.split("\n"):
        line = raw.strip()
        if not line:
            continue
        lines += 1
        first = line[0]
        if first not in _LINE_MARKS:
            continue
        if first == "#":
            headings += is_heading(line)
        elif first in ">|":
            others += 1
        else:
            bullets += is_bullet(line)
    low = seen.low
    return (
        headings,
        bullets,
        (text.count("**") + text.count("__")) // 2,
        (text.count("```") + 1) // 2,
        text.count("\\boxed{") + text.count("\\fbox{"),
        low.count("<answer>"),
        low.count("<think>") + low.count("<thinking>"),
        (headings + bullets + others) / lines if lines else 0.0,
    )


def is_heading(line: str) -> bool:
    """Whether a line begins with one to six `#` and a space (CommonMark 0.31, section 4.2)."""
    rest = line.lstrip("#")
    return len(line) - len(rest) <= 6 and rest[:1] == " "


def is_bullet(line: str) -> bool:
    """Whether a line begins as an item of a list (CommonMark 0.31, section 5.2)."""
    if line[0] in "*-+•":
        return line[1:2] == " "
    digits = len(line) - len(line.lstrip("0123456789"))
    return digits <= 9 and line[digits : digits + 1] in {".", ")"} and line[digits + 1 : digits + 2] == " "
