"""The rule `moe-ratio-off`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `moe-ratio-off`: engineering defaults, except where a source is named."""

    tolerance: float = 0.01
    """Distance of the mean ratio from 1 with a single minibatch and iteration, where it is exactly 1 in a
    deterministic model. Engineering default."""
    points: int = 5
    """Consecutive newest points."""


GRPO = synth.like("GRPO")
MOE = synth.like("GRPO", config={"moe": True, "num_iterations": 1, "n_minibatches": 1})

CASES = (
    fires("ratio off with one minibatch", lambda: MOE({"policy/ratio_mean": synth.flat(1.08, 0.01)})),
    healthy("ratio one", lambda: MOE({"policy/ratio_mean": synth.constant(1.0)})),
    near_miss("dense model", lambda: GRPO({"policy/ratio_mean": synth.flat(1.08, 0.01)})),
)


@rule(
    "NUM015",
    "moe-ratio-off",
    link=Link.NUMERICS,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    any_of=(("policy/ratio_mean", "policy/ratio_first_minibatch"),),
    needs_config=("moe",),
    when=("language",),
    min_points=5,
    params=Params(),
    cases=CASES,
    static=True,
    implies=("ratio-off-one", "ratio-tail", "clip-fraction-high", "grad-norm-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """A mixture-of-experts model gives other probabilities the second time.

    What it means:
        With one minibatch and one iteration the ratio is 1 by definition; here it is not, so routing changed between
        passes.

    Why it matters:
        Tokens switch experts between scoring and training; bursts of clipping precede a collapse.

    Usual causes:
        Routing that is not deterministic; different kernels or precision in the two passes.

    What to try:
        Replay the routing of the first pass, or use deterministic kernels.

    When it is harmless:
        Deviations below a percent.

    References:
        Ma et al. 2025, arXiv 2510.11370 (routing replay). AReaL documentation, diagnosing performance.
    """
    ratio = view.get("policy/ratio_first_minibatch", "policy/ratio_mean")
    assert ratio is not None
    first = ratio.metric == "policy/ratio_first_minibatch"
    once = view.number("n_minibatches") == 1 and (view.number("num_iterations") or view.number("n_epochs") or 1) == 1
    if not view.config("moe"):
        return None
    if not first and not once:
        return Skip(
            "the ratio is 1 by definition only with one minibatch and iteration", ("policy/ratio_first_minibatch",)
        )
    off = np.abs(ratio.value - 1) > params.tolerance
    if not bool(off[-params.points :].all()):
        return None
    onset = persistent_onset(ratio.step, off, params.points)
    assert onset is not None
    return Detection(
        message=f"Mean ratio is {median(ratio.value[-params.points :]):.4g} before any step; it is 1 by definition",
        onset=view.onset(*onset),
        metric=ratio.metric,
        evidence={"ratio": ratio.last, "tolerance": params.tolerance},
    )
