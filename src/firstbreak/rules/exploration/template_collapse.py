"""The rule `template-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import compare, persistent_onset
from firstbreak.stats.level import opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `template-collapse`: engineering defaults, except where a source is named."""

    floor_frac: float = 0.3
    """Newest mutual information (or retrieval above chance) over its opening. Engineering default."""
    points: int = 5
    """Consecutive newest points below it."""
    z: float = -4.0
    """z of the last quarter against the first."""


GRPO = synth.like("GRPO")

CASES = (
    fires("responses stop depending on prompts", lambda: GRPO({"collapse/mi": synth.ramp(2.0, 0.1)})),
    healthy("steady information", lambda: GRPO({"collapse/mi": synth.flat(2.0, 0.05)})),
    near_miss("information halves", lambda: GRPO({"collapse/mi": synth.ramp(2.0, 1.0)})),
)


@rule(
    "EXP013",
    "template-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("collapse/mi", "collapse/retrieval_above_chance"),),
    when=("language",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("reward-flat", "response-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses no longer depend on the prompt.

    What it means:
        The mutual information between prompt and response has fallen below a third of its opening.

    Why it matters:
        Entropy can look healthy while every prompt gets the same template: the policy has stopped reading.

    Usual causes:
        Noisy reward with weak differences within prompts; a regulariser that outweighs the signal.

    What to try:
        Sample 16 responses on 20 prompts and try to tell which belongs to which; keep prompts with reward spread.

    When it is harmless:
        Where prompts truly ask the same thing.

    References:
        Wang et al. 2025 (RAGEN), arXiv 2504.20073, and its successor on template collapse.
    """
    info = view.get("collapse/mi", "collapse/retrieval_above_chance")
    assert info is not None
    start = opening(info.value)
    low = info.value <= params.floor_frac * start
    quarter = max(8, len(info) // 4)
    if (
        start <= 0
        or not bool(low[-params.points :].all())
        or compare(info.value[:quarter], info.value[-quarter:]).z > params.z
    ):
        return None
    onset = persistent_onset(info.step, low, params.points)
    assert onset is not None
    return Detection(
        message=f"Dependence of response on prompt fell to {info.last:.3g}, {info.last / start:.0%} of its opening",
        onset=view.onset(*onset),
        metric=info.metric,
        evidence={"recent": info.last, "opening": start},
    )
