"""How a record, a replay and the differences between two runs read in the terminal."""

from __future__ import annotations

from typing import Any

from ...context.comparing import Difference, Explanation
from ...context.contents import Context
from ...context.replaying import Check
from ..clean import plain
from ..page import PLAIN, Face, Page
from ..words import count

MOST = 12


def render_check(record: Context, seen: Check, command: str, face: Face = PLAIN) -> str:
    """Return what is different now from when a run was recorded."""
    page = Page(face)
    page.line(_headline(seen), style="bold", most=3)
    page.entry("record", f"{plain(record.created, 40)}, {_code(record)}, {plain(record.ending.status, 20)}")
    page.entry("command", plain(command, 1000), most=6)
    for text in seen.obstacles:
        page.entry("stop", plain(text, 300))
    if seen.unknown:
        page.entry("code", f"cannot tell whether the code is the same: {plain(seen.unknown, 300)}", most=4)
    if seen.differences:
        page.heading(f"Then against now ({len(seen.differences)}), what matters first")
        _rows(page, seen.differences)
    if seen.remarks:
        page.heading("To know")
        for text in seen.remarks:
            page.entry("", plain(text, 300))
    return page.text()


def _headline(seen: Check) -> str:
    if seen.obstacles:
        return f"Cannot be run again: {plain(seen.obstacles[0], 200)}"
    if seen.serious:
        return f"{count(len(seen.serious), 'difference')} may change the result"
    beside = f" ({count(len(seen.differences), 'small difference')})" if seen.differences else ""
    if seen.unknown:
        return f"Nothing that was recorded differs{beside}, but cannot tell whether the code is the same"
    return f"Nothing that matters differs{beside}"


def _code(record: Context) -> str:
    if not record.code.commit:
        return "code not known"
    return f"commit {record.code.commit[:12]}" + (" with uncommitted changes" if record.code.diff_sha256 else "")


def render_explanation(found: Explanation, page: Page) -> None:
    """Add what differs between two runs to a page, the likeliest first."""
    likely = found.likely
    if not likely and found.missing:  # what was not written down cannot be ruled out
        page.entry("missing", "; ".join(plain(text, 80) for text in found.missing), most=4)
        page.entry("", "record runs to know what else differs: firstbreak record -- python train.py")
        return
    page.heading(f"What may explain it ({len(likely)}), likeliest first")
    if found.note:
        page.entry("", plain(found.note, 300))
    _rows(page, likely)
    if not likely and not found.note:
        page.entry("", "nothing that was written down")
    left = len(found.differences) - len(likely)
    if left:
        verb = "explains" if left == 1 else "explain"
        page.entry("", f"and {count(left, 'difference')} that {verb} nothing (names, folders, logging, small packages)")
    if found.missing:
        page.entry("missing", "; ".join(plain(text, 80) for text in found.missing), most=4)
        page.entry("", "record runs to know more: firstbreak record -- python train.py")


def _rows(page: Page, rows: tuple[Difference, ...]) -> None:
    for one in rows[:MOST]:
        what = one.name if one.kind == one.name else f"{one.kind} {one.name}"
        text = f"{plain(what, 80)}: {_value(one.a)} -> {_value(one.b)}"
        page.entry(f"{one.weight:.2f}", text + (f" ({plain(one.why, 200)})" if one.why else ""), most=3)
    if len(rows) > MOST:
        page.entry("", f"and {len(rows) - MOST} more")


def _value(value: Any) -> str:
    return "absent" if value is None else plain(value, 80)


def explanation_dict(found: Explanation) -> dict[str, Any]:
    """Return the differences as plain data, for `compare --format json`."""
    return {
        "differences": [
            {
                "kind": d.kind,
                "name": d.name,
                "a": d.a,
                "b": d.b,
                "weight": d.weight,
                "why": d.why,
                "link": d.link or None,
            }
            for d in found.differences
        ],
        "missing": list(found.missing),
        "note": found.note,
    }
