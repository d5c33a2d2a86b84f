"""Episodes of high, low and random return side by side: their end, ranges, rewards and frames."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ...audit.trajectories.strip import frame_strip
from ...audit.trajectories.summary import Summary
from ...audit.trajectories.trajectory import Floats, Trajectory
from ...series import Curve, Series
from ..clean import plain, to_ascii
from ..html import environment
from ..page import PLAIN, Face
from ..spark import spark
from ..words import count, number

GAP = "  "
DIMENSIONS = 4
"""Dimensions whose range is shown. Engineering default."""
FRAMES = 5
"""Of a strip on a page; more are too small to see beside two other episodes."""
WIDTH, HEIGHT = 200, 40
"""Of the line of rewards on a page, in its own units."""


@dataclass(frozen=True, eq=False)
class Shown:
    """An episode and why it is shown."""

    kind: str
    """`high return`, `low return` or `random`."""
    episode: Trajectory


def shown(summary: Summary, most: int) -> list[list[Shown]]:
    """Return up to `most` rows, each with an episode of high, of low and of random return, as far as there are any."""
    columns = (("high return", summary.high), ("low return", summary.low), ("random", summary.drawn))
    rows = [[Shown(kind, each[i]) for kind, each in columns if i < len(each)] for i in range(most)]
    return [row for row in rows if row]


def title(one: Shown) -> str:
    """Return where an episode stands."""
    return f"{one.kind}: episode {one.episode.index} of {plain(one.episode.source, 60)}"


def facts(one: Trajectory) -> list[str]:
    """Return what is known of an episode, one sentence a line."""
    lines = [f"return {number(one.paid)}, {count(one.steps, 'step')}", f"end: {ending(one)}"]
    if one.success is not None:
        lines.append("success" if one.success else "failure")
    actions = np.asarray(one.actions, np.float64).reshape(len(one.actions), -1)
    lines += _ranges("action", actions)
    return lines + _ranges("obs", one.observations)


def ending(one: Trajectory) -> str:
    """Return how an episode ended."""
    words = [word for word, flag in (("terminated", one.terminated), ("truncated", one.truncated)) if flag]
    if words:
        return " and ".join(words)
    return "not stored" if one.terminated is None and one.truncated is None else "no flag set"


def _ranges(name: str, values: Floats) -> list[str]:
    """Return the least and greatest finite value of the first dimensions."""
    lines: list[str] = []
    width = values.shape[1] if values.size else 0
    for i in range(min(width, DIMENSIONS)):
        column = values[np.isfinite(values[:, i]), i]
        label = name if width == 1 else f"{name}[{i}]"
        span = f"{number(float(column.min()))} to {number(float(column.max()))}" if column.size else "no finite value"
        lines.append(f"{label} {span}")
    return [*lines, f"and {width - DIMENSIONS} more"] if width > DIMENSIONS else lines


def rewards(one: Trajectory, width: int, *, ascii_only: bool = False) -> tuple[str, str]:
    """Return the rewards over the episode in `width` characters, and their range."""
    if not one.steps:
        return "", "no reward"
    line = Series("reward", Curve(np.arange(one.steps, dtype=np.float64), one.rewards.copy()))
    drawn = spark(line, None, width, ascii_only=ascii_only)
    return drawn.marks, drawn.caption


def render(rows: Sequence[Sequence[Shown]], face: Face = PLAIN) -> str:
    """Return rows of episodes, each row as columns of equal width that fill the page."""
    width = max(face.width, 40)
    lines: list[str] = ["", "Episodes"]
    for row in rows:
        each = (width - len(GAP) * (len(row) - 1)) // len(row)
        lines.append("-" * width)
        cells = zip_longest(*(_column(one, each, face.ascii_only) for one in row), fillvalue="")
        lines += [GAP.join(cell.ljust(each) for cell in line).rstrip() for line in cells]
    if not rows:
        lines.append("none")
    text = "\n".join(lines) + "\n"
    return to_ascii(text) if face.ascii_only else text


def _column(one: Shown, width: int, ascii_only: bool) -> list[str]:
    from textwrap import wrap

    marks, caption = rewards(one.episode, width, ascii_only=ascii_only)
    head = wrap(title(one), width)[:3]
    body = [line for fact in facts(one.episode) for line in wrap(fact, width)]
    return [*head, *[""] * (3 - len(head)), marks, *wrap(f"reward {caption}", width), *body]


def section(rows: Sequence[Sequence[Shown]]) -> str:
    """Return rows of episodes as a piece of HTML."""
    entries = [[_entry(one) for one in row] for row in rows]
    return environment().get_template("audit_trajectories.html").render(rows=entries)


def points(one: Trajectory) -> str:
    """Return the rewards as points of a line; of a stretch of steps the one farthest from the middle is drawn."""
    finite = np.flatnonzero(np.isfinite(one.rewards))
    if not finite.size:
        return ""
    values = one.rewards[finite]
    parts = np.array_split(np.arange(finite.size), min(finite.size, WIDTH))
    picks = np.array([part[np.abs(values[part] - np.median(values)).argmax()] for part in parts])
    x = finite[picks] / max(one.steps - 1, 1) * WIDTH
    span = float(np.ptp(values))
    y = (HEIGHT - 2) * (1 - (values[picks] - values.min()) / span) + 1 if span else np.full(picks.size, HEIGHT / 2)
    line = [f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True)]
    return " ".join(line if len(line) > 1 else [line[0], f"{WIDTH},{y[0]:.1f}"])


def _entry(one: Shown) -> dict[str, Any]:
    from markupsafe import Markup

    return {
        "title": title(one),
        "points": Markup(points(one.episode)),  # noqa: S704 - formatted numbers
        "size": (WIDTH, HEIGHT),
        "caption": rewards(one.episode, WIDTH)[1],
        "facts": facts(one.episode),
        "strip": _strip(one.episode),
    }


def _strip(one: Trajectory) -> Any:
    """Return the frames as a data URI, `` where there are none."""
    from markupsafe import Markup

    if one.frames is None or not len(one.frames):
        return ""
    picture = base64.b64encode(frame_strip(one.frames, FRAMES)).decode("ascii")
    return Markup("data:image/png;base64," + picture)  # noqa: S704 - base64 of a picture written here


def data(rows: Sequence[Sequence[Shown]]) -> list[dict[str, Any]]:
    """Return the episodes as plain data."""
    return [
        {
            "kind": one.kind,
            "source": plain(one.episode.source, 200),
            "index": one.episode.index,
            "return": one.episode.paid,
            "steps": one.episode.steps,
            "end": ending(one.episode),
            "success": one.episode.success,
            "facts": facts(one.episode),
        }
        for row in rows
        for one in row
    ]
