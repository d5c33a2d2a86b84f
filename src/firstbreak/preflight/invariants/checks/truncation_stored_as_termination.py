"""A time limit is not stored as a termination."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs


@check(
    "INV033",
    "truncation-stored-as-termination",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Store terminated and truncated apart; only terminated cuts the bootstrap.",
)
@skips
def look(bench: Bench) -> Answer:
    """A time limit is not stored as a termination.

    Measured: stored terminated flags against the environments' own record.

    Why it hurts: the value at a time limit is learnt as 0: states late in an episode look bad because the clock
    runs out.

    Usual causes: done stored instead of terminated, TimeLimit.truncated not read, an old 4-tuple environment.

    What to try: store terminated and truncated apart and bootstrap through the second.

    Harmless: when the time limit is part of the task and the time left is observed.

    References: Pardo et al. 2018, arXiv 1712.00378.
    """
    found = bench.once(pairs)
    if "terminated" not in found.stored:
        return Skip("stored rows hold no flags; they are judged by their advantages")
    given = found.stored["terminated"].reshape(-1).bool()
    ended, cut = found.seen["terminated"], found.seen["truncated"] & ~found.seen["terminated"]
    if bool(cut.any()) and float(given[cut].float().mean()) > 0:
        share = float(given[cut].float().mean())
        return Symptom(f"{share:.0%} of time limits are stored as termination", "terminated", {"wrong_frac": share})
    wrong = float((given != ended).float().mean())
    if not wrong:
        return None
    return Symptom(
        f"{wrong:.1%} of the stored terminated flags are wrong",
        "terminated",
        {"wrong_frac": wrong},
        severity=Severity.ERROR,
    )
