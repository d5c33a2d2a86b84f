"""The rule `replay-setting-moved`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.setting_moved import setting_moved
from firstbreak.view import RunView

SETTINGS = {
    "replay/capacity": "what the replay buffer can hold",
    "replay/train_interval": "the number of steps from update to update",
}


@dataclass(frozen=True)
class Params:
    """Thresholds of `replay-setting-moved`. Engineering defaults."""

    times: float = 3.0
    """Factor up or down. Far beyond what a buffer is grown by from phase to phase."""
    rest: int = 8
    """Rows before that had one and the same value: what a schedule moves has none."""
    lasts: int = 2
    """Rows on end that keep away from it."""


SAC = synth.like("SAC")
CAPACITY = "replay/capacity"
CASES = (
    fires("the buffer shrinks to some hundred rows", lambda: SAC({CAPACITY: synth.jump(1e6, 200.0, 0.6, 0.0)})),
    healthy("as it was", lambda: SAC({CAPACITY: synth.constant(1e6)})),
    near_miss("twice as large", lambda: SAC({CAPACITY: synth.jump(1e5, 2e5, 0.6, 0.0)})),
    near_miss("one row", lambda: SAC({CAPACITY: synth.spikes(1e6, 200.0, (0.6,), 0.0)})),
)


@rule(
    "DAT055",
    "replay-setting-moved",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    any_of=(tuple(SETTINGS),),
    min_points=10,
    params=Params(),
    cases=CASES,
    static=True,
    implies=(
        "replay-buffer-tiny",
        "replay-not-filling",
        "replay-stale",
        "replay-unlike-world",
        "update-ratio-off",
        "critic-moves-at-once",
        "q-divergence",
        "return-collapse",
        "smooth-decline",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """A setting of the replay buffer that had stood still was set anew while the run went on.

    What it means:
        What the buffer can hold, or how often it is learnt from, stood at one value for rows on end and is now at least
        three times or at most a third of it.

    Why it matters:
        A buffer of few rows holds the newest episodes alone: the critic forgets what the policy does not do at present.

    Usual causes:
        A buffer that is made anew at a resume, with another size; a place to write to that wraps early; a callback.

    What to try:
        Print size and place of the buffer beside the configured ones; find who wrote them at that step.

    When it is harmless:
        A change that you planned.

    References:
        Fedus et al. 2020, arXiv 2007.06700 (capacity and ratio of replay).
    """
    return setting_moved(view, SETTINGS, params)
