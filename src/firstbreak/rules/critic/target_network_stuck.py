"""The rule `target-network-stuck`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `target-network-stuck`; engineering defaults where no source is named."""

    points: int = 10
    """Logged bootstrap targets that must agree to the last digit while Q itself moves."""
    rows: int = 20
    """Rows in which the weights of the target network never moved, from which on that counts."""
    share: float = 0.5
    """Share of the run that must have passed where they never moved: the first copy may be due late."""
    pauses: float = 5.0
    """Times the longest pause between two moves so far that the newest pause must last."""


SETTINGS = {"tau": 0.005, "target_update_interval": 1, "total_steps": 100_000}
SAC, DQN = synth.like("SAC", config=SETTINGS), synth.like("DQN")

FEW = {"tau": 1.0, "target_update_interval": 10_000, "total_steps": 15_000}
LATE = synth.like("DQN", clock="env_steps", step=125.0, config=FEW)

DELTA = "critic/target_delta"


def copied(t: Floats, rng: np.random.Generator) -> Floats:
    """A copy every eight rows [n], nothing between."""
    return np.where(np.arange(t.size) % 8 == 0, 0.1 + 0.02 * rng.random(t.size), 0.0)


CASES = (
    fires("tau is 0", lambda: synth.like("SAC", config={**SETTINGS, "tau": 0.0})({})),
    fires(
        "first copy after the end",
        lambda: synth.like("DQN", config={"tau": 1.0, "target_update_interval": 10_000, "total_steps": 5_000})({}),
    ),
    fires("its weights never move", lambda: DQN({DELTA: synth.constant(0.0)})),
    fires("copies cease in mid-run", lambda: DQN({DELTA: synth.after(0.5, synth.constant(0.0), copied)})),
    near_miss("a copy every eight rows", lambda: DQN({DELTA: copied})),
    near_miss(
        "the one copy comes when it is due, late in the run", lambda: LATE({DELTA: synth.spikes(0.0, 0.3, (0.67,), 0)})
    ),
    fires("the one copy comes later than it is due", lambda: LATE({DELTA: synth.spikes(0.0, 0.3, (0.9,), 0)})),
    near_miss("one late copy", lambda: DQN({DELTA: synth.spikes(0.0, 0.3, at=(0.4,), noise=0.0)})),
    fires("targets never move", lambda: DQN({"critic/target_mean": synth.constant(0.25)})),
    healthy("soft updates", lambda: SAC({})),
    near_miss(
        "hard copies every 500 steps",
        lambda: synth.like("DQN", config={"tau": 1.0, "target_update_interval": 500, "total_steps": 50_000})({}),
    ),
    near_miss("targets move", lambda: DQN({"critic/target_mean": synth.ramp(0.5, 60)})),
)


@rule(
    "CRT012",
    "target-network-stuck",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    when=("q_function",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("critic-not-learning", "reward-flat", "q-divergence"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The target network never changes, so the critic learns the values of an untrained one.

    What it means:
        The soft-update rate is 0, or the first copy is due after the run ends, or the logged targets or the weights of
        the target network do not move, or no longer move.

    Why it matters:
        The bootstrap then looks one step ahead only; nothing further in the future reaches the critic.

    Usual causes:
        tau given as its complement (1 - tau); an interval counted in other units than meant; a default interval on a
        short run; the copy made from the wrong network.

    What to try:
        Log the distance between the two networks' weights: it must neither stay 0 nor only grow.

    When it is harmless:
        Never in a bootstrapping method; with n-step returns longer than the episode the target is not used.

    References:
        Mnih et al. 2015, doi 10.1038/nature14236, methods. Lillicrap et al. 2016, arXiv 1509.02971.
    """
    tau, interval, total = (view.number(k) for k in ("tau", "target_update_interval", "total_steps"))
    if tau is not None and tau <= 0:
        return Detection(
            message=f"tau is {tau:g}: the target network is never moved towards the critic",
            onset=view.onset(_start(view)),
            metric="critic/loss",
            evidence={"tau": tau},
        )
    if interval is not None and total is not None and 0 < total < interval:
        return Detection(
            message=f"the target network is first copied after {interval:g} steps, the run has {total:g}",
            onset=view.onset(_start(view)),
            metric="critic/loss",
            evidence={"target_update_interval_steps": interval, "total_steps": total},
            severity=Severity.WARNING,
        )
    delta = view.get(DELTA)
    if delta is not None and len(delta) >= params.rows:
        return still(view, delta, params)
    target = view.get("critic/target_mean")
    if target is None:
        known = tau is not None or (interval is not None and total is not None)
        return None if known else Skip("no target setting or target value known", ("config tau", "critic/target_mean"))
    q = view.get("critic/q_mean")
    moves = q is not None and len(q) > 1 and q.max > q.min
    if len(target) >= params.points and target.max == target.min and target.max != 0 and moves:
        return Detection(
            message=f"the mean bootstrap target is exactly {target.last:g} at all {len(target)} points while Q moves",
            onset=view.onset(target.step[0]),
            metric=target.metric,
            evidence={"target_mean": target.last, "points": len(target)},
        )
    return None


def still(view: RunView, delta: Points, params: Params) -> Detection | None:
    """Return that the measured weights of the target network stand still: never moved, or no longer do."""
    critic = view.get("critic/weight_delta", "critic/loss")
    if critic is None or critic.max <= 0:
        return None
    moves = np.flatnonzero(delta.value > 0)
    if not moves.size:
        share = progress(view)
        if not ended(view) and (share is None or share < params.share):
            return None
        if not ended(view) and due_later(view, delta):
            return None
        message, at = f"the target network's weights did not move in {len(delta)} rows", 0
    else:
        pause, usual = len(delta) - 1 - int(moves[-1]), int(np.diff(moves, prepend=-1).max())
        if moves.size < 3 or pause < max(params.rows, params.pauses * usual):
            return None
        message, at = f"the target network's weights have not moved in the last {pause} rows", int(moves[-1])
    return Detection(
        message=message,
        onset=view.onset(float(delta.step[at]), float(delta.step[min(at + 1, len(delta) - 1)])),
        metric=DELTA,
        evidence={"rows": len(delta), "moves": int(moves.size)},
    )


def due_later(view: RunView, delta: Points) -> bool:
    """Whether the first copy of the configured interval is still due, or would show in a row that is not there yet."""
    interval = view.number("target_update_interval")
    if interval is None or view.clock != "env_steps":
        return False
    return float(delta.step[-1]) < interval + 2 * median(np.diff(delta.step))


def _start(view: RunView) -> float:
    """Return where the log begins; not asked of a sound run, as a monitor has to put every series together for it."""
    return min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0)
