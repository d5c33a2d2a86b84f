"""Which answers a response gives: how many, how many different ones, and whether the prompt already held it."""

from __future__ import annotations

import re

from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "text/answer_claims": 'times the response says "the answer is", "final answer" or the like',
    "text/answers": "answers given in boxes, tags or after such words",
    "text/distinct_answers": "different answers among them",
    "text/answer_from_prompt": "1 where the last answer, of 12 characters or more, stands in the prompt, else 0",
}
NAN = float("nan")
LONGEST_ANSWER = 2000
FEWEST_CHARACTERS = 12
"""Shorter answers (numbers, names) often stand in a prompt rightly. Engineering default."""
_CLAIMS = ("answer is", "final answer", "answer:", "答案是", "答案为", "答案：", "答えは")
_SAID = re.compile(r"answer(?: is|:)[:\s]*([^\s,;]+)")
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_EDGES = " \t\n\r$.*`'\"()[]{}:,;"


@measure(COLUMNS)
def answers(seen: Seen) -> Values:
    """Collect the answers of the response."""
    low = seen.low
    claims = 0
    if not seen.ascii or "answer" in low:
        claims = sum(map(low.count, _CLAIMS if not seen.ascii else _CLAIMS[:3]))
    given = given_answers(low)
    last = given[-1] if given else ""
    copied = float(last in seen.asked.low) if len(last) >= FEWEST_CHARACTERS else 0.0 if given else NAN
    return claims, len(given), len(set(given)), copied


def given_answers(low: str) -> list[str]:
    """Return the answers of a text in lower case, boxes first, then tags, then sentences, without their wrapping."""
    found = boxes(low)
    if "<answer>" in low:
        found += _TAGGED.findall(low)
    if "answer" in low:
        found += _SAID.findall(low)
    kept = [text for text in (bare(one) for one in found) if text]
    return [text for text in kept if text not in {"the", "not", "a", "an", "as", "is"}]


def bare(answer: str) -> str:
    """Return an answer without spaces, marks of mathematics and a box around it."""
    text = answer.strip(_EDGES)
    if "\\boxed{" in text:
        inner = boxes(text + "}")
        text = inner[-1].strip(_EDGES) if inner else text
    return "".join(text.split()) if len(text) < FEWEST_CHARACTERS else text


def boxes(text: str) -> list[str]:
    """Return what stands in each \\boxed{...}; braces within are matched."""
    found: list[str] = []
    place = text.find("\\boxed{")
    while place >= 0:
        start = place + len("\\boxed{")
        depth = 1
        for end in range(start, min(len(text), start + LONGEST_ANSWER)):
            depth += (text[end] == "{") - (text[end] == "}")
            if depth == 0:
                found.append(text[start:end])
                break
        place = text.find("\\boxed{", start)
    return found
