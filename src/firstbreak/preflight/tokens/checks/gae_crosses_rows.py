"""One row's rewards change another row's advantages."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import gae


@check(
    "TOK104",
    "gae-crosses-rows",
    link=Link.CRITIC,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Start the recursion of GAE anew for every row.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """One row's rewards change another row's advantages.

    Measured: the advantages of the first row when the rewards of all others rise by 3.

    Why it hurts: credit flows between unrelated completions.

    Usual causes: a recursion over the flattened batch; whitening inside GAE.

    What to try: change one row: no other may move.

    Harmless: when the function also normalises; then give it as `whiten`.
    """
    found = bench.once(gae)
    mask = found.mask[0] > 0
    size = float(found.advantages[0][mask].norm())
    change = float((found.rows_changed - found.advantages)[0][mask].norm()) / max(size, 1e-30)
    if change <= 1e-3:
        return None
    return Symptom(
        f"other rows' rewards change the advantages of the first row by {change:.0%}", "gae", {"change_frac": change}
    )
