"""The training loop as a drawing: nine links, what each was seen to be, and where it broke. Geometry only."""

from __future__ import annotations

from dataclasses import dataclass

from ..diagnosis import Diagnosis, Sight
from ..finding import LOOP, Link, Severity
from .words import count

WIDTH, HEIGHT = 178, 58
"""Size of one link's box, in drawing units (pixels at full size)."""
GAP_X, GAP_Y = 20, 34


@dataclass(frozen=True)
class Node:
    """One link's box: where it stands and how it is marked, by colour (`state`), `symbol` and `note`."""

    link: str
    state: str
    symbol: str
    note: str
    x: int
    y: int


@dataclass(frozen=True)
class Drawing:
    """A loop ready to be drawn: boxes, arrows as SVG paths, its size."""

    nodes: tuple[Node, ...]
    arrows: tuple[str, ...]
    width: int
    height: int
    box: tuple[int, int] = (WIDTH, HEIGHT)


def wide(diagnosis: Diagnosis) -> Drawing:
    """Lay the loop out in two rows of four, the evaluation protocol in the middle, for a screen."""
    column = [5 + i * (WIDTH + GAP_X) for i in range(4)]
    row = [5 + i * (HEIGHT + GAP_Y) for i in range(3)]
    places = [(x, row[0]) for x in column] + [(x, row[2]) for x in reversed(column)]
    places.append(((column[1] + column[2]) // 2, row[1]))
    arrows = [_right(column[i], row[0]) for i in range(3)] + [_down(column[3], row[0], row[2])]
    arrows += [_left(column[i], row[2]) for i in (3, 2, 1)] + [_up(column[0], row[2], row[0])]
    return _drawing(diagnosis, places, arrows, column[3] + WIDTH + 5, row[2] + HEIGHT + 5)


def narrow(diagnosis: Diagnosis) -> Drawing:
    """Lay the loop out in two columns of four, the evaluation protocol below, for a telephone."""
    left, right = 5, 5 + WIDTH + GAP_X
    row = [5 + i * (HEIGHT + GAP_Y) for i in range(5)]
    places = [(left, y) for y in row[:4]] + [(right, y) for y in reversed(row[:4])]
    places.append(((left + right) // 2, row[4]))
    arrows = [_down(left, row[i], row[i + 1]) for i in range(3)] + [_right(left, row[3])]
    arrows += [_up(right, row[i], row[i - 1]) for i in (3, 2, 1)] + [_left(right, row[0])]
    return _drawing(diagnosis, places, arrows, right + WIDTH + 5, row[4] + HEIGHT + 5)


def _drawing(
    diagnosis: Diagnosis, places: list[tuple[int, int]], arrows: list[str], width: int, height: int
) -> Drawing:
    nodes = tuple(Node(link.value, *mark(diagnosis, link), x, y) for link, (x, y) in zip(LOOP, places, strict=True))
    return Drawing(nodes, tuple(arrows), width, height)


def mark(diagnosis: Diagnosis, link: Link) -> tuple[str, str, str]:
    """Return the state, symbol and note of one link."""
    first = diagnosis.first_break
    if first is not None and first.link is link:
        return "broken", "✗", "BROKE FIRST"
    mine = [f for f in diagnosis.findings if f.link is link and not f.ignored]
    errors = sum(f.severity is Severity.ERROR for f in mine)
    warnings = sum(f.severity is Severity.WARNING for f in mine)
    if errors:
        follows = "follows" if all(f.consequence_of for f in mine if f.severity is Severity.ERROR) else "error"
        return "error", "✗", follows
    if warnings:
        return "warning", "!", count(warnings, "warning")
    sight = diagnosis.coverage.links.get(link, Sight.BLIND)
    if sight is Sight.BLIND:
        return "blind", "?", "not looked at"
    seen = count(len(mine), "note") if mine else "clear"
    looked, rules = diagnosis.coverage.rules.get(link, (0, 0))
    partial = "partial", "◐", f"{looked}/{count(rules, 'rule')}, {seen}"
    return partial if sight is Sight.PARTIAL else ("looked", "✓", f"seen, {seen}")


def _right(x: int, y: int) -> str:
    return _arrow(x + WIDTH, y + HEIGHT // 2, x + WIDTH + GAP_X, y + HEIGHT // 2)


def _left(x: int, y: int) -> str:
    return _arrow(x, y + HEIGHT // 2, x - GAP_X, y + HEIGHT // 2)


def _down(x: int, y: int, to: int) -> str:
    return _arrow(x + WIDTH // 2, y + HEIGHT, x + WIDTH // 2, to)


def _up(x: int, y: int, to: int) -> str:
    return _arrow(x + WIDTH // 2, y, x + WIDTH // 2, to + HEIGHT)


def _arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    """Return an SVG path of a line with a head at its end; `x1 == x2` or `y1 == y2`."""
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    wing = 5
    first = f"{x2 - wing * dx - wing * dy} {y2 - wing * dy - wing * dx}"
    second = f"{x2 - wing * dx + wing * dy} {y2 - wing * dy + wing * dx}"
    return f"M{x1} {y1}L{x2} {y2}M{first}L{x2} {y2}L{second}"
