"""From a source's own keys to canonical series: mapping, order, lag, transform, and one source for each metric."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..runlog import Recording
from ..series import Confidence, Curve, Scope, Series
from ..vocabulary import MappedKey, apply_transform
from .tidy import one_row_earlier, row_axis, tidy

EPISODES = frozenset({"reward/episode_return", "reward/raw_episode_return", "episode/length", "reward/eval_return"})
"""Metrics with one point an episode: several may end at one step."""
SURE = {Confidence.USER: 3, Confidence.EXACT: 2, Confidence.ALIAS: 1, Confidence.GUESS: 0}
COVERED = 0.9
"""A source with this share of the most complete one's points may be chosen for its better precision."""


@dataclass
class Source:
    """One recording in order: canonical `series`, and the curves that have no canonical name."""

    recording: Recording
    rank: int
    series: list[Series] = field(default_factory=list[Series])
    unmapped: dict[str, Curve] = field(default_factory=dict[str, Curve])
    resumes: list[float] = field(default_factory=list[float])
    """Steps at which it was resumed, or started again when that is no later than `first`."""
    first: float = 0.0


def give_meaning(recording: Recording, rank: int, mapped: Mapping[str, MappedKey], config: Mapping[str, Any]) -> Source:
    """Turn the curves of `recording` into series."""
    source = Source(recording, rank)
    tidied: dict[str, Curve] = {}
    for key, curve in recording.curves.items():
        repeats = key in mapped and mapped[key].metric in EPISODES
        tidied[key], starts = tidy(curve, keep_repeats=repeats)
        if len(starts) > len(source.resumes):  # the curve logged most often knows best where
            source.resumes, source.first = starts, float(tidied[key].step[0])
    rows = row_axis(list(tidied.values())) if any(m.lag_rows for m in mapped.values()) else None
    for key, curve in tidied.items():
        meaning = mapped.get(key)
        if meaning is None:
            source.unmapped[key] = curve
            continue
        note = meaning.note
        if meaning.lag_rows and rows is not None:
            moved = one_row_earlier(curve, rows)
            note = f"{note} Moved to the row before, whose update it describes.".strip()
        else:
            moved = curve
        source.series.append(_series(key, meaning, moved, note, config))
    return source


def _series(key: str, meaning: MappedKey, curve: Curve, note: str, config: Mapping[str, Any]) -> Series:
    value = apply_transform(meaning.transform, curve.value, config) if meaning.transform else curve.value
    return Series(
        metric=meaning.metric,
        curve=Curve(curve.step, value, curve.wall),
        scope=Scope(component=meaning.component),
        source_key=key,
        confidence=Confidence(meaning.confidence),
        estimator=meaning.estimator,
        aggregation=meaning.aggregation,
        transform=meaning.transform,
        note=note,
    )


def chosen(sources: Sequence[Source]) -> tuple[list[Series], dict[str, Curve]]:
    """Return one series for each metric and scope, and the curves without a canonical name, one for each key.

    Of several sources the surest mapping counts, then, among those that are nearly complete, the highest rank. A second
    key of the same source that means the same is kept under its own name.
    """
    rivals: dict[tuple[str, Scope], list[tuple[Series, int]]] = defaultdict(list)
    unmapped: dict[str, tuple[Curve, int]] = {}
    for source in sources:
        for series in source.series:
            rivals[series.metric, series.scope].append((series, source.rank))
        for key, curve in source.unmapped.items():
            if key not in unmapped or source.rank > unmapped[key][1]:
                unmapped[key] = curve, source.rank
    found: list[Series] = []
    spare: dict[str, Curve] = {key: curve for key, (curve, _) in unmapped.items()}
    for group in rivals.values():
        best = _best(group)
        found.append(best)
        for series, _ in group:
            if series.source_key != best.source_key and not _alike(series, best):
                spare.setdefault(series.source_key, series.curve)
    return sorted(found, key=lambda s: (s.metric, s.scope)), spare


def _best(group: Sequence[tuple[Series, int]]) -> Series:
    surest = max(SURE[series.confidence] for series, _ in group)
    sure = [(series, rank) for series, rank in group if SURE[series.confidence] == surest]
    most = max(len(series) for series, _ in sure)
    full = [(series, rank) for series, rank in sure if len(series) >= COVERED * most]
    return max(full, key=lambda item: (item[1], len(item[0])))[0]


def _alike(a: Series, b: Series) -> bool:
    """Whether two series are one metric under two spellings (`reward` and `train/reward`)."""
    return a.source_key.rsplit("/", 1)[-1] == b.source_key.rsplit("/", 1)[-1]


def all_keys(recordings: Collection[Recording]) -> list[str]:
    """Return every key of `recordings`, each once, in order."""
    return list(dict.fromkeys(key for recording in recordings for key in recording.curves))
