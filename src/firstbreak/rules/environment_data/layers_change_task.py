"""The rule `layers-change-task`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `layers-change-task`. Engineering defaults; the relations themselves are exact."""

    repeated: float = 0.05
    """Share of steps that show what was shown before; a sensor that loses a frame now and then is below."""


CASES = (
    fires("actions are exchanged in half of the episodes", lambda: synth.wrapped(layers_action_swapped=0.5)),
    fires("two entries of the observation stand still", lambda: synth.wrapped(layers_hidden=2.0)),
    fires("nine observations in ten are the one before", lambda: synth.wrapped(layers_repeated=0.9)),
    fires("eight steps for one, and no setting says so", lambda: synth.wrapped(layers_frames=8.0)),
    healthy("the layers change nothing", synth.wrapped),
    near_miss("a frame is lost now and then", lambda: synth.wrapped(layers_repeated=0.01)),
    near_miss("four steps for one, as the settings say", lambda: synth.wrapped(layers_frames=4.0, frame_skip=4.0)),
)


@rule(
    "ENV070",
    "layers-change-task",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.WARNING,
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("return-below-start", "worse-than-random", "reward-flat", "observations-held", "episodes-at-time-limit"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Layers around a standard task exchange its actions, hold back observations or skip steps, and no setting says so.

    What it means:
        The monitor played the first episodes again in a copy of the bare task. What the trainer saw follows from its
        actions only if they are exchanged or repeated; or entries of the observation stand still, or are old, though
        the task's move.

    Why it matters:
        The best policy there is may not be playable, or what it needs is not shown. A trainer learns the other task
        and looks sound.

    Usual causes:
        A mapping of actions in another order; a mask of the wrong indices, a sensor whose last answer is kept; a
        wrapper kept from Atari.

    What to try:
        Print action and observation of ten steps before and after each wrapper that the settings name. Where frames are
        skipped by design, log `frame_skip` with the settings.

    When it is harmless:
        Where the other task is the one that is meant: memory tasks, slow control.

    References:
        Kaelbling et al. 1998, "Planning and acting in partially observable stochastic domains"; Braylan et al. 2015,
        "Frame skip is a powerful parameter for learning to play Atari".
    """
    if view.config("layers_looked") is None:
        return Skip("whether layers change a standard task was not looked at (firstbreak.monitor.world)")
    found = [said for said in (_acted(view), _shown(view, params), _timed(view)) if said]
    if not found:
        return None
    return Detection(
        message=f"the layers around {view.config('env_id')} {found[0][0]}",
        onset=view.onset(0.0),
        metric=found[0][1],
        evidence={name: value for _, _, name, value in found},
    )


Said = tuple[str, str, str, float] | None
"""What is said, the metric in which it shows, and the number that it rests on."""


def _acted(view: RunView) -> Said:
    swapped = view.number("layers_action_swapped")
    if swapped is None or swapped <= 0:
        return None
    return f"exchange its actions in {swapped:.0%} of the first episodes", "env/action_response", "swapped", swapped


def _shown(view: RunView, params: Params) -> Said:
    hidden, repeated = view.number("layers_hidden"), view.number("layers_repeated")
    if repeated is not None and repeated >= params.repeated:
        return (
            f"show the observation before once more at {repeated:.0%} of the steps",
            "env/held_frac",
            "repeated",
            repeated,
        )
    if hidden is not None and hidden > 0:
        return f"hold {hidden:.0f} entries of its observation still", "obs/constant_frac", "hidden", hidden
    return None


def _timed(view: RunView) -> Said:
    frames = view.number("layers_frames")
    if frames is None or frames <= 1 or view.number("frame_skip") == frames:
        return None
    # Such layers add up what the steps pay: it shows in the first row, lengths once an episode has ended.
    shown = "reward/env_mean" if view.has("reward/env_mean") else "episode/length_mean"
    return f"play {frames:.0f} of its steps for each action", shown, "frames", frames
