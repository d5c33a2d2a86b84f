"""Tokenised rows: which tokens are padding, which are in the loss, where the sequence ends."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from .datafile import DataFile
from .rows import Ids, Sample

IGNORED = -100
"""The label that PyTorch's cross entropy passes over (`ignore_index`)."""
LONG_RUN = 4
"""Equal tokens at the end of a row that are taken for padding when no mask tells."""
COMMON_PAD = 0.05
"""Share of rows that must end in a long run of one token for it to be taken for padding."""

Mask = NDArray[np.bool_]


def in_loss(sample: Sample) -> Mask | None:
    """Return which tokens [T] the loss is taken over; None when the row does not say."""
    labels, mask, ids = (sample.tokens.get(r) for r in ("labels", "loss_mask", "input_ids"))
    known = [
        m for m in (None if labels is None else labels != IGNORED, None if mask is None else mask != 0) if m is not None
    ]
    size = ids.size if ids is not None else known[0].size if known else 0
    known = [m for m in known if m.size == size]
    if not known or not size:
        return None
    return known[0] & known[-1]


def run_at_end(ids: Ids) -> int:
    """Return how many equal tokens the row ends in."""
    other = np.flatnonzero(ids != ids[-1])
    return int(ids.size - 1 - other[-1]) if other.size else int(ids.size)


def pad_of(data: DataFile) -> int | None:
    """Return the padding token: the given one, else the one in which many rows end in a long run."""
    if data.pad_id is not None:
        return data.pad_id
    rows = [s.tokens["input_ids"] for s in data.with_tokens("input_ids")]
    ends = Counter(int(ids[-1]) for ids in rows if run_at_end(ids) >= LONG_RUN)
    if not ends:
        return None
    token, count = ends.most_common(1)[0]
    return token if count >= max(3, COMMON_PAD * len(rows)) else None


def padding(sample: Sample, pad: int | None) -> Mask:
    """Return which tokens [T] are padding: by the attention mask, else a run of `pad` at the end.

    The first token of such a run may be the end of the sequence (many models pad with it), so it is not counted.
    """
    ids = sample.tokens["input_ids"]
    mask = sample.tokens.get("attention_mask")
    if mask is not None and mask.size == ids.size:
        return mask == 0
    found = np.zeros(ids.size, bool)
    if pad is not None and ids.size and int(ids[-1]) == pad:
        run = run_at_end(ids)
        if run > 1:
            found[ids.size - run + 1 :] = True
    return found


def real_length(sample: Sample, pad: int | None) -> int:
    """Return the number of tokens that are no padding."""
    return int((~padding(sample, pad)).sum())


def runs(mask: Mask) -> int:
    """Return the number of stretches of True in `mask` [T]."""
    return int(mask[0]) + int((mask[1:] & ~mask[:-1]).sum()) if mask.size else 0


def supervised(data: DataFile) -> list[tuple[Sample, Mask]]:
    """Return the rows that say which tokens are in the loss, with that mask."""
    pairs = [(s, in_loss(s)) for s in data.with_tokens("input_ids")]
    return [(s, mask) for s, mask in pairs if mask is not None]
