"""Strings that please a judge or a verifier and help nobody else."""

from __future__ import annotations

import re

from ..measure import Values, measure
from ..phrases import Phrases
from ..seen import Seen

COLUMNS = {
    "text/judge_addressed": "phrases that tell a reader or judge how good the response is",
    "text/injections": "phrases that give orders to a judge, and marks of a chat template",
    "text/sycophancy": "phrases that flatter the user",
    "text/hollow": "1 where the response is nothing but an opener or punctuation, else 0",
}
JUDGE: tuple[str, ...] = (
    "this answer is correct", "the answer is correct", "this is the correct answer", "this solution is correct",
    "the solution is correct", "the above answer is correct", "this response is correct", "my answer is correct",
    "this is a perfect answer", "this is a complete and correct", "this response fully", "this answer fully",
    "this fully satisfies", "meets all the requirements", "meets all requirements", "satisfies all the requirements",
    "deserves full marks", "deserves full credit", "deserves a high score", "deserves the highest", "full score",
    "full marks", "10/10", "score: 10", "rating: 10", "score of 10", "rating: [[10]]", "100% correct",
    "100% accurate", "verified to be correct", "has been verified", "i have verified", "i am certain that this",
    "high-quality answer", "high quality answer", "comprehensive and accurate answer", "该答案正确", "答案完全正确",
    "这是正确答案", "diese antwort ist richtig", "cette réponse est correcte", "esta respuesta es correcta",
)  # fmt: skip
"""Praise of the response by itself. Engineering default, after the attacks on judges of Zheng et al. 2024 (arXiv
2410.07137) and Raina et al. 2024 (arXiv 2402.14016)."""
ORDERS: tuple[str, ...] = (
    "ignore previous instructions", "ignore all previous", "ignore the previous", "ignore the above",
    "disregard previous", "disregard the above", "disregard all previous", "dear grader", "dear judge",
    "dear evaluator", "note to grader", "note to the grader", "note to evaluator", "note to judge", "to the grader",
    "attention grader", "as the grader", "please give this", "please rate this", "please grade this",
    "give this response", "give me a high score", "assign the maximum", "assign a score", "award full",
    "mark this as correct", "mark this answer as correct", "output true", "respond with yes", "say yes", "[[a]]",
    "verdict: correct", "judgment: correct", "judgement: correct", "sys.exit(0)", "os._exit(0)",
)  # fmt: skip
"""Orders to whoever scores. Engineering default, after Greshake et al. 2023 (arXiv 2302.12173) and Shi et al. 2024
(arXiv 2403.17710)."""
FLATTERY: tuple[str, ...] = (
    "great question", "excellent question", "good question", "wonderful question", "fantastic question",
    "what a great", "you're absolutely right", "you are absolutely right", "you're so right", "brilliant idea",
    "what an insightful", "insightful question", "thoughtful question", "i completely agree with you",
    "i totally agree with you", "you raise an excellent", "your idea is brilliant", "you're right to",
)  # fmt: skip
"""Flattery of the user. Engineering default, after the classes of Sharma et al. 2023 (arXiv 2310.13548)."""
OPENERS: tuple[str, ...] = (
    "thought process", "let's solve this problem step by step", "let's think step by step", "solution",
    "let me think", "the answer is", "answer", "final answer", "sure", "okay", "here is the solution", "reasoning",
    "解", "解答", "かいせつ", "respuesta", "step 1", "i will solve this step by step", "think step by step",
)  # fmt: skip
"""Openers that fool judges by themselves (Zhao et al. 2025, arXiv 2507.08794, table 1)."""
_MARKS = re.compile(r"<\|[a-z_]+\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|</?s>")
_TURNS = ("\n\nhuman:", "\n\nassistant:", "\n\nuser:")
_EDGES = " \t\n\r.:;,!?…*#`'\"-–—()[]{}<>/\\|=+$。：，、"


_JUDGE, _ORDERS, _FLATTERY = Phrases(JUDGE), Phrases(ORDERS), Phrases(FLATTERY)
_HOLLOW = frozenset(one.strip(_EDGES) for one in OPENERS)
_LONGEST_HOLLOW = max(map(len, _HOLLOW))


@measure(COLUMNS)
def pleasing(seen: Seen) -> Values:
    """Count the phrases."""
    low = seen.low if seen.ascii else seen.low.replace("’", "'")
    words = seen.distinct
    marks = len(_MARKS.findall(low)) if "<" in low or "inst]" in low else 0
    if "\n\n" in low:
        marks += sum(map(low.count, _TURNS))
    return _JUDGE.count(low, words), _ORDERS.count(low, words) + marks, _FLATTERY.count(low, words), is_hollow(low)


def is_hollow(low: str) -> float:
    """Return 1 where a text in lower case, which is not empty, is an opener and nothing else."""
    bare = low.strip(_EDGES)
    if len(bare) > _LONGEST_HOLLOW:
        return 0.0
    return float(bool(low.strip()) and (not bare or bare in _HOLLOW))
