"""The one sentence that says what an experiment found."""

from __future__ import annotations

from .experiment import Side
from .judging import proven
from .result import Outcome, Result
from .statistics import MANY

PRACTICAL = 200
"""More pairs than these are not advised: the margin is what to think about. Engineering default."""
SIDES = {"above": "more than", "below": "less than", "beyond": "further from 0 than"}


def say(result: Result) -> str:
    """Return what was found, with its numbers."""
    last = result.last
    if last is None or result.margin is None:
        return "Nothing was measured."
    plan = result.plan
    asked = f"{SIDES[plan.confirms]} {result.margin:.3g}"
    if result.outcome is Outcome.CONFIRMED and plan.one_proves:
        return f"As predicted, the effect is {asked}: {_proof(result, result.margin)}"
    found = f"{last.mean:.3g} {plan.unit} [{last.lo:.3g}, {last.hi:.3g}] over {last.pairs} pairs of seeds"
    if result.outcome is Outcome.CONFIRMED:
        return f"As predicted, the effect is {asked}: {found}."
    if result.outcome is Outcome.REFUTED:
        return f"Against the prediction, the effect is not {asked}: {found}."
    return f"Whether the effect is {asked} stays open: {found}; {more(result)}."


def _proof(result: Result, margin: float) -> str:
    """Return which seed proved the hypothesis; of an effect that one shows and another does not no mean is said."""
    side = Side(result.plan.confirms)
    seed, effect = next(
        (p.seed, e) for p, e in zip(result.pairs, result.effects, strict=True) if proven((e,), margin, side)
    )
    of = f", of {len(result.pairs)} made" if len(result.pairs) > 1 else ""
    return (
        f"{effect:.3g} {result.plan.unit} with seed {seed}{of}. What was measured is exact, so that one seed proves "
        "it: no interval is drawn."
    )


def more(result: Result) -> str:
    """Return the seeds still needed, in words."""
    if result.seeds_needed is None:
        return "more seeds would not help"
    if result.seeds_needed >= MANY - len(result.pairs):
        return f"more than {MANY:,} pairs would be needed, the effect lies at the margin"
    if result.seeds_needed > PRACTICAL:
        return (
            f"about {result.seeds_needed:,} more pairs would be needed, the effect lies near the margin: say with "
            "--margin what would matter"
        )
    return f"about {result.seeds_needed} more pair{'s' if result.seeds_needed > 1 else ''} would most likely decide"
