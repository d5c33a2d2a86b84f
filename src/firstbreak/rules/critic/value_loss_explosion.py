"""The rule `value-loss-explosion`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import sustained_jump
from firstbreak.view import Points, RunView

from .explained_variance_negative import RETURNS

ROUNDING = 1e-6
"""Share of a return by which equal ones differ in single precision."""


@dataclass(frozen=True)
class Params:
    """Thresholds of `value-loss-explosion`; engineering defaults where no source is named."""

    factor: float = 100.0
    """Growth of the critic's loss over its own opening, beyond the growth that the returns explain. Healthy PPO,
    SAC and DQN runs stay within a factor of about 40 before that correction."""
    blind_factor: float = 1e4
    """The same where no return is logged, so that growing returns cannot be ruled out."""
    certain: float = 1e6
    """Unexplained growth that makes it an error: a thousandfold error in units of the return."""
    opening: int = 8
    """Points whose median is the opening level (zeros left out)."""
    updates: int = 5
    """Consecutive points that must lie beyond; a single one `blind_factor` times above all before will do."""


PPO, DQN = synth.like("PPO"), synth.like("DQN")

UNEXPLAINED = {"critic/explained_variance": synth.jump(0.5, -2.0, at=0.4)}

CASES = (
    fires("one row a million times above all before", lambda: DQN({"critic/loss": synth.spikes(0.2, 2e5, (0.5,))})),
    near_miss("one row a hundred times above", lambda: DQN({"critic/loss": synth.spikes(0.2, 20, (0.5,))})),
    fires(
        "a hundred thousandfold in PPO",
        lambda: PPO({"critic/loss": synth.geometric(20, 5e8, begin=0.4), **UNEXPLAINED}),
    ),
    fires(
        "bootstrap diverges in DQN, return flat",
        lambda: DQN({"critic/loss": synth.geometric(0.02, 500), "reward/episode_return_mean": synth.flat(15, 0.1)}),
    ),
    fires(
        "a jump while the return goes on growing",
        lambda: PPO(
            {
                "critic/loss": synth.jump(80, 2e4, at=0.5),
                "critic/explained_variance": synth.flat(0.0),
                "reward/episode_return_mean": synth.ramp(20, 450, 0.02),
            }
        ),
    ),
    healthy("grows a little with the returns", lambda: DQN({})),
    healthy("falls", lambda: PPO({})),
    near_miss(
        "grows with the square of the return",
        lambda: PPO(
            {"critic/loss": synth.geometric(1, 2000), "reward/episode_return_mean": synth.geometric(10, 500, 0.03)}
        ),
    ),
    near_miss(
        "sparse reward found late",
        lambda: DQN(
            {
                "critic/loss": synth.jump(1e-6, 1e-2, at=0.5),
                "reward/episode_return_mean": synth.after(0.5, synth.ramp(0.0, 1.0), synth.constant(0.0)),
            }
        ),
    ),
    near_miss(
        "first successes where all episodes had cost the same",
        lambda: PPO(
            {
                "critic/loss": synth.jump(1e-3, 2.0, at=0.6),
                "critic/explained_variance": synth.flat(0.0),
                "reward/episode_return_mean": synth.after(0.6, synth.flat(-165, 0.1), synth.constant(-200.0)),
            }
        ),
    ),
    near_miss("single spikes at target updates", lambda: DQN({"critic/loss": synth.spikes(0.1, 60, at=(0.3, 0.6))})),
)


def return_growth(view: RunView, opening: int) -> float | None:
    """How many times larger returns became than in the opening: the largest |return| so far over the first ones'.

    At least 1; inf where they opened at zero; None when no return is logged.
    """
    returns = view.get(*RETURNS)
    if returns is None or len(returns) == 0:
        return None
    start = median(np.abs(returns.value[:opening]))
    top = max(abs(returns.max), abs(returns.min))
    return max(top / start, 1.0) if start > 0 else float("inf")


@rule(
    "CRT003",
    "value-loss-explosion",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.WARNING,
    needs=("critic/loss",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("critic-gradient-explosion", "grad-norm-explosion", "loss-explosion", "explained-variance-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The critic's loss grew far beyond its opening, and growing returns do not explain it.

    What it means:
        A squared error grows with the square of the returns. What is left after dividing by that growth is error the
        critic made itself.

    Why it matters:
        Gradients of a shared trunk are then the critic's alone, and advantages are mostly its error.

    Usual causes:
        Divergent bootstrapping; reward outliers; wrong termination mask; critic step too large; normaliser drift.

    What to try:
        Fit the critic on one stored batch with the actor frozen; then with targets recomputed from raw rewards.

    When it is harmless:
        A rise when a sparse reward is first found, also where all episodes had cost the same until then; single spikes
        when a target network is copied.

    References:
        van Hasselt et al. 2018, arXiv 1812.02648. Sutton and Barto 2018, section 11.3.
    """
    loss = view.get("critic/loss")
    assert loss is not None
    size = np.abs(loss.value)
    positive = size[size > 0]
    if positive.size < params.opening + params.updates:
        return None
    start = median(positive[: params.opening])
    growth = return_growth(view, params.opening)
    if growth is not None and not np.isfinite(growth):
        return None
    explained = 1.0 if growth is None else growth**2
    limit = params.blind_factor if growth is None else params.factor * explained
    over = persistent_onset(loss.step, size > limit * start, params.updates)
    jump = (_jump(view, loss, params) or _burst(view, loss, explained, params)) if over is None else None
    if over is None and jump is None:
        return None
    if over is not None and first_successes(view, over[1], params):
        return None
    ev = view.get("critic/explained_variance")
    if ev is not None and len(ev) and median(ev.value[-params.updates :]) > 0.5:
        return None
    if over is None:
        return jump
    ratio = float(size.max()) / start
    certain = growth is not None and ratio / explained >= params.certain
    return Detection(
        message=f"critic loss reached {ratio:.2g} times its opening level (returns explain {explained:.2g})",
        onset=view.onset(*over),
        metric=loss.metric,
        evidence={"growth": ratio, "explained_by_returns": explained, "opening_loss": start},
        severity=Severity.ERROR if certain else None,
    )


