"""The value of a token depends on that very token: it is read one column late."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import value_knows


@check(
    "TOK107",
    "value-knows-its-token",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Read the value of a token from the column before it: the state in which it was chosen.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The value of a token depends on that very token: it is read one column late.

    Measured: the mean change of a token's value when that token is exchanged, and when the one before it is.

    Why it hurts: the baseline explains away the choice it should judge, so the advantage misses the credit.

    Usual causes: values not shifted against tokens; a mask that starts one column late.

    What to try: exchange one token: only the values of later tokens may change.

    Harmless: in critics of actions, Q(s, a).
    """
    now, before = bench.once(value_knows)
    if now <= 1e-6 + 1e-3 * before:
        return None
    return Symptom(
        f"exchanging a token changes its own value by {now:.2g} on average",
        "values",
        {"own_change": now, "before_change": before},
    )
