"""Which causes further evidence could still put in place of the first: what shows them at once was not logged."""

from __future__ import annotations

from collections.abc import Sequence

from .cause import Cause
from .causes import all_causes
from .diagnosis import Coverage, FirstBreak, NotExcluded
from .roots import outerness

DECISIVE = 3.0
"""Weight of a rule that speaks for one cause alone (see `Cause.explains`): such a break leaves nothing open but what
lies further out, where a cause names it among its consequences."""
TELLING = 2.0
"""Weight from which a rule counts among those that would show a cause by itself. Engineering default."""
MOST = 3
"""Causes that are named, one a link, the outermost first: that is the order of the looks."""


def not_excluded(
    first: FirstBreak | None, lead: Cause, named: Sequence[str], coverage: Coverage
) -> tuple[NotExcluded, ...]:
    """Return the causes at other links that the break may come from as well, and that no rule could look for.

    A gradient that explodes may follow from an environment that changed. Where nobody logged what shows such a change,
    the break must not be laid to the numerics as if it had been looked for and not found.

    Args:
        first: The break; None for a run that has none, of which nothing is claimed.
        lead: The cause that is put first.
        named: Names of causes that are said to rival it anyway.
        coverage: What was looked at.
    """
    if first is None:
        return ()
    decisive = lead.explains.get(first.name, 0.0) >= DECISIVE
    missing = {skipped.name: skipped.unlock_with for skipped in coverage.skipped if skipped.applies}
    order = [name for name, _ in coverage.unlock]  # what would let most rules look comes first
    found: list[tuple[float, NotExcluded]] = []
    for cause in all_causes():
        weight = cause.explains.get(first.name, 0.0)
        telling = [name for name, one in cause.explains.items() if one >= TELLING and name != first.name]
        log = sorted({item for name in telling for item in missing.get(name, ())}, key=order.index)
        if cause.link is lead.link or cause.name in named or not weight or not log:
            continue
        if decisive and outerness(cause.link) <= outerness(lead.link):
            continue
        found.append((weight, NotExcluded(cause.name, cause.link, tuple(log))))
    found.sort(key=lambda one: (-one[0], one[1].cause))
    by_link = {one.link: one for _, one in reversed(found)}
    return tuple(sorted(by_link.values(), key=lambda one: -outerness(one.link))[:MOST])
