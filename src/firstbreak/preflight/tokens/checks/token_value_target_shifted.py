"""The value target of a token is not its advantage plus its value."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...invariants.torch_types import load_torch
from ..bench import TokenBench, skips
from ..sequences import gae


@check(
    "TOK106",
    "token-value-target-shifted",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Let the target of a token be its advantage plus its value, in the same column.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """The value target of a token is not its advantage plus its value.

    Measured: targets less advantages less values over trained tokens, for made-up rewards and values.

    Why it hurts: the value head learns the values of neighbouring tokens.

    Usual causes: targets sliced one column apart; targets made from whitened advantages.

    What to try: assert targets == advantages + values.

    Harmless: with another target on purpose, such as the plain return.
    """
    found = bench.once(gae)
    mask = found.mask > 0
    off = float(
        (found.targets - found.advantages - found.values)[mask].norm() / found.targets[mask].norm().clamp(min=1e-30)
    )
    if off <= 1e-3:
        return None
    torch = load_torch()
    right = found.advantages + found.values
    early = float((found.targets - torch.roll(right, -1, 1))[:, :-1][mask[:, :-1] & mask[:, 1:]].norm())
    late = float((found.targets - torch.roll(right, 1, 1))[:, 1:][mask[:, :-1] & mask[:, 1:]].norm())
    where = (
        "; it is that of the next token" if early < 1e-3 else "; it is that of the token before" if late < 1e-3 else ""
    )
    return Symptom(f"value targets are {off:.0%} off advantage plus value{where}", "gae", {"difference_frac": off})
