"""The check `prompts-truncated`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..counting import shown
from ..datafile import DataFile
from ..lengths import Spike, spike
from ..tokens import pad_of, real_length

TEXTS = ("prompt", "completion", "chosen", "rejected")
_ENDINGS = tuple(".!?:;)]}>\"'`»”’。！？…")


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
        make one expect: ten times as many and 1 % of the rows, or four times and a tenth of them; unless nearly all
        rows have that length (packed rows).

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
    lengths: dict[str, list[tuple[int, int]]] = {}
    for role in TEXTS:
        lengths[role] = [(s.texts[role].length, s.number) for s in data.with_texts(role)]
    pad = pad_of(data) if "input_ids" in data.roles else None
    lengths["input_ids"] = [(real_length(s, pad), s.number) for s in data.with_tokens("input_ids")]
    found = {role: spike([n for n, _ in pairs]) for role, pairs in lengths.items()}
    cut = {role: one for role, one in found.items() if one is not None}
    if not cut:
        enough = any(len(pairs) >= 50 for pairs in lengths.values())
        return None if enough else Skip("fewer than 50 rows: a greatest length says nothing")
    role = max(cut, key=lambda r: cut[r].share)
    return _symptom(data, role, cut[role], next(number for n, number in lengths[role] if n == cut[role].length))


def _symptom(data: DataFile, role: str, one: Spike, first: int) -> Symptom:
    unit = "tokens" if role == "input_ids" else "characters"
    evidence: dict[str, float | int | str | bool] = {
        "at_limit": one.count, "rows": one.rows, "length": one.length, "expected": one.expected, "first_row": first,
    }  # fmt: skip
    if role != "input_ids":
        ends = [s.texts[role].end.rstrip() for s in data.with_texts(role) if s.texts[role].length == one.length]
        evidence["open_ended"] = sum(not end.endswith(_ENDINGS) for end in ends)
    return Symptom(
        f"{role}: {shown(one.count, one.rows)} rows are exactly {one.length} {unit} long, first row {first}",
        role,
        evidence,
    )
