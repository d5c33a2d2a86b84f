"""The rule `action-response-changed`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.at_once import weights_thrown
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median, quantile
from firstbreak.view import Points, RunView

GAIN = "env/action_gain"


@dataclass(frozen=True)
class Params:
    """Thresholds of `action-response-changed`. Engineering defaults where no source is named."""

    rows: int = 8
    """Earlier rows that say what is usual: the shortest stretch with a stated error."""
    clear: float = 0.5
    """The effect is clear enough to judge when this is the least cosine of the earlier rows (its lowest tenth)."""
    drop: float = 0.5
    """How far below its lowest tenth the cosine must fall: from near 1 to half a right angle's worth."""
    opposite: float = -0.5
    """Cosine at which one row alone is enough."""
    confirmed: float = 4.0
    """Times the usual error that predictions of the next observation must err by, where there are any: else the policy
    moved to where actions do something else. Half of what `dynamics-changed` asks for; in the fault benchmark (corpus
    of 2026-11-25) changed actions reach 5.6 and more, policies that moved 3.6."""
    predicted: float = 0.9
    """Share of what observations change by that earlier steps predicted, where that is measured: in a world that is
    explained by half (an index of states, contacts), what actions do on average follows from where the policy goes. In
    the fault benchmark (corpus of 2026-11-25) worlds in which it tells a change are explained by 0.99 and more."""
    lasts: int = 2
    """Rows in a row that must show it. The reference follows the change within some ten rows."""
    clouded: int = 8
    """Rows whose median shows it where each alone is lost in noise: of an action that does a tenth of what it did, a
    noisy slope shows little else. By then the reference is half-way there."""
    early: int = 12
    """Rows before that: what is usual must be known well."""
    fallen: float = 0.3
    """How far that median lies below the lowest tenth before. In the fault benchmark (corpus of 2026-11-26) actions cut
    to a tenth in Pendulum come to 0.44 and more, 0.13 is the most of 869 runs without a fault."""
    weaker: float = 0.75
    """Gain of actions, where it is measured, that these rows must stay below in their median: as much as ever along
    what is known of them, beside much else, is a policy that goes where things are more mixed. Healthy rows lie between
    0.75 and 1.2 (as for `action-effect-resized`), actions cut to a tenth at 0.11 and 0.16."""


PPO = synth.like("PPO")
CLEAR = synth.clipped(synth.flat(0.95, 0.03), -1, 1)
CASES = (
    fires(
        "actions do the opposite",
        lambda: PPO({"env/action_response": synth.clipped(synth.after(0.6, synth.flat(-0.9, 0.05), CLEAR), -1, 1)}),
    ),
    healthy("the same effect throughout", lambda: PPO({"env/action_response": CLEAR})),
    near_miss(
        "the policy moved to where actions do something else",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(-0.9, 0.05), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.flat(1.0, 0.1), 0, 99),
            }
        ),
    ),
    near_miss(
        "a world that is explained by half",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(0.1, 0.05), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.jump(1.0, 5.0, 0.6, 0.1), 0, 99),
                "env/predicted_frac": synth.clipped(synth.flat(0.55, 0.1), 0, 1),
            }
        ),
    ),
    fires(
        "actions do a tenth, beside much noise: a warning",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(0.45, 0.2), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.spikes(1.0, 6.0, (0.6,), noise=0.1), 0, 99),
            }
        ),
    ),
    near_miss(
        "much noise, and all that follows is foreseen",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(0.45, 0.2), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.flat(1.0, 0.1), 0, 99),
            }
        ),
    ),
    near_miss(
        "much noise, and actions do as much as ever",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(0.45, 0.2), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.spikes(1.0, 6.0, (0.6,), noise=0.1), 0, 99),
                GAIN: synth.flat(0.9, 0.1),
            }
        ),
    ),
    fires(
        "much noise, and actions do a tenth: a warning",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(0.45, 0.2), CLEAR), -1, 1),
                "env/dynamics_surprise": synth.clipped(synth.spikes(1.0, 6.0, (0.6,), noise=0.1), 0, 99),
                GAIN: synth.after(0.6, synth.flat(0.15, 0.1), synth.flat(1.0, 0.05)),
            }
        ),
    ),
    near_miss(
        "weights were thrown about, and the policy with them",
        lambda: PPO(
            {
                "env/action_response": synth.clipped(synth.after(0.6, synth.flat(-0.9, 0.05), CLEAR), -1, 1),
                "net/weight_norm": synth.after(0.6, synth.flat(90.0, 0.001), synth.flat(20.0, 0.001)),
            }
        ),
    ),
    near_miss(
        "one odd row", lambda: PPO({"env/action_response": synth.clipped(synth.spikes(0.95, -0.3, (0.6,)), -1, 1)})
    ),
    near_miss(
        "an effect that never was clear",
        lambda: PPO({"env/action_response": synth.clipped(synth.walk(0.0, 0.5), -1, 1)}),
    ),
)


