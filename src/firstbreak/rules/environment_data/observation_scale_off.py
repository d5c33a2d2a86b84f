"""The rule `observation-scale-off`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, TRUTH, ended, progress, rises, starts_late
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
    wide: float = 50.0
    """The same in a run that learns nothing, which is then warned of. Of 258 healthy runs of 31 pairs of trainer and
    task of the fault benchmark's development half (2026-11-26) none has a median above 16."""
    returns: int = 30
    """Returns that show whether anything is learned. Engineering default: the length of a drift test."""
    passed: float = 0.5
    """Share of the planned steps by which it should be, as in `reward-flat`. Engineering default."""
    rises: float = 2.0
    """Standard errors by which a return has risen, as in `reward-flat`. Engineering default."""
    rows: int = 10
    """Rows that say what is usual. Engineering default."""


PPO = synth.like("PPO")
MIDDLE, LEAD, RETURN = "obs/scale_median", "obs/scale_lead", "reward/episode_return_mean"
SMALL = {MIDDLE: synth.flat(0.5, 0.2), LEAD: synth.flat(8.0, 0.2)}

CASES = (
    fires("everything a hundred times as large", lambda: PPO({**SMALL, MIDDLE: synth.flat(60.0, 0.2)})),
    fires(
        "a hundred times as large, until the policy keeps to a corner",
        lambda: PPO({**SMALL, MIDDLE: synth.geometric(60.0, 5.0)}),
    ),
    fires("one entry a thousand times as large", lambda: PPO({**SMALL, LEAD: synth.flat(4000.0, 0.2)})),
    fires(
        "one entry a hundred times as large, and nothing is learned",
        lambda: PPO({**SMALL, LEAD: synth.flat(100.0, 0.2), RETURN: synth.flat(9.4, 0.05)}),
    ),
    near_miss("one entry a hundred times as large, and all is learned", lambda: PPO({LEAD: synth.flat(100.0, 0.2)})),
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
    if lead is None or len(lead) < params.rows:
        return None
    widest = median(lead.value)
    if widest >= params.wide and learns_nothing(view, params):
        return Detection(
            message=f"one entry spreads {widest:.3g} times as far as the others, and the return does not rise",
            onset=view.onset(float(lead.source.step[0])),
            metric=LEAD,
            evidence={"scale_lead": widest},
        )
    if widest >= params.lead:
        return Detection(
            message=f"one entry of the observation spreads {widest:.3g} times as far as the others",
            onset=view.onset(float(lead.source.step[0])),
            metric=LEAD,
            evidence={"scale_lead": widest},
            severity=Severity.INFO,
        )
    return None


def learns_nothing(view: RunView, params: Params) -> bool:
    """Whether the run is over, or half over, and its return has not risen."""
    reward, share = view.get(*TRAIN), progress(view)
    if reward is None or len(reward) < params.returns or starts_late(reward):
        return False
    late = ended(view) or (share is not None and share >= params.passed)
    return late and not any(rises(view.get(name), params.rises) for name in (reward.metric, *TRUTH))
