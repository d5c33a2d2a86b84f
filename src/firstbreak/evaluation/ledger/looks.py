"""Looks at splits: recorded with score, noise and protocol; counted against budgets; answered by the Ladder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import InputError
from ..protocol.protocol import Protocol, from_canonical
from ..statistics.selection import selection_gain
from .chain import Entry
from .ladder import Rung, climb, step_of
from .splits import SPLITS, split_of
from .store import Ledger, TamperedError


@dataclass(frozen=True)
class Look:
    """One score on one split."""

    number: int
    time: str
    split: str
    subject: str
    protocol_hash: str
    score: float
    noise: float | None
    """Standard error of the score over items; None where there was a single one."""
    items: int
    told: float
    """What the Ladder answered; the score itself on splits without one."""
    improved: bool
    note: str
    protocol: str
    """The protocol in full."""

    @property
    def merit(self) -> float:
        """The score, turned round where its protocol says that lower is better."""
        return -self.score if self.lower else self.score

    @property
    def lower(self) -> bool:
        """Whether a lower score is better."""
        return protocol_of(self).lower


@dataclass(frozen=True)
class Standing:
    """Where a split stands under one protocol."""

    split: str
    protocol_hash: str
    looks: int
    budget_looks: int | None
    subjects: int
    best: Look | None
    told: float | None
    """Best score that the Ladder told; None before the first look and on splits without a Ladder."""
    gain: float | None
    """How much of the best score choosing it among all subjects adds if all are equally good; None for one subject."""

    @property
    def left(self) -> int | None:
        """Looks left; None for any number."""
        return None if self.budget_looks is None else max(self.budget_looks - self.looks, 0)


def look_of(entry: Entry) -> Look:
    """Return what an entry of the kind `look` holds.

    Raises:
        TamperedError: it holds no look, or one at a split that there is not.
    """
    try:
        body: dict[str, Any] = json.loads(entry.body)
        if entry.split not in SPLITS:
            raise ValueError(f"no split {entry.split!r}")
        return Look(
            entry.number, entry.time, entry.split, entry.subject, entry.protocol_hash, float(body["score"]),
            None if body["noise"] is None else float(body["noise"]), int(body["items"]), float(body["told"]),
            bool(body["improved"]), str(body["note"]), str(body["protocol"]),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TamperedError(
            f"Entry {entry.number} of the ledger cannot be read as a look: changed after it was written.",
            "Restore the ledger from a copy, or begin a new one and say why.",
        ) from error


def record(
    path: Path,
    split: str,
    subject: str,
    protocol: Protocol,
    *,
    score: float,
    noise: float | None,
    items: int,
    note: str = "",
) -> tuple[Look, Standing]:
    """Add a look to the ledger; a look beyond the budget is recorded too, for it has happened.

    Raises:
        TamperedError: the ledger was changed by other means than appending; nothing is added to it.
        UnknownNameError: there is no such split.
    """
    kind = split_of(split)
    ledger = _whole(path)

    def body(entries: list[Entry]) -> str:
        before = [one for one in looks_of(entries) if (one.split, one.protocol_hash) == (split, protocol.hash)]
        rung = _rung(before, score, noise, protocol.lower) if kind.ladder else Rung(score, True, 0.0)
        content = {
            "score": score, "noise": noise, "items": items, "told": rung.told, "improved": rung.improved,
            "step": rung.step, "note": note, "protocol": protocol.canonical,
        }  # fmt: skip
        return json.dumps(content, ensure_ascii=True)

    entry = ledger.append("look", split, subject, protocol.hash, body)
    return look_of(entry), standing(ledger.entries(), split, protocol.hash)


def _whole(path: Path) -> Ledger:
    """Return the ledger to add to. Adding renews its head, which would hide what was cut off before.

    Raises:
        TamperedError: it was changed by other means than appending.
    """
    ledger = Ledger(path)
    if path.exists() and (faults := ledger.faults()):
        raise TamperedError(
            f"{path}: {faults[0]}{f' and {len(faults) - 1} more' if len(faults) > 1 else ''}.",
            "Nothing was added. Restore it from a copy, or begin a new ledger and say why.",
        )
    return ledger


def _rung(before: Sequence[Look], score: float, noise: float | None, lower: bool) -> Rung:
    best = _best_told(before, lower)
    if noise is None:
        raise InputError(
            "The Ladder cannot tell progress from noise with a single item.", "Record scores per item, not one number."
        )
    return climb(None if best is None else best.told, score, step_of(noise, best.noise if best else None), lower=lower)


def _best_told(looks: Sequence[Look], lower: bool) -> Look | None:
    """Return the look whose score the Ladder told last as the best."""
    return max((one for one in looks if one.improved), key=lambda one: -one.told if lower else one.told, default=None)


def set_budget(path: Path, split: str, budget_looks: int, note: str = "") -> None:
    """Change the budget of a split; the change is an entry like any other.

    Raises:
        InputError: the budget is negative.
        TamperedError: the ledger was changed by other means than appending; nothing is added to it.
    """
    split_of(split)
    if budget_looks < 0:
        raise InputError(f"A budget of {budget_looks} looks.", "Give a number of looks, 0 or more.")
    content = json.dumps({"looks": budget_looks, "note": note}, ensure_ascii=True)
    _whole(path).append("budget", split, "", "", lambda _: content)


def looks_of(entries: Sequence[Entry]) -> list[Look]:
    """Return the looks among the entries.

    Raises:
        TamperedError: one of them cannot be read.
    """
    return [look_of(entry) for entry in entries if entry.kind == "look"]


def budget_of(entries: Sequence[Entry], split: str) -> int | None:
    """Return the looks that a split may have: the last that was set, else the usual."""
    said = [json.loads(e.body)["looks"] for e in entries if e.kind == "budget" and e.split == split]
    return int(said[-1]) if said else SPLITS[split].budget_looks


def standing(entries: Sequence[Entry], split: str, protocol_hash: str) -> Standing:
    """Return where a split stands under one protocol; looks under any protocol use up the budget."""
    every = [one for one in looks_of(entries) if one.split == split]
    mine = [one for one in every if one.protocol_hash == protocol_hash]
    best = max(mine, key=lambda one: one.merit, default=None)
    told = _best_told(mine, lower=best.lower) if best else None
    subjects = len({one.subject for one in mine})
    return Standing(
        split=split,
        protocol_hash=protocol_hash,
        looks=len(every),
        budget_looks=budget_of(entries, split),
        subjects=subjects,
        best=best,
        told=told.told if told and SPLITS[split].ladder else None,
        gain=selection_gain(subjects, best.noise) if best and best.noise is not None and subjects > 1 else None,
    )


def standings(entries: Sequence[Entry]) -> list[Standing]:
    """Return where every split stands, once for each protocol."""
    pairs = dict.fromkeys((one.split, one.protocol_hash) for one in looks_of(entries))
    order = list(SPLITS)
    return [standing(entries, s, p) for s, p in sorted(pairs, key=lambda pair: order.index(pair[0]))]


def protocol_of(look: Look) -> Protocol:
    """Return the protocol of a look."""
    return from_canonical(look.protocol)
