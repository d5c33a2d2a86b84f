"""Several files of one format in one folder: parts of a run, its resumed segments, or different runs?

- no key in common: parts of one run;
- the later one begins after the earlier one began: a resumed segment, which replaces what it overlaps;
- both begin together with the same numbers: one is a copy of the other's beginning, and the longer one counts;
- both begin together with other numbers: two runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..runlog import Event, Problem, Recording
from ..series import Curve

CLOSE = 1e-4
"""Relative difference up to which two numbers are the same one, written in other precision."""
COMPARED_KEYS = 32


@dataclass
class Attempt:
    """Files of one format that belong to one run, earliest first."""

    segments: list[Recording]
    copies: list[Recording] = field(default_factory=list[Recording])
    """Files that hold the beginning of this attempt again."""


def kind_of(recording: Recording) -> tuple[str, str]:
    """Return what recordings must share to be compared: the reader, and the file's ending or the rank."""
    if recording.rank or recording.reader == "tensorboard":
        return recording.reader, recording.rank
    return recording.reader, Path(recording.path).suffix


def began(recording: Recording) -> float:
    """Return when a recording began, in seconds since the epoch, as well as can be known."""
    walls = [float(c.wall[0]) for c in recording.curves.values() if c.wall is not None and len(c)]
    return min(walls) if walls else recording.modified


def attempts(recordings: Sequence[Recording]) -> list[Attempt]:
    """Sort recordings of one kind into attempts, oldest first."""
    found: list[Attempt] = []
    for recording in sorted(recordings, key=lambda r: (began(r), r.path)):
        if not any(_placed(recording, attempt) for attempt in reversed(found)):
            found.append(Attempt([recording]))
    return found


def _placed(new: Recording, attempt: Attempt) -> bool:
    """Put `new` into `attempt` if it belongs there."""
    old = attempt.segments[-1]
    shared = [key for key in new.curves if key in old.curves and len(new.curves[key]) and len(old.curves[key])]
    if not shared:
        attempt.segments.append(new)
        return True
    if _start(new, shared) > _start(old, shared):
        attempt.segments.append(new)
        return True
    if not _same_numbers(old, new, shared):
        return False
    keep_new = new.points >= old.points
    attempt.copies.append(old if keep_new else new)
    attempt.segments[-1] = new if keep_new else old
    return True


def _start(recording: Recording, keys: Sequence[str]) -> float:
    """Return the step at which the curves under `keys` begin; single points (summaries) do not count."""
    long = [key for key in keys if len(recording.curves[key]) > 1] or list(keys)
    return min(float(recording.curves[key].step[0]) for key in long)


def _same_numbers(a: Recording, b: Recording, keys: Sequence[str]) -> bool:
    compared = 0
    for key in keys[:COMPARED_KEYS]:
        first, second = a.curves[key], b.curves[key]
        steps, i, j = np.intersect1d(first.step, second.step, return_indices=True)
        if key.startswith(("time/", "perf/", "system")) or key.endswith(("fps", "SPS", "time", "_per_second")):
            continue  # no two executions take the same time
        if steps.size:
            compared += 1
            if not np.allclose(first.value[i], second.value[j], rtol=CLOSE, atol=1e-12, equal_nan=True):
                return False
    return compared > 0


def joined(attempt: Attempt) -> Recording:
    """Return one recording of all segments; a later one replaces what it overlaps of the earlier ones."""
    parts = attempt.segments
    first = parts[0]
    whole = replace(
        first,
        curves=dict(first.curves),
        config=dict(first.config),
        texts=dict(first.texts),
        events=list(first.events),
        problems=list(first.problems),
        samples=list(first.samples),
    )
    for part in parts[1:]:
        _append(whole, part)
    for copy in attempt.copies:
        what = "holds the beginning of the same numbers again; the longer file was used."
        whole.problems.append(Problem(copy.path, "", what))
    return whole


def _append(whole: Recording, part: Recording) -> None:
    shared = [key for key in part.curves if key in whole.curves and len(whole.curves[key])]
    if shared:
        resumed = _start(part, shared)
        whole.events.append(Event("resume", resumed, Path(part.path).name))
        for key, curve in whole.curves.items():
            whole.curves[key] = _before(curve, resumed)
    for key, curve in part.curves.items():
        whole.curves[key] = _after(whole.curves[key], curve) if key in whole.curves else curve
    whole.config.update(part.config)
    whole.texts.update(part.texts)
    whole.events.extend(part.events)
    whole.problems.extend(part.problems)
    whole.samples.extend(part.samples)
    whole.ended = part.ended
    whole.modified = max(whole.modified, part.modified)


def _before(curve: Curve, step: float) -> Curve:
    keep = curve.step < step
    if bool(keep.all()):
        return curve
    return Curve(curve.step[keep], curve.value[keep], None if curve.wall is None else curve.wall[keep])


def _after(first: Curve, second: Curve) -> Curve:
    wall = None
    if first.wall is not None and second.wall is not None:
        wall = np.concatenate([first.wall, second.wall])
    return Curve(np.concatenate([first.step, second.step]), np.concatenate([first.value, second.value]), wall)
