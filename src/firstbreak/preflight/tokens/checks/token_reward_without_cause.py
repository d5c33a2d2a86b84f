"""Tokens that earned nothing get a reward."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...invariants.torch_types import load_torch
from ..bench import TokenBench, skips
from ..sequences import token_rewards


@check(
    "TOK101",
    "token-reward-without-cause",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Do not shift the mean when token rewards are scaled.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """Tokens that earned nothing get a reward.

    Measured: the token rewards of rows whose score is 0 and whose KL is 0, and of tokens before the last one
    when only a score is given.

    Why it hurts: every token costs or pays something, so length is rewarded or punished.

    Usual causes: rewards whitened with the mean subtracted.

    What to try: all rewards of a batch without score and KL must be 0.

    Harmless: with a length penalty on purpose.

    References: Huang et al. 2024, arXiv 2403.17031 (whiten rewards without shifting the mean).
    """
    torch = load_torch()
    found = bench.once(token_rewards)
    columns = torch.arange(found.mask.shape[1])[None]
    early = found.mask & (columns < found.last[:, None])
    added = found.scored[early]
    largest = float(added.abs().max()) if len(added) else 0.0
    if largest <= 1e-4:
        return None
    return Symptom(
        f"tokens before the last one get rewards up to {largest:.2g} although only the score pays",
        "token_rewards",
        {"largest": largest, "tokens": int((added.abs() > 1e-4).sum())},
    )
