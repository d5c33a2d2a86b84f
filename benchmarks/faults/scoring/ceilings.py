"""How far the first metric and the live lead can be right at all: a figure that nobody can reach is no target.

The truth of the first metric is itself a measurement, made with a dozen healthy twins. So it is made twice, with every
other twin, and each half is asked what the other half's truth is, by the rule that tools are asked by. A right alarm
before the loss needs a row that differs before the loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import scores
from .assessing import Assessed
from .bands import PLACES, STAY, Left
from .intervals import Estimate, clustered, mean, rate

Runs = Sequence[Assessed]


def names(left: Left | None) -> frozenset[str]:
    """Return the metrics that left first, without their scopes."""
    return frozenset(name.partition("@")[0] for name in left.metrics) if left is not None else frozenset()


def in_halves(runs: Runs) -> list[Assessed]:
    """Return the faulty runs whose first metric is known, and was measured with either half of the twins as well."""
    return [run for run in scores.faulty(runs) if run.measured is not None and run.by_halves is not None]


def any_of_the_other_half(runs: Runs) -> Estimate:
    """Share right if one of those that left first by half of the twins is named, whichever, and the other half is the
    truth; the mean of both ways round."""
    asked = in_halves(runs)
    shares: list[float] = []
    for run in asked:
        assert run.by_halves is not None
        one, other = map(names, run.by_halves)
        ways = [len(one & other) / len(said) for said in (one, other) if said]
        shares.append(sum(ways) / 2)
    return clustered(shares, [scores.cluster(run) for run in asked], mean)


def best_of_the_other_half(runs: Runs) -> Estimate:
    """Share of runs of which the halves have a first metric in common: the best that half of the twins can name."""
    return rate([run.by_halves is not None and not names(run.by_halves[0]).isdisjoint(names(run.by_halves[1]))
                 for run in in_halves(runs)])  # fmt: skip


def named_by_other_seeds(runs: Runs) -> Estimate:
    """Share right if the metric is named that left first in most other seeds of the fault there; of a tie the mean."""
    groups: dict[tuple[str, str, str, bool], list[frozenset[str]]] = {}
    for run in scores.faulty(runs):
        if run.measured is not None:
            place = scores.cluster(run), run.subject, run.task, run.mid_run
            groups.setdefault(place, []).append(names(run.measured))
    shares: list[float] = []
    clusters: list[str] = []
    for (fault, *_), found in groups.items():
        for at, mine in enumerate(found if len(found) > 1 else ()):
            votes = Counter(name for other in (*found[:at], *found[at + 1 :]) for name in other)
            most = [name for name, n in votes.items() if n == max(votes.values())]
            shares.append(sum(name in mine for name in most) / len(most))
            clusters.append(fault)
    return clustered(shares, clusters, mean)


def seen_before_lost(runs: Runs, places: int) -> Estimate:
    """Share of collapses in which some metric was outside its band at `places` places on end before the loss.

    A metric has left where it is outside at `STAY` places; whoever knows the future needs the first of them alone.
    """
    return rate(
        [
            run.measured is not None and run.measured.at + (places - 1) * run.end / PLACES <= scores.lost_at(run)
            for run in scores.collapses(runs)
            if run.measurable
        ]
    )


def nearly_in_time(runs: Runs) -> Estimate:
    """Share of collapses with a right alarm before the loss, or within one window of the true score after it.

    The moment of the loss is known to a window only, so neither was certainly first.
    """
    return rate(
        [
            run.loss is not None
            and (alarm := scores.live_alarm(run)) is not None
            and alarm.at <= scores.lost_at(run) + run.loss.window
            for run in scores.collapses(runs)
        ]
    )


def rows_before_lost(runs: Runs, rows: int) -> Estimate:
    """Share of collapses in which `rows` rows or more were logged after the fault and no later than the loss."""
    return rate([run.rows_to_loss >= rows for run in scores.collapses(runs) if run.rows_to_loss is not None])


def ceilings(runs: Runs) -> list[tuple[str, Estimate]]:
    """Return what is measured here, with its words."""
    return [
        ("first metric: named by firstbreak", scores.first_metric(runs)),
        (
            "first metric: one that left first by half of the twins, the other half is the truth",
            any_of_the_other_half(runs),
        ),
        ("first metric: the best of these", best_of_the_other_half(runs)),
        ("first metric: what left first in most other seeds of the fault", named_by_other_seeds(runs)),
        ("lead: the right alarm in time, live", scores.in_time(runs)),
        ("lead: the same, or within a window of the true score after the loss", nearly_in_time(runs)),
        ("lead: a row after the fault, no later than the loss", rows_before_lost(runs, 1)),
        (f"lead: {STAY + 1} such rows", rows_before_lost(runs, STAY + 1)),
        ("lead: a metric that will be known to have left is outside by then", seen_before_lost(runs, 1)),
        (f"lead: a metric has been outside at {STAY} places on end by then", seen_before_lost(runs, STAY)),
    ]
