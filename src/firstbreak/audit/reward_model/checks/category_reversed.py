"""The check `category-reversed`."""

from __future__ import annotations

from statistics import NormalDist

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...verifier.rates import Rate, rate_interval_of
from ..gate import LEAST, too_few
from ..record import Scored


@check(
    "RWM005",
    "category-reversed",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Read ten pairs of the category: its labels or its format are the other way round.",
    explained_by=("preferences-reversed",),
)
def look(scored: Scored) -> Answer:
    """In one category the rejected side scores higher, while elsewhere the chosen side does.

    What is measured:
        The accuracy of each section and subset with an interval widened for the number of categories (Bonferroni);
        reversed where it lies below one half. A warning where the chosen side of those pairs is nearly always the
        shorter one (or the longer) and the model prefers the other length elsewhere: length would do it, too.

    Why it hurts:
        One source of data with swapped labels teaches the opposite for its kind of prompt; the average hides it.

    Usual causes:
        Columns swapped in the conversion of one source; refusals labelled the other way; a tie broken by position.

    What to try:
        Compare how the sources of the categories write their labels. Where length would do it, too, add pairs of the
        category whose better side has the other length.

    When it is harmless:
        Adversarial categories, such as RewardBench's Chat Hard, on which weak models fall below one half.
    """
    skip = too_few(scored)
    if skip is not None:
        return skip

    groups = {**scored.by(subset=False), **scored.by(subset=True)}
    usable = {name: rate for name, rate in groups.items() if rate.tries >= LEAST}
    if not usable:
        return Skip(f"no category has {LEAST} pairs", ("a column subset or category",))
    z = NormalDist().inv_cdf(1 - 0.025 / len(usable))
    highs = {name: rate_interval_of(rate.value, _effective(rate), z)[1] for name, rate in usable.items()}
    where = {**scored.members(subset=False), **scored.members(subset=True)}
    reversed_ones = [name for name, high in highs.items() if high < 0.5 and not scored.length_tells(where[name])]
    if not reversed_ones:
        return None
    of_length = {name for name in reversed_ones if scored.length_would_do(where[name])}
    worst = min(reversed_ones, key=lambda name: (name in of_length, usable[name].value))
    rate = usable[worst]
    return Symptom(
        f"rejected wins in {len(reversed_ones)} of {len(usable)} categories, {_named(worst)}: {rate.words()} right"
        + (", as by length" if worst in of_length else ""),
        "score",
        {
            "category": _named(worst),
            "accuracy_frac": rate.value,
            "high_frac": highs[worst],
            "pairs": rate.tries,
            "categories_reversed": len(reversed_ones),
            "categories": len(usable),
            "categories_of_one_length": len(of_length),
        },
        severity=Severity.WARNING if worst in of_length else Severity.ERROR,
    )


def _effective(rate: Rate) -> float:
    """Return how many independent pairs would give the interval of `rate`."""
    return float(min(rate.tries, rate.rows))


def _named(category: str) -> str:
    return category if category.isprintable() and len(category) <= 24 else ascii(category[:24])
