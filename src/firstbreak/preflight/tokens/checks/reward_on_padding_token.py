"""The score of a completion is put on a column that is not trained."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..sequences import token_rewards


@check(
    "TOK100",
    "reward-on-padding-token",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Add the score at the last token of the completion, the end token.",
    explained_by=("token-reward-without-cause",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The score of a completion is put on a column that is not trained.

    Measured: where a score of 2, 3, 4 ... shows in the token rewards of each row.

    Why it hurts: the advantage of the last token misses the score, or gets it discounted; with a mask it is
    lost.

    Usual causes: an index of length instead of length - 1; the first padding column taken for the end.

    What to try: the token rewards of a row must add up to score plus KL penalty over its trained tokens.

    Harmless: when GAE runs over that column too, as in some published code, and the mask of the advantages
    covers the end token.
    """
    found = bench.once(token_rewards)
    added = (found.scored - found.plain).abs()
    outside = int(((added > 1e-4) & ~found.mask).any(dim=1).sum())
    if not outside:
        return None
    return Symptom(
        f"in {outside} of {len(added)} rows the score lies on a column outside the loss mask",
        "token_rewards",
        {"rows": outside, "batch_rows": len(added)},
    )
