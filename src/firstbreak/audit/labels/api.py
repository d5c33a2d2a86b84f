"""Labels in and out: a queue to label, labels as human scores of samples, and how far labellers agree."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ..collecting import collect
from ..reading.api import read_samples
from ..sample import Sample
from .agreement import Agreement, agreement
from .queue import Item, queue_of
from .record import fingerprint, read_some

COUNT = 50
"""Samples of a queue. Engineering default: an hour's work at a minute each."""


def with_labels(samples: Iterable[Sample], labels: Path) -> Iterator[Sample]:
    """Yield the samples, those that were labelled with the mean of their labels as human score.

    Of samples that did not come up at random it is their `human_chosen`: a queue of suspicious ones is no fair draw.

    Args:
        samples: any stream of samples.
        labels: a file of labels, or a folder of such files.

    Raises:
        InputError: there is no such file, or it holds something else.
        UnreadableError: it cannot be opened.
    """
    given = read_some(labels)
    for sample in samples:
        mark = fingerprint(sample) if given.scores else ""
        score = given.score(mark)
        if math.isnan(score):
            yield sample
        else:
            yield replace(sample, human=score) if mark in given.drawn else replace(sample, human_chosen=score)


def review_queue(
    path: Path,
    count: int = COUNT,
    *,
    columns: Mapping[str, str] | None = None,
    framework: str | None = None,
    seed: int = 0,
    at_random: bool = False,
) -> list[Item]:
    """Return what to label of the samples of `path`, the most telling first. The samples are read twice.

    With `at_random` all are drawn at random: only such labels say how far reward and people agree on the whole.

    Raises:
        InputError: nothing in `path` is a file of samples.
        UnreadableError: it cannot be opened.
    """
    table = collect(read_samples(path, columns=columns, framework=framework), str(path))
    return queue_of(table, read_samples(path, columns=columns, framework=framework), count, seed, at_random=at_random)


def agreement_of(labels: Path) -> Agreement | None:
    """Return how far the labellers of a file agree; None where no sample was labelled by two.

    Raises:
        InputError: there is no such file, or it holds something else.
    """
    return agreement(read_some(labels).scores)
