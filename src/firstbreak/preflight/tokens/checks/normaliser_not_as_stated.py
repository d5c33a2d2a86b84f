"""The loss is divided by something else than its settings say."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..normaliser import normaliser

OFF_FRAC = 0.02
"""Rounding leaves about 1e-5. Engineering default."""


@check(
    "TOK080",
    "normaliser-not-as-stated",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    severity=Severity.WARNING,
    fix="Change the setting or the code, so that both say the same of what the loss is divided by.",
    explained_by=(
        "padding-changes-loss",
        "rows-share-one-advantage",
        "prompt-token-weighted",
        "padding-token-weighted",
        "loss-mask-shifted",
        "logits-score-wrong-token",
        "tool-token-weighted",
        "end-token-untrained",
        "sampled-token-untrained",
        "token-weights-not-advantages",
        "token-advantage-sign-flipped",
        "temperature-differs-in-loss",
        "policy-random-in-loss",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The loss is divided by something else than its settings say.

    Measured: how the weight of a token depends on the length of its completion, against the stated normaliser.

    Why it hurts: lengths drift: 1/|o| favours long wrong answers, a token mean lets long answers decide.

    Usual causes: a renamed loss type; a local mean where a constant is meant.

    What to try: print the weight of one token in a short and in a long completion.

    Harmless: when the setting is out of date and the code is what was wanted.

    References: Liu et al. 2025, arXiv 2503.20783 (Dr. GRPO); Yu et al. 2025, arXiv 2503.14476 (DAPO).
    """
    stated = str(bench.setting("normalisation"))
    found = bench.once(normaliser)
    if found.name is None or stated not in found.expected:
        return Skip("the normaliser cannot be told from this batch", ("a batch with different lengths",))
    off = abs(found.expected[stated] - 1.0)
    if stated in found.fits and off <= OFF_FRAC:
        return None
    if stated in found.fits:
        what = f"{found.expected[stated]:.2g} times as large as stated ({stated})"
        return Symptom(f"the weights are {what}", "loss", {"factor": found.expected[stated], "stated": stated})
    return Symptom(
        f"weights fit the normaliser {found.name!r}, {stated!r} is stated",
        "loss",
        {"seen": found.name, "stated": stated},
    )
