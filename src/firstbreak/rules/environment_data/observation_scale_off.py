"""The rule `observation-scale-off`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `observation-scale-off`."""

    median: float = 30.0
    """Spread of the middle entry. Engineering default, from random play: of classic control, Box2D and MuJoCo tasks
    none exceeds 1, of tasks with counted states none 14."""
    lead: float = 300.0
    """The widest entry's spread over that of the others, worth a note (`observation-scales-differ` of preflight).
    Engineering default. Contact forces of a humanoid lead by 1,200 in runs that learn, so it is no warning."""
    rows: int = 10
    """Rows that say what is usual. Engineering default."""


PPO = synth.like("PPO")
MIDDLE, LEAD = "obs/scale_median", "obs/scale_lead"
SMALL = {MIDDLE: synth.flat(0.5, 0.2), LEAD: synth.flat(8.0, 0.2)}

CASES = (
    fires("everything a hundred times as large", lambda: PPO({**SMALL, MIDDLE: synth.flat(60.0, 0.2)})),
    fires(
        "a hundred times as large, until the policy keeps to a corner",
        lambda: PPO({**SMALL, MIDDLE: synth.geometric(60.0, 5.0)}),
    ),
    fires("one entry a thousand times as large", lambda: PPO({**SMALL, LEAD: synth.flat(4000.0, 0.2)})),
    healthy("spreads near 1", lambda: PPO(SMALL)),
    near_miss("an index of 64 states", lambda: PPO({**SMALL, MIDDLE: synth.flat(18.0, 0.2)})),
    near_miss("velocities that lead by 40", lambda: PPO({**SMALL, LEAD: synth.flat(40.0, 0.2)})),
    near_miss(
        "the trainer normalises",
        lambda: synth.like("PPO", config={"normalize_observation": True})({**SMALL, MIDDLE: synth.flat(60.0, 0.2)}),
    ),
)


@rule(
    "ENV023",
    "observation-scale-off",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    any_of=((MIDDLE, LEAD),),
    min_points=10,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "return-collapse", "value-loss-explosion", "q-over-bound", "q-exceeds-return"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Observations come in units that a network of usual initialisation cannot use.

    What it means:
        The middle entry of the observation spreads by dozens, or one entry by hundreds of times the others.

    Why it matters:
        Units of the first layer saturate, or see the one large entry only; the others need weights that take long to
        grow.

    Usual causes:
        Raw sensor counts; pixels that are not divided by 255; millimetres beside metres; a normaliser left out.

    What to try:
        Normalise observations with running statistics (VecNormalize, NormalizeObservation), or divide by known ranges.

    When it is harmless:
        Where the trainer normalises behind the place that is watched; say so by `normalize_observation` in the
        settings.

    References:
        Andrychowicz et al. 2020, arXiv 2006.05990, section 3.3 (normalisation of observations).
    """
    middle, lead = view.get(MIDDLE), view.get(LEAD)
    if str(view.config("normalize_observation", "")).lower() in ("true", "1"):
        return None
    # A trained policy may keep to a corner: what an untrained one sees says as much of the units.
    spread = 0.0 if middle is None else max(median(middle.value[: params.rows]), median(middle.value))
    if middle is not None and len(middle) >= params.rows and spread >= params.median:
        return Detection(
            message=f"the observation's entries spread by {spread:.3g}; networks expect about 1",
            onset=view.onset(float(middle.source.step[0])),
            metric=MIDDLE,
            evidence={"scale_median": spread},
        )
    if lead is not None and len(lead) >= params.rows and median(lead.value) >= params.lead:
        return Detection(
            message=f"one entry of the observation spreads {median(lead.value):.3g} times as far as the others",
            onset=view.onset(float(lead.source.step[0])),
            metric=LEAD,
            evidence={"scale_lead": median(lead.value)},
            severity=Severity.INFO,
        )
    return None
