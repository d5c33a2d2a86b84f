"""What an agent says of its own work: done, acted, returned. English only; other languages go unseen."""

from __future__ import annotations

import re

from .episode import Episode

_NOT = re.compile(
    r"\b(?:not|never|unable|cannot|couldn|can['’]t|didn|wasn|hasn|haven|failed|impossible|sorry|if|would|should|will|"
    r"to be)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|completed?|finished|accomplished|successful(?:ly)?|all set|resolved|solved|in place)\b", re.IGNORECASE
)
_ACTS = (
    r"booked|reserved|scheduled|cancell?ed|written|wrote|saved|stored|sent|emailed|created|added|deleted|removed|"
    r"updated|changed|set|edited|modified|fixed|repaired|moved|renamed|installed|submitted|uploaded|ordered|bought|"
    r"purchased|paid|transferred|refunded|committed|pushed|merged|deployed|placed|registered"
)
_ACTED = re.compile(
    rf"\b(?:I|we)(?:\s+have|['’]ve)?(?:\s+(?:now|just|also|successfully|already))*\s+(?:{_ACTS})\b"
    rf"|\b(?:has|have)\s+(?:now\s+|successfully\s+)?been\s+(?:successfully\s+)?(?:{_ACTS})\b"
    rf"|\b(?:is|are|was|were)\s+(?:now\s+|successfully\s+)+(?:{_ACTS})\b",
    re.IGNORECASE,
)
_DONE_STEMS = ("done", "complete", "finished", "accomplished", "success", "all set", "solved", "in place")
_ACT_STEMS = tuple(_ACTS.replace("cancell?ed", "cancel").split("|"))
_RETURN_STEMS = ("return", "gave", "give", "say", "said", "show", "report", "print", "output")
"""What a text must hold to be searched: most hold none, and this is ten times as quick."""
_SENTENCE = re.compile(r"[^.!?\n]+(?:\.\d[^.!?\n]*)*")
_RETURNED = re.compile(
    r"\b(?:tool|calculator|search|api|function|command|terminal|shell|output|query|database|checks?|script)\b"
    r"[^.!?\n]{0,60}?\b(?:returned|returns|gave|gives|says|said|shows|showed|reports|reported|printed|outputs?)\b"
    r"[^.!?\n\d]{0,40}?(-?\d[\d,]*(?:\.\d+)?)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_WORD = re.compile(r"\w+")
LONGEST = 8_192
"""Characters of a message that are read. Engineering default."""
FEWEST_ECHO_WORDS = 20
"""A shorter answer may well be what a tool returned. Engineering default."""
ECHO_FRAC = 0.9
"""Share of an answer's runs of 5 words that stand in one tool result. Engineering default."""
GRAM = 5


def claims_done(text: str) -> bool:
    """Whether a sentence of `text` says that the work is done, or that something was acted on."""
    return claims_act(text) or _says(text, _DONE, _DONE_STEMS)


def claims_act(text: str) -> bool:
    """Whether a sentence of `text` says that something was booked, written, sent or otherwise changed."""
    return _says(text, _ACTED, _ACT_STEMS)


def _says(text: str, what: re.Pattern[str], stems: tuple[str, ...]) -> bool:
    """Whether a sentence matches and denies nothing; texts without any of the `stems` are not searched."""
    low = text[-LONGEST:].lower()
    if not any(stem in low for stem in stems):
        return False
    return any(what.search(s) and not _NOT.search(s) for s in _SENTENCE.findall(low))


def invented(episode: Episode) -> int:
    """Count numbers that the agent says a tool returned and that stand in no result, argument or message of the user.

    A number with fewer decimals than a result may be its rounding; single digits are not judged.
    """
    texts = [t[:LONGEST] for t in episode.said]
    said = [m[1] for t in texts if any(stem in t for stem in _RETURN_STEMS) for m in _RETURNED.finditer(t)]
    said = [s for s in said if sum(c.isdigit() for c in s) > 1]
    if not said:
        return 0
    known = " ".join([episode.asked, *(f"{c.result} {c.made.arguments} {c.made.name}" for c in episode.calls)])
    known += " ".join(t.text for t in episode.sample.turns if t.role == "tool")
    numbers = [float(n.replace(",", "")) for n in _NUMBER.findall(known)[:100_000]]
    return sum(not _among(s, numbers) for s in said)


def _among(said: str, numbers: list[float]) -> bool:
    decimals = len(said.partition(".")[2])
    value = float(said.replace(",", ""))
    return any(abs(abs(value) - abs(n)) <= 0.5000001 * 10.0**-decimals * (1 if n % 1 else 0) for n in numbers)


def echoes(episode: Episode) -> bool:
    """Whether the last message is, word for word, what one tool returned."""
    results = {c.result for c in episode.calls if len(c.result) >= FEWEST_ECHO_WORDS}
    words = _WORD.findall(episode.last[:LONGEST].lower()) if results else []
    if len(words) < FEWEST_ECHO_WORDS:
        return False
    mine = _grams(words)
    return any(len(mine & _grams(_WORD.findall(r.lower()))) >= ECHO_FRAC * len(mine) for r in results)


def _grams(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + GRAM]) for i in range(len(words) - GRAM + 1)}
