"""Metrics that the user declares: keys without a canonical name become series, so that generic rules look at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .config import CustomMetric
from .runlog import RunLog
from .series import Confidence, Curve, Series

PREFIX = "custom/"
"""Stands before the user's key in the name of a declared metric."""


def declare(log: RunLog, custom: Sequence[CustomMetric]) -> RunLog:
    """Return `log` with a series for each key of `custom` that has no canonical name.

    What is declared of it is in `Series.custom`: `key`, `link`, `better`, `lo` and `hi`. A key that the vocabulary
    knows keeps its meaning, and a key that the run did not log is passed over.
    """
    found = {one.key: _series(log.unmapped[one.key], one) for one in custom if one.key in log.unmapped}
    if not found:
        return log
    return replace(
        log,
        series=(*log.series, *found.values()),
        unmapped={key: curve for key, curve in log.unmapped.items() if key not in found},
        guesses={key: metric for key, metric in log.guesses.items() if key not in found},
    )


def _series(curve: Curve, one: CustomMetric) -> Series:
    return Series(
        metric=PREFIX + one.key,
        curve=curve,
        source_key=one.key,
        confidence=Confidence.USER,
        custom={
            "key": one.key,
            "link": one.link.value if one.link else "",
            "better": one.better,
            "lo": one.lo,
            "hi": one.hi,
        },
    )
