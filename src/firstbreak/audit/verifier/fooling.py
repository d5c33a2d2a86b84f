"""The search for the shortest response that passes although it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .asking import Asker
from .frames import Frame
from .marks import passes
from .probing import Probe
from .shrinking import shortest
from .wrongs import NONSENSE, NULLS, surely_wrong

MOST_ROWS, ROW_BUDGET = 6, 120
UNIVERSAL_ROWS, UNIVERSAL_BUDGET = 16, 40
"""Rows searched and calls spent. Engineering default: at most some 1,400 calls in all."""
SHARE = 0.5
"""Share of rows that a universal fooling string must pass."""
LONGEST = 1000
"""Characters of a text that is made shorter."""


def per_row(asker: Asker, fooled: Sequence[Probe], mark: float) -> Iterator[tuple[int, str]]:
    """Yield (row, shortest wrong response found that passes) for some rows."""
    by_row: dict[int, Probe] = {}
    questions = asker.questions
    sure = [p for p in fooled if surely_wrong(p.response, questions[p.row].said, questions[p.row].kind)]
    for probe in [*sorted(sure, key=lambda p: len(p.response)), *sorted(fooled, key=lambda p: len(p.response))]:
        by_row.setdefault(probe.row, probe)
    for row, probe in sorted(by_row.items())[:MOST_ROWS]:
        one = asker.questions[row]

        def fools(text: str, row: int = row, answer: str = one.said, kind: str = one.kind) -> bool:
            return surely_wrong(text, answer, kind) and passes(asker.ask([(row, text)])[0], mark)

        start = probe.response
        yield row, shortest(start, fools, ROW_BUDGET) if fools(start) and len(start) <= LONGEST else start


def universal(
    asker: Asker, fooled: Sequence[str], accepted: Sequence[Frame], mark: float
) -> tuple[str, int, int] | None:
    """Return (text, rows fooled, rows tried) of the shortest text found that passes in most rows, or None."""
    rows = list(enumerate(asker.questions))[:UNIVERSAL_ROWS]

    def count(text: str) -> tuple[int, int]:
        wrong = [row for row, q in rows if surely_wrong(text, q.said, q.kind)]
        entries = asker.ask([(row, text) for row in wrong])
        return sum(passes(entry, mark) for entry in entries), len(wrong)

    def holds(text: str) -> bool:
        hits, tried = count(text)
        return tried >= max(2, len(rows) / 2) and hits > SHARE * tried

    candidates = [*NULLS, *(f.fill(NONSENSE) for f in accepted), *_listings(asker, accepted)]
    candidates += sorted(set(fooled), key=len)[:10]
    best = min((c for c in dict.fromkeys(candidates) if holds(c)), key=len, default=None)
    if best is None:
        return None
    found = shortest(best, holds, UNIVERSAL_BUDGET) if len(best) <= LONGEST else best
    return found, *count(found)


def _listings(asker: Asker, accepted: Sequence[Frame]) -> list[str]:
    """Return texts that hold every answer at once."""
    kind = asker.questions[0].kind
    lists = {"choice": "A B C D", "yes_no": "yes no"}
    text = lists.get(kind, " ".join(dict.fromkeys(q.said for q in asker.questions)))
    return [] if kind == "code" else [text, *(f.fill(text) for f in accepted[:1])]
