"""Token ids, masks, log-probabilities and lengths of a row; lists that do not fit one another are left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, cast

from ..sample import NAN, Tokens
from .values import decimals, decoded, known, number, whole_numbers

Ids = tuple[int, ...]


def tokens_of(row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], mended: Counter[str]) -> Tokens | None:
    """Return what the row says of its tokens, None when it says nothing.

    Args:
        row: The row.
        roles: Role -> columns.
        mended: Where lists that do not fit are counted.
    """
    if not any(role in roles for role in ("ids", "response_ids", "loss_mask", "logprobs")):
        return None
    said, asked = _ids(row, roles, "response_ids"), _ids(row, roles, "prompt_ids")
    ids = _ids(row, roles, "ids")
    if said:
        ids, start = (*asked, *said), len(asked)
    elif ids:
        start = _start(row, roles, len(ids)) or _tail(row, roles, len(ids))
    else:
        return None
    mask = _mask(_ids(row, roles, "loss_mask"), len(ids), start, mended)
    if not said and start == 0 and mask and 1 in mask:
        start = mask.index(1)
    return Tokens(ids, start, mask, _logprobs(row, roles, len(ids), start, mended), _ids(row, roles, "retokenised"))


def _ids(row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], role: str) -> Ids:
    for name in roles.get(role, ()):
        cell = row[name]
        if not isinstance(cell, (int, float, bool)) and (found := whole_numbers(cell)):
            return found
    return ()


def _start(row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], size: int) -> int:
    for name in roles.get("prompt_length", ()):
        found = number(row[name])
        if 0 <= found <= size:
            return int(found)
    return 0


def _tail(row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], size: int) -> int:
    """Return where a response begins of which mask and log-probabilities speak alone, the ids of prompt and response.

    It takes two that agree on its length, of mask, log-probabilities and the stated length (slime, OpenRLHF).
    """
    lists = len(_ids(row, roles, "loss_mask")), *(len(decimals(row[name]) or ()) for name in roles.get("logprobs", ()))
    stated = (int(n) for name in roles.get("length", ()) if known(n := _count(row[name])))
    said = Counter(length for length in (*lists, *stated) if 0 < length < size)
    length, times = said.most_common(1)[0] if said else (size, 0)
    return size - length if times >= 2 and length in lists else 0


def _mask(mask: Ids, size: int, start: int, mended: Counter[str]) -> Ids:
    """Return the loss mask over all ids; one of the response alone has zeros put before it."""
    kept = tuple(int(bool(entry)) for entry in mask)
    if not kept or len(kept) == size:
        return kept
    if len(kept) == size - start:
        return (*(0,) * start, *kept)
    mended["the loss mask is not as long as the tokens and was left out"] += 1
    return ()


def _logprobs(
    row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], size: int, start: int, mended: Counter[str]
) -> tuple[float, ...]:
    """Return the sampler's log-probabilities of the response."""
    for name in roles.get("logprobs", ()):
        found = decimals(row[name])
        if not found:
            continue
        if len(found) == size:
            return found[start:]
        if len(found) == size - start:
            return found
        mended["the log-probabilities are not as many as the tokens and were left out"] += 1
    return ()


def response_length(row: Mapping[str, Any], roles: Mapping[str, tuple[str, ...]], tokens: Tokens | None) -> float:
    """Return the length of the response in tokens: as the log says, else counted; NaN where neither can be."""
    for name in roles.get("length", ()):
        found = _count(row[name])
        if known(found):
            return found
    whole = next((found for name in roles.get("total_length", ()) if known(found := _count(row[name]))), NAN)
    prompt = next((found for name in roles.get("prompt_length", ()) if known(found := _count(row[name]))), NAN)
    if whole >= prompt:
        return whole - prompt
    if tokens is None:
        return NAN
    if tokens.loss_mask:
        return float(sum(tokens.loss_mask[tokens.start :]))
    return float(len(tokens.ids) - tokens.start)


def _count(cell: Any) -> float:
    cell = decoded(cell)
    if isinstance(cell, list) and len(cast("list[Any]", cell)) != 1:
        return NAN
    found = number(cell)
    return found if found >= 0 else NAN
