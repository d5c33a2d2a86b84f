"""The check `answers-misaligned`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..alignment import FEWEST_ROWS, Alignment, Matrix, overlap, segments, words
from ..datafile import DataFile
from ..fitting import Fits, fits
from ..gate import lacks
from ..pairing import Ties, ties
from ..quoting import quotes
from ..rows import Sample

REPLIES = ("answer", "completion", "chosen")
SURE = 5.0
"""Standard errors from chance and from the place; over 8 stretches and 6 shifts a false alarm in 10^5 files."""
MOST_BLOCKS = 128
"""Blocks of 64 rows compared, spread over the file: 1024 rows a stretch are plenty for a shift to show."""
WEAK = 3.0
"""Below this overlap is no evidence of anything: answers that share no words with their prompts."""


@check(
    "PDT006",
    "answers-misaligned",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Join prompts and answers on an identifier instead of the row number.",
)
def look(data: DataFile) -> Answer:
    """Answers belong to the prompts of other rows.

    What is measured:
        The words and numbers that a prompt shares with its own answer and with those up to three rows away, rare words
        counting more, against all orders of the answers within blocks of 64 rows (exact moments), in up to eight
        stretches of the file. Fires where a shift fits surely better than the place. Where the place is no better than
        chance and no shift fits, answers are tied to prompts anywhere in the file: by two or more words that one prompt
        and one answer alone hold, or (first 3000 rows) by sharing clearly more rare words with one prompt than with any
        other, four times as often as by accident. Warns where many are tied to another row and next to none to their
        own, as after a shuffle or in reverse order. Prompts that quote other rows (turns of a conversation, worked
        examples) are left out. Answers without words of their prompts (labels, letters) cannot be told.

    Why it hurts:
        Rewards compare with the wrong answer: the pass rate sits at chance and nothing is learnt, or nonsense is.

    Usual causes:
        Two files joined by row number of which one lost or doubled a line; a header counted as a row; an off-by-one in
        a loader; one column sorted or shuffled without the other.

    What to try:
        Read the first row named with its neighbours; find the row from which on it is shifted. Of a shuffle, read the
        answer and the prompt of the two rows named.

    When it is harmless:
        Never, when answers fit another row surely better than their own.

    References:
        Hoeffding 1951 for the moments over permutations; Sparck Jones 1972 for the weights.
    """
    skip = lacks(data, "prompt") if "messages" not in data.roles else None
    if skip is not None:
        return skip
    judged = {role: segments(_matrices(data, role)) for role in REPLIES}
    informed = {r: found for r, found in judged.items() if any(max(a.in_place, a.shifted) >= WEAK for a in found)}
    for role in judged.keys() - {r for r, found in informed.items() if any(a.in_place >= WEAK for a in found)}:
        rows = _spread(data, role)
        tied = ties([_words(s, "prompt") for s in rows], [_words(s, role) for s in rows])
        if any(_is_shifted(a) for a in judged[role]):
            continue
        numbers = [s.number for s in rows]
        if tied.out_of_order:
            return _elsewhere(role, tied, numbers)
        fitting = fits([_words(s, "prompt") for s in rows], [_words(s, role) for s in rows])
        if fitting.out_of_order:
            return _elsewhere(role, fitting, numbers)
    if not informed:
        text = "answers share too few words with prompts to tell whether they belong together"
        return Skip(text, ("ten rows read by eye",))
    for role, found in informed.items():
        shifted = [a for a in found if _is_shifted(a)]
        if shifted:
            return _symptom(role, max(shifted, key=lambda a: a.gain), sum(a.rows for a in found), shifted)
    return None


def _words(sample: Sample, role: str) -> frozenset[str]:
    return words(sample.texts[role].kept)


def _spread(data: DataFile, role: str) -> list[Sample]:
    """The rows with prompt and reply of up to `MOST_BLOCKS` blocks, spread over the file."""
    step = max(1, -(-len(data.blocks) // MOST_BLOCKS))
    return [s for block in data.blocks[::step] for s in block if "prompt" in s.texts and role in s.texts]


def _matrices(data: DataFile, role: str) -> list[tuple[int, int, Matrix]]:
    found: list[tuple[int, int, Matrix]] = []
    step = max(1, -(-len(data.blocks) // MOST_BLOCKS))
    for block in data.blocks[::step]:
        rows = [s for s in block if "prompt" in s.texts and role in s.texts]
        if len(rows) >= FEWEST_ROWS:
            prompts, replies = [_words(s, "prompt") for s in rows], [_words(s, role) for s in rows]
            quoted = quotes(prompts, replies, [bool(s.texts["prompt"].tail) for s in rows])
            found.append((rows[0].number, rows[-1].number, np.where(quoted, 0.0, overlap(prompts, replies))))
    return found


def _is_shifted(one: Alignment) -> bool:
    return one.shifted >= SURE and one.gain >= SURE and one.in_place < 0.5 * one.shifted


def _symptom(role: str, worst: Alignment, rows: int, shifted: list[Alignment]) -> Symptom:
    where = "earlier" if worst.shift > 0 else "later"
    return Symptom(
        f"{role} of rows {worst.first_row}-{worst.last_row} fits the prompt {abs(worst.shift)} row(s) {where}: "
        f"{worst.shifted:.0f} s.e. over chance, in place {worst.in_place:.1f}",
        role,
        {
            "shift_rows": worst.shift,
            "shifted_z": worst.shifted,
            "in_place_z": worst.in_place,
            "gain_z": worst.gain,
            "rows_shifted": sum(a.rows for a in shifted),
            "rows": rows,
            "first_row": worst.first_row,
        },
    )


def _elsewhere(role: str, tied: Ties | Fits, numbers: list[int]) -> Symptom:
    prompt, answer = (numbers[i] for i in tied.elsewhere[0])
    away = len(tied.elsewhere)
    return Symptom(
        f"{role}: {away} of {tied.rows} fit another row's prompt by rare words, {tied.in_place} their own; "
        f"{role} {answer} prompt {prompt}",
        role,
        {
            "tied_elsewhere": away,
            "tied_in_place": tied.in_place,
            "rows": tied.rows,
            "prompt_row": prompt,
            "answer_row": answer,
        },
        severity=Severity.WARNING,
    )
