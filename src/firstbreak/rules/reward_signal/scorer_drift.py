"""The rule `scorer-drift`."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `scorer-drift`. The same samples scored by the same scorer have the same mean by definition."""

    share: float = 0.02
    """Change of the mean score, as a share of its size and of the spread of the training reward, that no rounding or
    sampling of a judge explains. Engineering default."""
    points: int = 3
    """Consecutive newest scorings away from the first. Engineering default."""
    least: int = 6
    """Scorings of one set. Engineering default."""
    z: float = 6.0
    """Steps of the usual scatter that the change must exceed, for judges that sample."""


GRPO = synth.like("GRPO")

GOLDEN, SET = "reward/golden_mean", "reward/golden_set"

CASES = (
    fires("the scorer was replaced", lambda: GRPO({GOLDEN: synth.jump(0.62, 0.48, at=0.5, noise=0.0)})),
    fires("a sampling judge moves", lambda: GRPO({GOLDEN: synth.jump(0.62, 0.5, at=0.5, noise=0.01)})),
    healthy("the same to the last digit", lambda: GRPO({GOLDEN: synth.constant(0.62)})),
    near_miss("a sampling judge scatters", lambda: GRPO({GOLDEN: synth.flat(0.62, 0.02)})),
    near_miss(
        "another set since a resume",
        lambda: GRPO(
            {GOLDEN: synth.jump(0.62, 0.48, at=0.5, noise=0.0), SET: synth.jump(17.0, 23.0, at=0.5, noise=0.0)}
        ),
    ),
    near_miss("one bad scoring", lambda: GRPO({GOLDEN: synth.spikes(0.62, 0.1, at=(0.5,), noise=0.005)})),
)


@rule(
    "RWD029",
    "scorer-drift",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=(GOLDEN,),
    min_points=6,
    static=True,
    across_phases=True,
    implies=("reward-redefined", "proxy-divergence", "return-collapse", "eval-step-change", "judge-bias"),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """A fixed set of samples gets other scores than before.

    What it means:
        The golden set never changes, so its mean score cannot either; it did.

    Why it matters:
        Rewards before and after are of different quantities: no curve of this run can be read across that step.

    Usual causes:
        Another judge behind the same address; a changed prompt of the judge; updated normaliser statistics; a scorer
        that fails and answers with a default.

    What to try:
        Pin the scorer's version; score old and new outputs with both; restart from the last checkpoint before the step.

    When it is harmless:
        When the scorer was exchanged on purpose.

    References:
        Gao, Schulman and Hilton 2023, arXiv 2210.10760 (the proxy is fixed while it is optimised).
    """
    golden = of_one_set(view)
    if len(golden) < params.least:
        return None
    count = max(params.points, len(golden) // 8)
    opening = golden.value[: max(3, min(8, len(golden) // 4))]
    start = median(opening)
    spread = view.get("reward/train_std")
    size = max(abs(start), median(spread.value) if spread is not None and len(spread) else 0.0)
    scatter = float(np.median(np.abs(np.diff(golden.value)))) * 1.4826
    limit = max(params.share * size, params.z * scatter)
    off = np.abs(golden.value - start) > limit
    if size == 0 or not bool(off[-count:].all()):
        return None
    onset = persistent_onset(golden.step, off, count)
    assert onset is not None
    recent = median(golden.value[-count:])
    return Detection(
        message=f"the mean score of the golden set went from {start:.4g} to {recent:.4g}; it must not move",
        onset=view.onset(*onset),
        metric=GOLDEN,
        evidence={"opening": start, "recent": recent, "limit": limit},
    )


def of_one_set(view: RunView, metric: str = GOLDEN) -> Points:
    """Return the mean scores of the newest set; of all scorings where nothing says which set it was."""
    golden, name = view.get(metric), view.get(SET)
    assert golden is not None
    if name is None or not len(name):
        return golden
    others = name.step[name.value != name.last]
    kept = golden.step > (others[-1] if others.size else -np.inf)
    return replace(golden, step=golden.step[kept], value=golden.value[kept])
