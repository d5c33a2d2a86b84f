"""The rule `ends-not-reset`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView

UNRESET = "env/unreset_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `ends-not-reset`: engineering defaults; right is 0 wherever a new episode begins elsewhere."""

    held: int = 16
    """Rows before, all of them without such an end. Where an episode now and then begins where the last one ended, in
    one of ten ends, say, that and `rows` of them next happen by chance in one run of five hundred."""
    rows: int = 3
    """Rows on end in which no episode began anew."""


PPO = synth.like("PPO")
CASES = (
    fires("resets are left out from the middle on", lambda: PPO({UNRESET: synth.jump(0.0, 1.0, 0.5, 0.0)})),
    healthy("every episode begins anew", lambda: PPO({UNRESET: synth.constant(0.0)})),
    near_miss("an environment of one state", lambda: PPO({UNRESET: synth.constant(1.0)})),
    near_miss("it happens now and then", lambda: PPO({UNRESET: synth.spikes(0.0, 1.0, (0.4, 0.6))})),
    near_miss("of some copies", lambda: PPO({UNRESET: synth.jump(0.0, 0.25, 0.5, 0.0)})),
)


@rule(
    "ENV130",
    "ends-not-reset",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=(UNRESET,),
    min_points=19,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "stuck-done",
        "return-falls-at-once",
        "return-collapse",
        "smooth-decline",
        "environment-moves-at-once",
        "dynamics-changed",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """After an end no new episode begins: the next observation is the one in which the last episode ended.

    What it means:
        Whenever an episode ends, the environment answers the reset with the state that it was in. It had begun anew
        after every end before.

    Why it matters:
        Where the end is a failure, the agent fails again at once: episodes of one step fill the data.

    Usual causes:
        A wrapper that swallows `reset` or answers with what it kept; automatic resets that are switched off or done
        twice; an environment that is put back into a saved state.

    What to try:
        Reset by hand after an end, twice, and print both observations beside the last one.

    When it is harmless:
        In tasks that go on through ends on purpose, from then on.

    References:
        Gymnasium: `Env.reset` and `AutoresetMode`.
    """
    points = view.get(UNRESET)
    assert points is not None
    share = points.value
    odd = np.flatnonzero(share != 0)
    if not odd.size or odd[0] < params.held:
        return None
    # One row between, in which both are mixed, may come before.
    for place in (int(odd[0]), int(odd[0]) + 1):
        now = share[place : place + params.rows]
        if now.size == params.rows and (now == 1).all():
            return Detection(
                message=f"in {params.rows} rows on end episodes begin in the observation where the last one ended",
                onset=view.onset(float(points.step[odd[0] - 1]), float(points.step[place])),
                metric=UNRESET,
                evidence={"rows_before": int(odd[0])},
            )
    return None
