"""From recordings to a `RunLog`: merge what belongs together, name it, order it, tie its clocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..readers.run_config import flat_config
from ..runlog import ClockMap, Event, Problem, Provenance, Recording, RunLog
from ..series import Curve, Series
from ..vocabulary import NAMED_BY_RUN, Recognition, canonical_config, guess, map_keys, named_in, recognise, usable
from .axis import with_real_steps
from .clocks import clock_of, onto, run_clock, tie, wall_origin
from .foreign import on_one_axis
from .meaning import Source, all_keys, chosen, give_meaning
from .state import run_state

__all__ = ["Context", "ingest"]


@dataclass(frozen=True)
class Context:
    """What surrounds the recordings of a run.

    `config` are settings found beside the log (those inside a recording win); `names` is the user's own mapping, source
    key -> canonical metric; `rank_of` gives a reader's rank by its name; `now` is the present in seconds since the
    epoch, to tell a running from a stalled run.
    """

    path: str
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    overrides: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Settings that the user gave; these win over all others."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    rank_of: Callable[[str], int] = lambda reader: 50
    read: Sequence[str] = ()
    """Every file read, where that is more than the recordings say (segments, parallel monitors, configuration)."""
    left: Sequence[tuple[str, str]] = ()
    problems: Sequence[Problem] = ()
    samples: Sequence[str] = ()
    now: float | None = None
    framework: str = ""
    """Whose keys these are, where the user says so."""


@np.errstate(all="ignore")  # absurd numbers in a damaged file are data, not a fault of ours
def ingest(recordings: Sequence[Recording], context: Context) -> RunLog:
    """Build the log of one run from its recordings, the sources of the run under their own keys."""
    ordered = sorted(map(with_real_steps, recordings), key=lambda r: context.rank_of(r.reader))
    keys = all_keys(ordered)
    raw = _settings(ordered, context)
    hint = context.framework or next((r.framework for r in reversed(ordered) if r.framework), "")
    known = recognise(keys, raw, hint, context.path)
    settings = {**raw, **canonical_config(raw, known.framework), **context.overrides}
    ordered = [on_one_axis(r, clock_of(r, known.clock)) for r in ordered]
    meanings = map_keys(keys, known.framework, known.algorithm, context.names, settings)
    mapped = {key: meaning for key, meaning in meanings.items() if usable(meaning, settings)}
    sources = [give_meaning(r, context.rank_of(r.reader), mapped, settings, known.framework) for r in ordered]
    clock, ties, troubles = _one_clock(sources, known)
    series, unmapped = chosen(sources)
    last = max((float(s.step[-1]) for s in series if len(s)), default=0.0)
    return RunLog(
        path=context.path,
        series=tuple(series),
        unmapped=unmapped,
        guesses={key: metric for key in unmapped if (metric := guess(key))},
        config=settings,
        framework=known.framework,
        algorithm=known.algorithm,
        verified=known.verified,
        clock=clock,
        clocks=ties,
        events=_events(sources),
        samples=tuple(dict.fromkeys([*context.samples, *(s for r in recordings for s in r.samples)])),
        provenance=_provenance(ordered, context, troubles),
        state=run_state(recordings, settings, last, context.now),
    )


def _settings(ordered: Sequence[Recording], context: Context) -> dict[str, Any]:
    """Return the settings under the source's own keys; the surer the source, the later it is asked."""
    raw = dict(context.config)
    for recording in ordered:
        raw.update(flat_config(recording.config))
    raw.update(context.overrides)
    task = named_in(context.path)
    return raw if not task or "env_id" in canonical_config(raw) else {"env_id": task, NAMED_BY_RUN: True, **raw}


def _provenance(recordings: Sequence[Recording], context: Context, troubles: Sequence[Problem]) -> Provenance:
    found = [problem for recording in recordings for problem in recording.problems]
    return Provenance(
        read=tuple(dict.fromkeys([*context.read, *(recording.path for recording in recordings)])),
        left=tuple(context.left),
        readers=tuple(dict.fromkeys(recording.reader for recording in recordings)),
        problems=(*context.problems, *found, *troubles),
    )


def _one_clock(sources: Sequence[Source], known: Recognition) -> tuple[str, ClockMap | None, list[Problem]]:
    """Bring every source onto the run's clock; what cannot be tied to it becomes unmapped, and says so."""
    recordings = [source.recording for source in sources]
    clock = run_clock(recordings, known.clock)
    native = [source for source in sources if clock_of(source.recording, known.clock) == clock]
    origin = wall_origin(recordings)
    series = [series for source in native for series in source.series]
    curves = [curve for source in native for curve in _curves(source)]
    ties = tie(clock, series, curves, origin)
    problems: list[Problem] = []
    for source in sources:
        own = clock_of(source.recording, known.clock)
        if own != clock and not _moved(source, own, ties, origin):
            what = f"its steps count {own}, the run counts {clock}, and nothing ties the two; its metrics are not used."
            problems.append(Problem(source.recording.path, "", what, "Log wall time or the step beside each row."))
    return clock, ties, problems


def _curves(source: Source) -> list[Curve]:
    return [series.curve for series in source.series] + list(source.unmapped.values())


def _moved(source: Source, own: str, ties: ClockMap | None, origin: float) -> bool:
    """Bring the curves of `source` from the clock `own` onto the run's; False when nothing ties them."""
    moved: list[Series] = []
    for series in source.series:
        curve = onto(series.curve, own, ties, origin)
        if curve is None:
            source.unmapped.update({s.source_key: s.curve for s in source.series})
            source.series = []
            return False
        moved.append(replace(series, curve=curve))
    source.series = moved
    source.unmapped = {key: onto(c, own, ties, origin) or c for key, c in source.unmapped.items()}
    return True


def _events(sources: Sequence[Source]) -> tuple[Event, ...]:
    """Return the events of every source in order, one resume for each place."""
    found: dict[tuple[str, float], Event] = {}
    for source in sources:
        for event in source.recording.events:
            found.setdefault((event.name, event.at), event)
        for step in source.resumes:
            name = "restart" if step <= source.first else "resume"
            found.setdefault((name, step), Event(name, step, "steps go back; what was written later counts"))
    return tuple(sorted(found.values(), key=lambda event: (event.at, event.name)))
