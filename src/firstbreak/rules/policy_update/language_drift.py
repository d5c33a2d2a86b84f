"""The rule `language-drift`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import began, moved_odds, stretches
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `language-drift`: engineering defaults, except where a source is named."""

    z: float = 4.0
    """Standard errors by which the log-odds must have risen, inflated for autocorrelation."""
    log_odds: float = 0.7
    """Least rise of the log-odds: a doubling where it is rare. Engineering default."""
    level: float = 0.05
    """Share of responses in another language worth a word. Engineering default."""


GRPO = synth.like("GRPO")

OTHER = "seq/other_language_fraction"

CASES = (
    fires("languages mix more and more", lambda: GRPO({OTHER: synth.clipped(synth.ramp(0.01, 0.4), 0, 1)})),
    healthy("rare", lambda: GRPO({OTHER: synth.clipped(synth.flat(0.01, 0.3), 0, 1)})),
    near_miss("mixed from the start", lambda: GRPO({OTHER: synth.clipped(synth.flat(0.3, 0.05), 0, 1)})),
    near_miss("one batch", lambda: GRPO({OTHER: synth.spikes(0.01, 0.6, at=(0.5,))})),
)


@rule(
    "POL031",
    "language-drift",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(OTHER,),
    when=("language",),
    min_points=16,
    across_phases=True,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses leave the language of their prompts.

    What it means:
        The share of responses in another or in mixed languages lies well above the run's own opening.

    Why it matters:
        Nothing in a reward for the right answer asks for readable text; mixing is the first step towards gibberish.

    Usual causes:
        Reward on the final answer only; no anchor to the reference; a base model with several languages.

    What to try:
        Anchor by KL; add a small reward for the prompt's language; read twenty mixed responses.

    When it is harmless:
        When the task pays for any language and nobody reads the reasoning.

    References:
        Guo et al. 2025 (DeepSeek-R1), arXiv 2501.12948, section 2.3.2 (language consistency reward).
    """
    other = view.get(OTHER)
    assert other is not None
    change = moved_odds(other)
    before, now = stretches(other.value)
    if change.z < params.z or change.difference < params.log_odds or median(now) < params.level:
        return None
    return Detection(
        message=f"responses in another language went from {median(before):.1%} to {median(now):.1%}",
        onset=began(view, other),
        metric=OTHER,
        evidence={"opening_frac": median(before), "recent_frac": median(now), "z": change.z},
    )
