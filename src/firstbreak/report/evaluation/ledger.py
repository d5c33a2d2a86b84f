"""The ledger of looks, as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...evaluation.ledger.looks import Look, Standing
from ...evaluation.ledger.splits import SPLITS
from ...evaluation.ledger.store import Head
from ..clean import plain
from ..page import Page
from ..words import count, number

LISTED = 40
"""Looks that the text lists, the last ones; JSON lists all."""


def _look(look: Look) -> dict[str, Any]:
    names = (
        "number",
        "time",
        "split",
        "subject",
        "protocol_hash",
        "score",
        "noise",
        "items",
        "told",
        "improved",
        "note",
    )
    return {name: getattr(look, name) for name in names}


def _standing(one: Standing) -> dict[str, Any]:
    return {
        "split": one.split,
        "protocol_hash": one.protocol_hash,
        "looks": one.looks,
        "budget_looks": one.budget_looks,
        "left_looks": one.left,
        "lower_is_better": one.best is not None and one.best.lower,
        "subjects": one.subjects,
        "told": one.told,
        "best": None if one.best is None else _look(one.best),
        "expected_selection_gain": one.gain,
    }


def look_data(look: Look, standing: Standing) -> dict[str, Any]:
    """Return the document of one recorded look."""
    return {"look": _look(look), "standing": _standing(standing)}


def data(looks: Sequence[Look], standings: Sequence[Standing]) -> dict[str, Any]:
    """Return the document of a whole ledger."""
    return {"looks": [_look(one) for one in looks], "standings": [_standing(one) for one in standings]}


def draw_look(page: Page, look: Look, standing: Standing) -> None:
    """Draw what was recorded and where its split stands."""
    page.line(f"Look {look.number} recorded: {plain(look.subject, 60)} on {look.split}", style="bold")
    if SPLITS[look.split].ladder:
        said = (
            f"improved: {number(look.told)}"
            if look.improved
            else f"no better than noise: the best stays {number(look.told)}"
        )
        page.entry("ladder", f"{said}. Decide by this number; the score itself is in the ledger.")
    else:
        page.entry("score", _score(look))
    _draw_standing(page, standing)


def _score(look: Look) -> str:
    noise = "" if look.noise is None else f" +- {number(look.noise)} (standard error over {count(look.items, 'item')})"
    return f"{number(look.score)}{noise}"


def _draw_standing(page: Page, one: Standing) -> None:
    if one.budget_looks is None:
        page.entry("looks", f"{one.looks:,} so far; {SPLITS[one.split].purpose}")
    elif one.looks > one.budget_looks:
        page.entry("looks", f"{one.looks:,} of {one.budget_looks:,}: OVER BUDGET. What this set says now is partly "
                   "what was chosen on it; take a fresh one.")  # fmt: skip
    else:
        page.entry("looks", f"{one.looks:,} of {one.budget_looks:,}, {one.left:,} left")
    if one.gain is not None and one.best is not None:
        way, end = ("too low", "smallest") if one.best.lower else ("too high", "largest")
        page.entry(
            "choice",
            f"the best of {one.subjects:,} subjects scores {number(one.gain)} {way} if all are equally good "
            f"(expected {end} of so many noisy scores; less when they share their noise)",
        )


def draw(page: Page, looks: Sequence[Look], standings: Sequence[Standing]) -> None:
    """Draw where every split stands, then the looks."""
    page.line(f"{count(len(looks), 'look')} at {count(len({s.split for s in standings}), 'split')}", style="bold")
    for one in standings:
        page.heading(f"{one.split} under protocol {one.protocol_hash}")
        if one.told is not None:
            page.entry("best", f"{number(one.told)} by the Ladder")
        elif one.best is not None:
            page.entry("best", f"{_score(one.best)}, {plain(one.best.subject, 60)}")
        _draw_standing(page, one)
    page.heading("Looks")
    for look in looks[-LISTED:]:
        score = number(look.told) + " told" if SPLITS[look.split].ladder else _score(look)
        note = f" ({plain(look.note, 60)})" if look.note else ""
        page.line(f"{look.number:>4} {look.time[:16]} {look.split} {plain(look.subject, 40)}: {score}{note}")
    if len(looks) > LISTED:
        page.line(f"and {len(looks) - LISTED:,} before; --format json lists all")


def draw_faults(page: Page, faults: Sequence[str], head: Head) -> None:
    """Draw what verify found."""
    if not faults:
        page.line(f"Whole: {count(head.count, 'entry', 'entries')}, each tied to the one before", style="bold")
    else:
        page.line(f"CHANGED: {count(len(faults), 'sign')} of it", style="bold")
        for fault in faults:
            page.entry("", plain(fault, 200))
    page.entry("head", str(head))
