"""The check `end-token-not-trained`."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..counting import shown
from ..datafile import DataFile
from ..gate import lacks, too_few
from ..rows import Sample
from ..tokens import Mask, pad_of, padding, supervised

LEAST = 30
"""Rows."""
COMMON = 0.9
"""Share of rows that end in one token from which on it is the end token."""
SOME = 0.05
"""Share of rows without it that is worth a warning; a few are cut at the maximum length."""
SCATTERED = 0.2
"""Below this share of the commonest last token there is no end token at all."""


@check(
    "PDT021",
    "end-token-not-trained",
    link=Link.ENVIRONMENT_DATA,
    component=Component.LOSS_MASK,
    severity=Severity.WARNING,
    fix="Append the end token to every reply and keep it in the loss; do not pad with a token that is then masked.",
)
def look(data: DataFile) -> Answer:
    """The token that ends a reply is missing or not in the loss.

    What is measured:
        The last token in the loss of each row. With the end token known: rows without it in the loss. Otherwise: the
        share of the commonest last token, and whether one and the same token follows it outside of the loss.

    Why it hurts:
        The model never learns to stop: replies run to the limit, the reward model reads its score in the wrong place,
        and truncated replies are punished for nothing.

    Usual causes:
        The padding token is the end token, and labels of padding were set to -100; a template that does not add it;
        replies cut at the maximum length.

    What to try:
        Print the last five tokens and labels of a row; give the end token (eos_id) to have this check exact.

    When it is harmless:
        Packed rows and continued pre-training, where texts are cut anywhere.

    References:
        Huang et al. 2024, arXiv 2403.17031 (the end-of-sequence trick).
    """
    skip = lacks(data, "input_ids") or lacks(data, "labels", "loss_mask", any_of=True)
    if skip is not None:
        return skip
    rows = [(s, mask) for s, mask in supervised(data) if mask.any()]
    skip = too_few(len(rows), LEAST, "rows with tokens in the loss")
    if skip is not None:
        return skip
    where = "labels" if "labels" in data.roles else "loss_mask"
    if data.eos_id is not None:
        without = [s.number for s, mask in rows if not (mask & (s.tokens["input_ids"] == data.eos_id)).any()]
        if len(without) < SOME * len(rows):
            return None
        return _symptom(where, without, len(rows), "end token not in the loss", len(without) >= COMMON * len(rows))
    return _guess(rows, where, pad_of(data))


def _guess(rows: list[tuple[Sample, Mask]], where: str, pad: int | None) -> Answer:
    last = [
        int(np.flatnonzero(mask & ~padding(s, pad))[-1]) if (mask & ~padding(s, pad)).any() else -1 for s, mask in rows
    ]
    ends = [int(s.tokens["input_ids"][at]) for (s, _), at in zip(rows, last, strict=True)]
    token, count = Counter(ends).most_common(1)[0]
    if count >= (1 - SOME) * len(rows):
        return None
    after = [_next(s, at, pad) for (s, _), at in zip(rows, last, strict=True)]
    follower, followed = Counter(after).most_common(1)[0]
    if count < COMMON * len(rows) and follower >= 0 and followed >= COMMON * len(rows):
        hit = [s.number for (s, _), n in zip(rows, after, strict=True) if n == follower]
        return _symptom(where, hit, len(rows), "one token after the loss, likely the end, masked", True)
    if count < SCATTERED * len(rows):
        return _symptom(where, [s.number for s, _ in rows], len(rows), "no common last token in the loss", False)
    if count < 0.5 * len(rows):
        return None
    full = max(s.tokens["input_ids"].size for s, _ in rows)
    short = [s.number for (s, _), at, end in zip(rows, last, ends, strict=True) if end != token and at < full - 1]
    if len(short) < SOME * len(rows):
        return None
    return _symptom(where, short, len(rows), "loss that ends in another token than most", False)


def _next(sample: Sample, at: int, pad: int | None) -> int:
    """Return the real token after place `at`, -1 where the row ends."""
    ids = sample.tokens["input_ids"]
    return int(ids[at + 1]) if 0 <= at + 1 < ids.size and not padding(sample, pad)[at + 1] else -1


def _symptom(where: str, hit: list[int], rows: int, what: str, sure: bool) -> Symptom:
    return Symptom(
        f"{shown(len(hit), rows)} rows: {what}, first row {hit[0]}",
        where,
        {"rows_hit": len(hit), "rows": rows, "first_row": hit[0]},
        severity=Severity.ERROR if sure and "masked" not in what else None,
    )
