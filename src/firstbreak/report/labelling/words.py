"""What a labeller is shown of a sample: its texts, made safe, and nothing of what it was paid."""

from __future__ import annotations

from dataclasses import dataclass

from ...audit.labels.queue import Item
from ...audit.masking import masked
from ..clean import plain

LONGEST = 20_000
"""Characters shown of one text; of a longer one the two ends. Engineering default: more than is read."""
LONGEST_LINE = 1_000
SYSTEM = 240
"""Characters shown of a system message: it is the same for all samples."""
SCALE_WORDS = "1 bad   2 poor   3 unsure   4 fair   5 good"


@dataclass(frozen=True)
class Part:
    """A text with what it is."""

    title: str
    lines: tuple[str, ...]


def parts_of(item: Item, mask: bool = False) -> list[Part]:
    """Return what is shown of a sample: the conversation with its calls, or prompt and response; then the reference."""
    sample = item.sample
    found: list[Part] = []
    if any(turn.calls for turn in sample.turns):
        for turn in sample.turns:
            if turn.role == "system":
                found.append(Part("system", lines(turn.text[:SYSTEM] + " [...]" * (len(turn.text) > SYSTEM), mask)))
            elif turn.text and not (turn.role == "tool" and any(turn.text == r for r in _results(item))):
                found.append(Part(turn.role, lines(turn.text, mask)))
            for call in turn.calls:
                found.append(Part("call", lines(f"{call.name} {call.arguments}", mask)))
                found.append(Part("result", lines(call.result, mask)))
    else:
        found = [Part("prompt", lines(sample.prompt, mask)), Part("response", lines(sample.response, mask))]
    if sample.answer:
        found.append(Part("reference", lines(sample.answer, mask)))
    return found


def _results(item: Item) -> set[str]:
    return {call.result for turn in item.sample.turns for call in turn.calls}


def lines(text: str, mask: bool = False) -> tuple[str, ...]:
    """Return a text as lines that are safe to show, indents kept; long texts lose their middle."""
    if mask:
        text = masked(text)
    if len(text) > LONGEST:
        half = LONGEST // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    shown: list[str] = []
    for line in text.replace("\t", "    ").splitlines():
        indent = len(line) - len(line.lstrip(" "))
        for start in range(0, max(len(line), 1), LONGEST_LINE):
            clean = plain(line[start : start + LONGEST_LINE], LONGEST_LINE)
            shown.append(" " * min(indent, 40) * (start == 0) + clean)
    return tuple(shown) or ("(nothing)",)
