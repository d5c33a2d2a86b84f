"""The rule `run-stalled`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.runlog import RunLog
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `run-stalled`: engineering defaults, except where a source is named."""

    rows: int = 1
    """Rows that must have been written: a run without any has not begun."""


PPO = synth.like("PPO")


def _in_state(state: str) -> Callable[[dict[str, synth.Shape]], RunLog]:
    """Build healthy runs of PPO that are in `state`."""
    return lambda changes: replace(synth.like("PPO")(changes), state=state)


STALLED, RUNNING = _in_state("stalled"), _in_state("running")

CASES = (
    fires("stopped writing", lambda: STALLED({})),
    healthy("finished", lambda: PPO({})),
    near_miss("still running", lambda: RUNNING({})),
)


@rule(
    "SYS009",
    "run-stalled",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.WARNING,
    params=Params(),
    cases=CASES,
    across_phases=True,
)
def detect(view: RunView, params: Params) -> Answer:
    """The run stopped writing before it ended.

    What it means:
        Its files say that it is going on, but nothing has been written for much longer than its usual pace.

    Why it matters:
        A hang costs the whole allocation and looks like a slow step.

    Usual causes:
        A collective that one rank never joins; a dead worker; a full disk; a killed process.

    What to try:
        Dump the stacks of all ranks; see which one waits alone; restart from the last checkpoint.

    When it is harmless:
        A long evaluation or checkpoint; a run that was stopped by hand without closing its log.

    References:
        PyTorch documentation, NCCL time-outs and the flight recorder.
    """
    if view.log.state != "stalled" or view.hi < view.log.last_step:
        return None
    rows = max((len(s) for s in view.log.series), default=0)
    if rows < params.rows:
        return None
    longest = max(view.log.series, key=len)
    return Detection(
        message=f"Nothing was written after {view.clock} {view.log.last_step:.6g}, and the run has not ended",
        onset=view.onset(view.log.last_step),
        metric=longest.metric,
        evidence={"last_step": view.log.last_step, "rows": rows},
    )
