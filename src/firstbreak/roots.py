"""Which finding is the root of the others: order in time, what follows from what, and the first break."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .cause import Cause
from .diagnosis import FirstBreak
from .finding import Finding, Link, Severity
from .runlog import RunLog
from .stats import Order, median, order

SPECIFIC = 3.0
"""Weight of a rule that speaks for one cause alone (see `Cause.explains`)."""
TELLING = 2.0
"""Weight from which a rule at an outer link counts as telling of that link. Engineering default."""
Cadences = Mapping[str, float]
"""For each metric the median distance of two of its points: no order is claimed within the coarser of two."""
SEEN_THROUGH_POLICY = ("env/", "obs/", "reward/env_surprise")
"""Metrics of the environment that depend on the states the policy goes to, by how their names begin."""
Telling = Mapping[str, float]
"""For each rule the largest weight with which it speaks for a cause."""
Scored = tuple[Cause, float, tuple[Finding, ...]]
"""A cause, its points, and the findings that it explains."""


def cadences(log: RunLog) -> dict[str, float]:
    """Return the cadence of every metric of `log`, on its clock."""
    return {s.metric: median(np.diff(s.step)) for s in log.series if len(s) > 1}


def outerness(link: Link) -> int:
    """How far out a link lies: 3 for environment and data, 2 for the protocol, 1 for the reward, else 0."""
    return {Link.ENVIRONMENT_DATA: 3, Link.EVALUATION_PROTOCOL: 2, Link.REWARD_SIGNAL: 1}.get(link, 0)


def onset_order(a: Finding, b: Finding, cadence: Cadences) -> Order:
    """Order of two findings' onsets; tied when they are not on one clock.

    What is there in a row with nothing before it was there before what was still fine in that row, however far rows lie
    apart.
    """
    if a.onset.clock != b.onset.clock:
        return Order.TIED
    if _there_first(a, b) or _there_first(b, a):
        return Order.BEFORE if _there_first(a, b) else Order.AFTER
    coarser = max(cadence.get(a.metric, 0.0), cadence.get(b.metric, 0.0))
    return order((a.onset.lo, a.onset.hi), (b.onset.lo, b.onset.hi), coarser)


def _there_first(a: Finding, b: Finding) -> bool:
    """Whether `a` was there in its first row, in which `b` was not yet."""
    return a.onset.lo == a.onset.hi <= b.onset.lo < b.onset.hi


def preceded(mine: Sequence[Finding], active: Sequence[Finding], cadence: Cadences) -> bool:
    """Whether some error not among `mine` certainly began before every one of `mine`."""
    others = [f for f in active if f.severity is Severity.ERROR and f not in mine]
    return any(all(onset_order(other, f, cadence) is Order.BEFORE for f in mine) for other in others)


def explained_by_earlier(
    cause: Cause, mine: Sequence[Finding], active: Sequence[Finding], telling: Telling, cadence: Cadences
) -> bool:
    """Whether a specific sign of another cause certainly began before the alarms of `cause`.

    Such a sign may be a warning: what is lost first need not be what is lost most. It is one that speaks for one cause
    alone, or that tells of a link further out; nothing that `cause` explains may have come before it.
    """
    loud = [f for f in mine if f.severity is not Severity.INFO]
    most = max((f.severity.rank for f in loud), default=0)
    worst = [f for f in loud if f.severity.rank == most]
    if not loud:
        return False
    for other in active:
        if other in mine or other.severity is Severity.INFO or other.resolved_at is not None:
            continue
        outer = outerness(other.link) > outerness(cause.link)
        if telling.get(other.name, 0.0) < (TELLING if outer else SPECIFIC):
            continue
        orders = {f.id: onset_order(other, f, cadence) for f in loud}
        if Order.AFTER not in orders.values() and all(orders[f.id] is Order.BEFORE for f in worst):
            return True
    return False


def telling_of(causes: Iterable[Cause]) -> dict[str, float]:
    """Return for each rule the largest weight with which it speaks for a cause."""
    found: dict[str, float] = {}
    for cause in causes:
        for name, weight in cause.explains.items():
            found[name] = max(weight, found.get(name, 0.0))
    return found


def first_break(
    active: Sequence[Finding], causes: Sequence[Scored], implied: dict[str, tuple[str, ...]], cadence: Cadences
) -> FirstBreak | None:
    """Return the break that the evidence puts first: the root error of the best cause, in the cause's link.

    A cause whose errors all follow from others is passed over for one that explains where they come from.
    """
    errors = [f for f in active if f.severity is Severity.ERROR]
    if not errors:
        return None
    roots = [f for f in errors if not any(is_consequence(f, g, implied, cadence) for g in errors if g is not f)]
    rooted = [(cause, [f for f in mine if f in roots]) for cause, _, mine in causes]
    spoken = [(cause, [f for f in mine if f in errors]) for cause, _, mine in causes]
    for cause, own in [*rooted, *spoken]:
        if own:
            shown = min(own, key=lambda f: (f.link is not cause.link, f.onset.middle, f.rule))
            return FirstBreak(
                cause.link, cause.component, shown.scope, shown.rule, shown.name, shown.metric, shown.onset
            )
    shown = min(roots or errors, key=lambda f: (f.onset.middle, -outerness(f.link), f.rule))
    return FirstBreak(shown.link, shown.component, shown.scope, shown.rule, shown.name, shown.metric, shown.onset)


def led_by(first: FirstBreak | None, causes: Sequence[Scored]) -> list[Scored]:
    """Return `causes`, that of the first break in front: what explains warnings alone is no explanation of it."""
    if first is None:
        return list(causes)
    at = next(
        (
            place
            for place, (cause, _, mine) in enumerate(causes)
            if cause.link is first.link and any(f.rule == first.rule and f.scope == first.scope for f in mine)
        ),
        0,
    )
    return [*causes[at : at + 1], *causes[:at], *causes[at + 1 :]]


def is_consequence(f: Finding, g: Finding, implied: dict[str, tuple[str, ...]], cadence: Cadences) -> bool:
    """Whether `f` follows from `g`: g's rule implies f's (directly or over one step) and g did not come later.

    What is measured of the environment follows from the policy only where the policy broke before: on a tie the outer
    link goes first.
    """
    direct = implied.get(g.name, ())
    reached = set(direct) | {name for via in direct for name in implied.get(via, ())}
    mutual = g.name in implied.get(f.name, ())
    if f.name not in reached or mutual or _there_first(f, g):
        return False  # it follows from nothing that shows in a later row
    found = onset_order(g, f, cadence)
    return found is Order.BEFORE if f.metric.startswith(SEEN_THROUGH_POLICY) else found is not Order.AFTER
