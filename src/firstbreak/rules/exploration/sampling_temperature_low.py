"""The rule `sampling-temperature-low`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median
from firstbreak.view import RunView

SILENT = "group/zero_std_fraction"


@dataclass(frozen=True)
class Params:
    """Thresholds of `sampling-temperature-low`."""

    low: float = 0.3
    """Temperature down to which nothing is said: half of the lowest at which published recipes sample, 0.6 (An et al.
    2025, POLARIS, which lists 0.6 to 1.55). Engineering default."""
    silent_frac: float = 0.5
    """Share of silent groups from which it is worth a warning (see `zero-std-groups`); below it is a note. Engineering
    default."""
    rows: int = 8
    """Rows from the start over which that share is taken. Engineering default."""


COLD = synth.like("GRPO", config={"temperature": 0.1})
ALIKE = {SILENT: synth.clipped(synth.flat(0.8, 0.05), 0, 1)}
CASES = (
    fires("groups of one answer", lambda: COLD(ALIKE)),
    fires("cold, and groups differ all the same: a note", lambda: COLD({SILENT: synth.flat(0.2, 0.05)})),
    healthy("temperature 1", lambda: synth.like("GRPO", config={"temperature": 1.0})({})),
    near_miss(
        "a recipe that samples cool, of a task half of which is solved",
        lambda: synth.like("GRPO", config={"temperature": 0.6})(ALIKE),
    ),
)


@rule(
    "EXP032",
    "sampling-temperature-low",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=(SILENT,),
    needs_config=("temperature",),
    when=("language",),
    static=True,
    implies=(
        "zero-std-groups",
        "response-collapse",
        "advantage-collapse",
        "reward-std-collapse",
        "reward-flat",
        "reward-saturated-from-start",
        "token-entropy-collapse",
    ),
    params=Params(),
    cases=CASES,
)
def detect(view: RunView, params: Params) -> Answer:
    """Responses are drawn so cold that the responses of a group are hardly different.

    What it means:
        The configured sampling temperature is 0.3 or less: the odds of two tokens are raised to a power above 3.
        It is a warning where most groups earn one and the same reward from the start, else a note.

    Why it matters:
        A group learns from what its responses do differently. Alternatives that are never drawn are never found.

    Usual causes:
        A temperature meant for evaluation; a model's own generation settings.

    What to try:
        Sample one batch at temperature 1 and compare the share of silent groups.

    When it is harmless:
        Where groups keep their spread all the same, as with long responses of a model that is unsure.

    References:
        An et al. 2025 (POLARIS), recipe for the sampling temperature. Yu et al. 2025, arXiv 2503.14476, section 3.2
        (groups without spread).
    """
    temperature, silent = view.number("temperature"), view.get(SILENT)
    assert silent is not None
    if temperature is None or not 0 <= temperature <= params.low or not len(silent):
        return None
    share = median(silent.value[: params.rows])
    return Detection(
        message=f"responses are drawn at temperature {temperature:g}; {share:.0%} of groups hold no difference",
        onset=view.onset(float(silent.source.step[0])),
        metric=silent.metric,
        evidence={"temperature": temperature, "silent_frac": share},
        severity=None if share >= params.silent_frac else Severity.INFO,
    )
