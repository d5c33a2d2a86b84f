"""The check `prompts-truncated`."""

from __future__ import annotations

from collections.abc import Sequence

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..cuts import ends_of
from ..datafile import DataFile
from ..lengths import LEAST, Spike, pile, spike
from ..rows import Sample
from ..tokens import pad_of, real_length

TEXTS = ("prompt", "completion", "chosen", "rejected")
SHORT = 32
"""Tokens or characters that no limit of a prompt is below. Engineering default."""
LIMIT = ("the tokenizer's max_length and truncation, or the limit of the script that made the file",)


@check(
    "PDT013",
    "prompts-truncated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Drop rows over the limit or raise it; never cut a prompt at its end, where the question and the marker are.",
)
def look(data: DataFile) -> Answer:
    """Many rows have exactly the greatest length: they were cut.

    What is measured:
        Rows at the maximum length (real tokens, or characters of a text) against what the lengths just below would
        make one expect: ten times as many and 1 % of the rows, or four times and a tenth of them. Where nearly all rows
        have that length, or there are few lengths, a form may be the reason; then texts count as cut when more than
        15 % of them stop inside a word, as whole when nearly all end with a mark or alike. Otherwise nothing is said.

    Why it hurts:
        A cut prompt has lost its question or the marker after which the answer begins; a cut reply has lost its end
        token, and the model learns never to stop.

    Usual causes:
        truncation=True with the tokenizer's default limit; a maximum prompt length chosen before the data; text cut to
        a number of characters.

    What to try:
        Read the end of the first row named; count the rows above the limit in the source.

    When it is harmless:
        Data whose lengths are bounded by their nature (a form, a fixed number of choices), or pieces of long documents.

    References:
        Engineering default: ten times the neighbouring density and 1 % of the rows.
    """
    texts = {role: data.with_texts(role) for role in TEXTS}
    lengths = {role: [s.texts[role].length for s in rows] for role, rows in texts.items()}
    pad = pad_of(data) if "input_ids" in data.roles else None
    tokens = data.with_tokens("input_ids")
    lengths["input_ids"] = [real_length(s, pad) for s in tokens]
    rows: dict[str, Sequence[Sample]] = {**texts, "input_ids": tokens}
    cut = {role: one for role, ns in lengths.items() if (one := spike(ns)) is not None}
    if cut:
        role = max(cut, key=lambda r: cut[r].share)
        return _symptom(role, cut[role], rows[role])
    if all(len(ns) < LEAST for ns in lengths.values()):
        return Skip(f"fewer than {LEAST} rows: a greatest length says nothing")
    unclear = {role: one for role, ns in lengths.items() if (one := pile(ns)) is not None and one.length > SHORT}
    return _of_piles(unclear, rows)


def _of_piles(piles: dict[str, Spike], rows: dict[str, Sequence[Sample]]) -> Answer:
    """Judge piles that a form may explain, by the ends of their texts."""
    open_question: Skip | None = None
    for role, one in piles.items():
        if role == "input_ids":
            reason = f"{shown(one.count, one.rows)} rows are exactly {one.length} tokens long: packed, or cut"
            open_question = open_question or Skip(reason, LIMIT)
            continue
        mine = [s for s in rows[role] if s.texts[role].length == one.length]
        ends = ends_of([s.texts[role] for s in mine], [s.texts[role] for s in rows[role]])
        if ends.cut:
            return _symptom(role, one, rows[role], torn=ends.torn)
        if not ends.whole:
            reason = (
                f"{role}: {shown(one.count, one.rows)} rows are exactly {one.length} characters long: a form, or cut"
            )
            open_question = open_question or Skip(reason, LIMIT)
    return open_question


def _symptom(role: str, one: Spike, rows: Sequence[Sample], torn: int | None = None) -> Symptom:
    unit = "tokens" if role == "input_ids" else "characters"
    evidence: dict[str, float | int | str | bool] = {
        "at_limit": one.count, "rows": one.rows, "length": one.length, "expected": one.expected,
    }  # fmt: skip
    message = f"{role}: {shown(one.count, one.rows)} rows are exactly {one.length} {unit} long"
    if role != "input_ids":
        mine = [s for s in rows if s.texts[role].length == one.length]
        ends = ends_of([s.texts[role] for s in mine], [s.texts[role] for s in rows])
        evidence |= {"first_row": mine[0].number, "open_ended": ends.texts - ends.closed, "inside_a_word": ends.torn}
        message += f", first row {mine[0].number}" if torn is None else f", {torn} of them stop inside a word"
    return Symptom(message, role, evidence)