@rule(
    "ENV016",
    "action-response-changed",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    needs=("env/action_response",),
    params=Params(),
    cases=CASES,
    implies=("return-collapse", "explained-variance-collapse", "value-loss-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The environment suddenly answers to actions in another way than before.

    What it means:
        How the next observation goes with the action was much the same in all earlier rows; now it is different, or the
        opposite.

    Why it matters:
        What the policy has learned is no longer true of this environment. The return falls, and tuning does not help.

    Usual causes:
        Actions swapped, mirrored, rescaled or delayed by a wrapper; a controller or simulator setting that changed;
        observations whose entries changed places; copies that mix their actions up.

    What to try:
        Give the same action in the same state before and after the change and compare the next observations.

    When it is harmless:
        Domain randomisation or another level that you switched on yourself. Where the weights were thrown about just
        before, the policy goes elsewhere: nothing is said.

    References:
        Ljung 1999, "System Identification" (correlating inputs with outputs).
    """
    points = view.get("env/action_response")
    assert points is not None
    if len(points) <= params.rows:
        return Skip("too few rows to say what is usual")
    surprise, explained = view.get("env/dynamics_surprise"), view.get("env/predicted_frac")
    for place in fallen_far(points.value, params):
        if surprise is not None and _foreseen(surprise, float(points.step[place]), params):
            continue
        if weights_thrown(view, float(points.step[place])):
            continue
        if explained is not None and _hardly_explained(explained, float(points.step[place]), params):
            continue
        now, usual = points.value[place : place + params.lasts], quantile(points.value[:place], 0.1)
        fallen = now.size == params.lasts and np.all(now < usual - params.drop)
        if usual >= params.clear and (fallen or now[0] < params.opposite):
            before = median(points.value[:place])
            return Detection(
                message=f"the effect of actions has cosine {now[0]:.2f} with the usual one, {before:.2f} before",
                onset=view.onset(points.step[place - 1], points.step[place]),
                metric=points.metric,
                evidence={"cosine": float(now[0]), "median_before": before},
            )
    return clouded(view, points, surprise, explained, params)


def clouded(
    view: RunView, points: Points, surprise: Points | None, explained: Points | None, params: Params
) -> Detection | None:
    """Say so where rows that are noisy one by one lie far below the earlier ones, since a row that was not foreseen."""
    if surprise is None:
        return None
    for at in np.flatnonzero(surprise.value >= params.confirmed):
        step = float(surprise.step[at])
        place = int(np.searchsorted(points.step, step))
        now, earlier = points.value[place : place + params.clouded], points.value[:place]
        if now.size < params.clouded or place < params.early:
            continue
        usual, left = quantile(earlier, 0.1), median(now)
        if usual < params.clear or left > usual - params.fallen or weights_thrown(view, step):
            continue
        if explained is not None and _hardly_explained(explained, step, params):
            continue
        if _as_strong(view, step, float(points.step[place + params.clouded - 1]), params):
            continue
        return Detection(
            message=f"the effect of actions has had cosine {left:.2f} with the usual one; {usual:.2f} was low before",
            onset=view.onset(float(points.step[place - 1]), step),
            metric=points.metric,
            evidence={"cosine": left, "median_before": median(earlier), "lowest_tenth_before": usual},
            severity=Severity.WARNING,
        )
    return None


def _as_strong(view: RunView, since: float, last: float, params: Params) -> bool:
    """Whether actions did as much as ever along what earlier steps say of them, from `since` to `last`."""
    gain = view.get(GAIN)
    if gain is None:
        return False
    now = gain.value[(gain.step >= since) & (gain.step <= last)]
    return bool(now.size) and median(now) >= params.weaker


def fallen_far(value: Floats, params: Params) -> list[int]:
    """Return the places of `value` [n] that lie far below the best of the earlier rows: others need no closer look."""
    bar = np.maximum.accumulate(value)[params.rows - 1 : -1] - params.drop
    return (np.flatnonzero(value[params.rows :] < np.maximum(bar, params.opposite)) + params.rows).tolist()


def _foreseen(surprise: Points, step: float, params: Params) -> bool:
    """Whether the next observations of the row at `step` followed from what was learned before.

    Logged at other rows, the ones on either side of it say so: a change of the world is seen in the later one.
    """
    here = surprise.value[surprise.step == step]
    if not here.size:
        here = np.concatenate((surprise.value[surprise.step < step][-1:], surprise.value[surprise.step > step][:1]))
    return bool(here.size) and float(here.max()) < params.confirmed


def _hardly_explained(explained: Points, step: float, params: Params) -> bool:
    """Whether earlier steps never predicted most of what observations change by."""
    before = explained.value[explained.step < step]
    return bool(before.size) and median(before) < params.predicted
