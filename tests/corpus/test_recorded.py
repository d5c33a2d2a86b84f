"""The recorded runs: the figures may not fall below those published in docs/figures.md."""

from __future__ import annotations

import pytest

from .labels import runs_of
from .recorded import recorded_labels, tally

MOST = {"alarmed": 1, "wrong link": 1, "called healthy": 2}
"""How many answers of each wrong kind were left when the corpus was last published."""


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    found, _ = tally([(label, log) for label in recorded_labels() for log in runs_of(label.name)])
    return dict(found)


@pytest.mark.parametrize("kind", sorted(MOST))
def test_no_more_wrong_answers_than_published(counts: dict[str, int], kind: str) -> None:
    assert counts.get(kind, 0) <= MOST[kind], counts


def test_most_broken_runs_are_named(counts: dict[str, int]) -> None:
    broken = sum(counts.get(k, 0) for k in ("right link", "abstained", "wrong link", "called healthy"))
    assert counts["right link"] >= 0.55 * broken, counts