def _jump(view: RunView, loss: Points, params: Params) -> Detection | None:
    """Judge a lasting jump between two rows, across which the returns hardly grew."""
    found = sustained_jump(np.abs(loss.value), params.factor, params.updates)
    returns = view.get(*RETURNS)
    if found is None or returns is None:
        return None
    place, before = found
    then = np.abs(returns.value[returns.step < loss.step[place]])[-params.opening :]
    since = np.abs(returns.value[returns.step >= loss.step[place]])[: params.opening]
    if not then.size or not since.size or median(then) <= 0:
        return None
    explained = max(float(since.max()) / median(then), 1.0) ** 2
    after = float(np.abs(loss.value[place : place + params.updates]).min())
    if after < params.factor * explained * before or first_successes(view, float(loss.step[place]), params):
        return None
    return Detection(
        message=f"critic loss jumped {after / before:.2g}-fold and stayed (returns explain {explained:.2g})",
        onset=view.onset(loss.step[place - 1], loss.step[place]),
        metric=loss.metric,
        evidence={"growth": after / before, "explained_by_returns": explained, "loss_before": before},
    )


def first_successes(view: RunView, step: float, params: Params) -> bool:
    """Whether most episodes before `step` returned one and the same, and most right after it more than that.

    What never varied was foreseen exactly, so that any loss is many times as large.
    """
    returns = view.get(*RETURNS)
    if returns is None:
        return False
    before, since = returns.value[returns.step < step], returns.value[returns.step >= step][: params.opening]
    if not before.size or not since.size:
        return False
    usual = median(before)
    rounding = ROUNDING * abs(usual)
    return median(np.abs(before - usual)) <= rounding and median(since) > usual + rounding


def _burst(view: RunView, loss: Points, explained: float, params: Params) -> Detection | None:
    """Judge a single point that lies so far above all before that it was one step into other weights."""
    size = np.abs(loss.value)
    most = np.maximum.accumulate(size)[:-1]
    over = np.flatnonzero((size[1:] > params.blind_factor * explained * most) & (most > 0)) + 1
    over = over[over >= params.opening]
    if over.size == 0:
        return None
    place = int(over[0])
    return Detection(
        message=f"critic loss is {size[place] / most[place - 1]:.2g} times the most it ever was",
        onset=view.onset(loss.step[place - 1], loss.step[place]),
        metric=loss.metric,
        evidence={"growth": float(size[place] / most[place - 1]), "explained_by_returns": explained},
    )
