"""The rule `learning-never-starts`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `learning-never-starts`. Engineering defaults where no source is named."""

    late_share: float = 0.5
    """Warm-up over total steps from which the rest is too short to learn in. Published settings stay under a tenth
    (SB3's defaults: 100 steps of SAC and TD3); smoke tests reach a third."""


SAC = synth.like(
    "SAC",
    drop=(
        "critic/loss",
        "critic/q_mean",
        "critic/q2_mean",
        "policy/loss",
        "sac/alpha",
        "sac/alpha_loss",
        "policy/entropy",
        "optim/actor_grad_norm",
        "optim/critic_grad_norm",
    ),
    config={"learning_starts": 10_000, "total_steps": 8_000},
)
BUFFER = synth.like(
    "SAC",
    drop=("critic/loss", "critic/q_mean", "critic/q2_mean", "policy/loss"),
    config={"learning_starts": 10_000, "buffer_size": 5_000},
)
GOOD = synth.like("SAC", config={"learning_starts": 100, "total_steps": 8_000, "buffer_size": 100_000})
LATE = synth.like("SAC", config={"learning_starts": 108, "total_steps": 120, "buffer_size": 100_000})
SMOKE = synth.like("SAC", config={"learning_starts": 40, "total_steps": 120, "buffer_size": 100_000})
LEARNS = synth.like("SAC", config={"learning_starts": 10_000, "total_steps": 8_000})
LEARNT = ("critic/loss", "critic/q_mean", "policy/loss", "optim/loss_total")
"""What a run that learns logs of it."""
RETURN, PAID, SPREAD = "reward/episode_return_mean", "reward/env_mean", "reward/env_std"
"""Where it shows: until learning starts the return stays that of random play, and so does what a step is paid."""
CASES = (
    fires("warm-up longer than the run", lambda: SAC({})),
    fires("warm-up longer than the buffer", lambda: BUFFER({})),
    fires("nine tenths of the run are warm-up", lambda: LATE({})),
    healthy("short warm-up", lambda: GOOD({})),
    near_miss("the losses show that learning began", lambda: LEARNS({})),
    near_miss("a smoke test: a third is warm-up", lambda: SMOKE({})),
)


def began_all_the_same(view: RunView, starts: float, room: float | None) -> Detection | None:
    """Take back what was said before the first loss was logged: the warm-up is counted in collected steps."""
    if room is None or starts <= room:
        return None
    return Detection(
        message=f"warm-up of {starts:.6g} steps is larger than the buffer ({room:.6g} steps); learning began",
        onset=view.onset(0.0),
        metric="",
        evidence={"learning_starts_steps": starts, "buffer_size_steps": room},
        severity=Severity.INFO,
        excused_from=0.0,
    )


@rule(
    "DAT046",
    "learning-never-starts",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    needs_config=("learning_starts",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("reward-flat", "policy-frozen", "reward-constant", "epsilon-floor-early"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The configured warm-up is never over, or takes most of the run: next to no gradient step is taken.

    What it means:
        `learning_starts` is at or above the total number of steps, or above what the replay buffer can hold: an error.
        Above half of the total it is a warning.

    Why it matters:
        The run collects random data and learns nothing, without any error.

    Usual causes:
        A short test run with the settings of a long one; steps counted per environment in one place and over all of
        them in another.

    What to try:
        Log the number of gradient steps: it must rise.

    When it is harmless:
        When the log shows losses or gradient steps, learning did start whatever the configuration says. Some
        frameworks count collected steps instead of the buffer's content; then the buffer's size does not matter.

    References:
        Raffin et al. 2021, "Stable-Baselines3", off-policy parameters `learning_starts` and `buffer_size`.
    """
    starts, total, room = (view.number(k) for k in ("learning_starts", "total_steps", "buffer_size"))
    if starts is None:
        return Skip("learning_starts is not a number", ("config learning_starts",))
    losses = view.get(*LEARNT)
    updates = view.get("optim/n_updates")
    where = view.onset(0.0)
    if losses is not None or (updates is not None and updates.max > 0):
        return too_late(view, params, starts, total) or began_all_the_same(view, starts, room)
    if total is not None and starts >= total:
        return Detection(
            message=f"warm-up of {starts:.6g} steps is not over within the run's {total:.6g} steps",
            onset=where,
            metric=shown(view),
            evidence={"learning_starts_steps": starts, "total_steps": total},
        )
    if room is not None and starts > room:
        return Detection(
            message=f"warm-up of {starts:.6g} steps is larger than the buffer ({room:.6g} steps)",
            onset=where,
            metric=shown(view),
            evidence={"learning_starts_steps": starts, "buffer_size_steps": room},
            severity=Severity.WARNING,
        )
    return too_late(view, params, starts, total)


def too_late(view: RunView, params: Params, starts: float, total: float | None) -> Detection | None:
    """Describe a warm-up that takes most of the planned steps; one that a resumed run has behind it is none."""
    resumed = min((float(s.step[0]) for s in view.log.series if len(s)), default=0.0) > starts
    if total is None or resumed or not params.late_share * total < starts < total:
        return None
    return Detection(
        message=f"warm-up takes {starts / total:.0%} of the run ({starts:.6g} of {total:.6g} steps)",
        onset=view.onset(0.0),
        metric=shown(view),
        evidence={"learning_starts_steps": starts, "total_steps": total},
        severity=Severity.WARNING,
    )


def shown(view: RunView) -> str:
    """Return where it shows first: what a step is paid is of now, a return is a mean over many finished episodes.

    Where every step is paid the same, only the return says how well it plays. The first row must tell: the rule speaks
    at once.
    """
    paid, spread = view.get(PAID), view.get(SPREAD)
    return PAID if paid is not None and spread is not None and len(spread) and spread.max > 0 else RETURN
