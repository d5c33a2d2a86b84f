"""From a source's own keys to canonical series: mapping, order, lag, transform, and one source for each metric."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..runlog import Recording
from ..series import Confidence, Curve, Scope, Series
from ..vocabulary import MappedKey, apply_transform, usable
from .derived import derived_series
from .tidy import one_row_earlier, row_axis, tidy

EPISODES = frozenset({"reward/episode_return", "reward/raw_episode_return", "episode/length", "reward/eval_return"})
"""Metrics with one point an episode: several may end at one step."""
SURE = {Confidence.USER: 3, Confidence.EXACT: 2, Confidence.ALIAS: 1, Confidence.GUESS: 0}
MOVED = "Moved to the row before, whose update it describes."
"""Note of a series whose rows tell of the update before; what its first row told stands at 0."""
PERCENT = frozenset({"percent", "scale:0.01"})
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


def give_meaning(
    recording: Recording, rank: int, mapped: Mapping[str, MappedKey], config: Mapping[str, Any], framework: str = ""
) -> Source:
    """Turn the curves of `recording` into series; `framework` says which of its metrics are logged in parts."""
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
        if meaning is None or not usable(meaning, config) or _either_share(meaning, curve):
            source.unmapped[key] = curve
            continue
        note = meaning.note
        if meaning.lag_rows and rows is not None:
            moved = one_row_earlier(curve, rows)
            note = f"{note} {MOVED}".strip()
        else:
            moved = curve
        scope = Scope(component=meaning.component, rank=recording.rank)
        made = _series(key, meaning, moved, note, config, scope)
        proven = recording.proven.get(key, 0)
        source.series.append(replace(made, proven=proven) if proven else made)
    present = frozenset(series.metric for series in source.series)
    source.series += derived_series(tidied, framework, recording.rank, present)
    return source


def _either_share(meaning: MappedKey, curve: Curve) -> bool:
    """Whether nobody can tell percent from fractions: plain words say percent, and no value is above 1."""
    if meaning.transform not in PERCENT or meaning.confidence != "alias":
        return False
    finite = curve.value[np.isfinite(curve.value)]
    return bool(finite.size) and float(np.abs(finite).max()) <= 1.0


def _series(key: str, meaning: MappedKey, curve: Curve, note: str, config: Mapping[str, Any], scope: Scope) -> Series:
    value = apply_transform(meaning.transform, curve.value, config) if meaning.transform else curve.value
    return Series(
        metric=meaning.metric,
        curve=Curve(curve.step, value, curve.wall),
        scope=scope,
        source_key=key,
        confidence=Confidence(meaning.confidence),
        estimator=meaning.estimator,
        aggregation=meaning.aggregation,
        transform=meaning.transform,
        note=note,
    )


def chosen(sources: Sequence[Source]) -> tuple[list[Series], dict[str, Curve]]:
    """Return one series for each metric and scope, and the curves without a canonical name, one for each key.

    Where two keys of one source mean the same, the one that names it best counts. Of several sources the surest mapping
    counts, then, among those that are nearly complete, the highest rank. What was not chosen keeps its own name.
    """
    rivals: dict[tuple[str, Scope], list[tuple[Series, Source]]] = defaultdict(list)
    unmapped: dict[str, tuple[Curve, int]] = {}
    for source in sources:
        for series in source.series:
            rivals[series.metric, series.scope].append((series, source))
        for key, curve in source.unmapped.items():
            if key not in unmapped or source.rank > unmapped[key][1]:
                unmapped[key] = curve, source.rank
    found: list[Series] = []
    spare: dict[str, Curve] = {key: curve for key, (curve, _) in unmapped.items()}
    for group in rivals.values():
        if len(group) == 1:
            found.append(group[0][0])
            continue
        best = _best(group)
        found.append(best)
        for series, _ in group:
            if not _alike(series.source_key, best.source_key):
                spare.setdefault(series.source_key, series.curve)
    names = set(spare)
    spare = {key: curve for key, curve in spare.items() if key.partition("/")[2] not in names}
    return sorted(found, key=lambda s: (s.metric, s.scope)), spare


def _best(group: Sequence[tuple[Series, Source]]) -> Series:
    own: dict[int, tuple[Series, int]] = {}
    for series, source in group:
        other = own.get(id(source))
        if other is None or _clarity(series) > _clarity(other[0]):
            own[id(source)] = series, source.rank
    surest = max(SURE[series.confidence] for series, _ in own.values())
    sure = [(series, rank) for series, rank in own.values() if SURE[series.confidence] == surest]
    most = max(len(series) for series, _ in sure)
    full = [(series, rank) for series, rank in sure if len(series) >= COVERED * most]
    return max(full, key=lambda item: (item[1], len(item[0])))[0]


def _clarity(series: Series) -> tuple[int, int, int]:
    """Rank keys of one source that mean the same metric: surest, then best named, then most points."""
    return SURE[series.confidence], _named(series), len(series)


def _named(series: Series) -> int:
    """Return how many words of the metric's name the source key has: of `reward` and `episode_reward`, the latter."""
    return len(_words(series.metric) & _words(series.source_key))


def _words(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


def _alike(a: str, b: str) -> bool:
    """Whether two keys are one under two spellings (`reward` and `train/reward`)."""
    return a == b or a.partition("/")[2] == b or b.partition("/")[2] == a


def all_keys(recordings: Collection[Recording]) -> list[str]:
    """Return every key of `recordings`, each once, in order."""
    return list(dict.fromkeys(key for recording in recordings for key in recording.curves))
