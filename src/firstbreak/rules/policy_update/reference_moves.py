"""The rule `reference-moves`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, safe_log
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reference-moves`: engineering defaults, except where a source is named."""

    left: float = 0.25
    """Share of the KL that is left after a drop from one row to the next. Engineering default."""
    least_nats: float = 0.005
    """KL before the drop; below it everything is rounding. Engineering default."""
    jumps: float = 5.0
    """How many times the usual change from row to row, of the logarithm, a drop must be: the KL of a small batch is
    noisy. Engineering default."""
    times: int = 2
    """Drops of that kind that do not come back at once."""
    measured: int = 3
    """Rows in which the change of its weights was measured, and was 0, that settle it."""


GRPO = synth.like("GRPO")

KL = "policy/kl_ref"
CHANGE = "policy/ref_change_frac"


def saw(high: float, teeth: int) -> synth.Shape:
    """A line from 0 to `high`, `teeth` times over."""
    return lambda t, rng: high * np.mod(t * teeth, 1.0)


def noisy(t: Floats, rng: np.random.Generator) -> Floats:
    """The KL of a batch of a few responses: it scatters over an order of magnitude."""
    return 0.1 * np.exp(1.2 * rng.standard_normal(t.size))


CASES = (
    fires("reference overwritten every so often", lambda: GRPO({KL: saw(0.08, 4)})),
    healthy("grows", lambda: GRPO({})),
    near_miss(
        "meant to be synchronised", lambda: synth.like("GRPO", config={"sync_ref_model": True})({KL: saw(0.08, 4)})
    ),
    near_miss(
        "the noisy KL of a small batch",
        lambda: GRPO({KL: noisy}),
    ),
    near_miss("its weights were looked at, and rest", lambda: GRPO({KL: saw(0.08, 4), CHANGE: synth.constant(0.0)})),
    near_miss("one row without KL", lambda: GRPO({KL: synth.spikes(0.05, 0.0, at=(0.3, 0.6, 0.8), noise=0.02)})),
)


@rule(
    "POL029",
    "reference-moves",
    link=Link.POLICY_UPDATE,
    component=Component.LOSS,
    needs=(KL,),
    when=("reference",),
    min_points=20,
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """The KL to the reference falls back to 0 again and again: the reference is being replaced by the policy.

    What it means:
        From one row to the next most of the distance to the reference is gone, more than once, and grows anew.

    Why it matters:
        A reference that follows anchors nothing; the run may go anywhere in small steps, and its KL always looks small.

    Usual causes:
        A reference that shares weights with the policy; an adapter merged into the base; a sync of the reference left
        on.

    What to try:
        Compare a checksum of the reference's weights at the start and now.

    When it is harmless:
        Where the reference is synchronised on purpose (and the interval is in the configuration).

    References:
        Gorbatovski et al. 2024 (learning with an updated reference), arXiv 2404.09656.
    """
    kl = view.get(KL)
    assert kl is not None
    if view.config("sync_ref_model") is True or view.number("ref_reset_interval"):
        return None
    measured = view.get(CHANGE)
    if measured is not None and len(measured) >= params.measured and measured.max == 0:
        return None  # its weights were looked at, and rest: the KL of few responses only scatters
    size = np.abs(kl.value)
    usual = median(np.abs(np.diff(safe_log(size[size > 0])))) if (size > 0).any() else 0.0
    left = min(params.left, float(np.exp(-params.jumps * usual)))
    drops = [
        i
        for i in range(3, len(kl) - 2)
        if (before := median(size[i - 3 : i])) >= params.least_nats and bool((size[i : i + 2] <= left * before).all())
    ]
    apart = [i for n, i in enumerate(drops) if n == 0 or i - drops[n - 1] > 2]
    if len(apart) < params.times:
        return None
    first = apart[0]
    return Detection(
        message=f"KL to the reference fell {len(apart)} times, from {size[first - 1]:.2g} to {size[first]:.2g} nats",
        onset=view.onset(float(kl.step[first - 1]), float(kl.step[first])),
        metric=KL,
        evidence={"drops": len(apart), "before_nats": float(size[first - 1]), "after_nats": float(size[first])},
    )
