"""The rule `terminals-bootstrapped`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.view import Points, RunView

MEAN, STD = "reward/env_mean", "reward/env_std"
LOW, HIGH, CENTRE = "critic/target_min", "critic/target_max", "critic/target_mean"
LENGTH, CUT = "episode/length_mean", "episode/truncated_frac"


@dataclass(frozen=True)
class Params:
    """Thresholds of `terminals-bootstrapped`."""

    chance: float = 1e-6
    """Chance that so many batches in a row held no last step of an episode. Engineering default: one in a
    million, since every row of a run may begin such a stretch."""
    near: float = 0.1
    """Share of the way from the reward to the mean target within which a target may be that of a last step: some logs
    average the extremes of several batches. Engineering default."""
    repeated: int = 3
    """Rows that share their extreme target exactly, as rewards do that the trainer scales. Engineering default."""


DQN = synth.like("DQN", config={"gamma": 0.99, "batch_size": 64})
SAME = {MEAN: synth.constant(1.0), STD: synth.constant(0.0), LENGTH: synth.flat(60.0, 0.2), CUT: synth.constant(0.0)}
ONE = synth.constant(1.0)
CASES = (
    fires("no target is a last step's any more", lambda: DQN({**SAME, LOW: synth.after(0.5, synth.ramp(2, 20), ONE)})),
    fires("none ever was", lambda: DQN({**SAME, LOW: synth.clipped(synth.ramp(2, 20), 1.5, 99)})),
    healthy("the least target is the reward alone", lambda: DQN({**SAME, LOW: ONE})),
    near_miss(
        "last steps are so rare that many batches hold none",
        lambda: DQN({**SAME, LENGTH: synth.flat(5000.0, 0.1), LOW: synth.ramp(2, 20)}),
    ),
    near_miss(
        "all episodes end at the time limit",
        lambda: DQN({**SAME, CUT: synth.constant(1.0), LOW: synth.ramp(2, 20)}),
    ),
    near_miss("the trainer scales rewards", lambda: DQN({**SAME, LOW: synth.constant(10.0)})),
)


@rule(
    "CRT019",
    "terminals-bootstrapped",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    needs=(MEAN, STD, LENGTH, CUT),
    any_of=((LOW, HIGH),),
    needs_config=("batch_size",),
    when=("replay", "control"),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("q-divergence", "q-over-bound", "q-exceeds-return", "return-collapse", "reward-flat"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Episodes end by themselves, and no value target is that of a last step.

    What it means:
        Every step pays the same, so the target of a step that ends an episode is that reward alone, the least of all
        (the largest, where rewards are negative). Batch after batch holds none, though last steps are frequent.

    Why it matters:
        A value is taken from beyond the end of the episode: failing costs nothing any more, so it is not avoided.

    Usual causes:
        The done flag is not multiplied in, or is stored a step late; `terminated` is overwritten by the wrapper's
        `truncated`; the first observation of the next episode is bootstrapped from.

    What to try:
        Take one stored transition with `terminated`, and print reward, flag and the target that is made of it.

    When it is harmless:
        Where terminations are bootstrapped on purpose, to hide them from the agent.

    References:
        Sutton and Barto 2018, "Reinforcement Learning", section 3.4 (the value of a terminal state is 0).
    """
    paid, spread, length, cut = (view.get(name) for name in (MEAN, STD, LENGTH, CUT))
    assert paid is not None
    assert spread is not None
    assert length is not None
    assert cut is not None
    batch, reward = view.number("batch_size"), paid.last
    target = view.get(LOW if reward > 0 else HIGH)
    if spread.max > 0 or paid.max > paid.min or reward == 0 or batch is None or not len(target or ()):
        return None
    assert target is not None
    size = abs(reward) * (view.number("n_steps") or 1.0)
    mean = view.get(CENTRE)
    way = 0.0 if mean is None else np.maximum(np.abs(np.interp(target.step, mean.step, mean.value)) - size, 0.0)
    above = target.value * np.sign(reward) > size * (1 + 1e-6) + params.near * way
    start = above.size - int(np.argmin(above[::-1])) if not above.all() else 0
    if start >= above.size:
        return None
    if np.unique(target.value[start:], return_counts=True)[1].max() >= params.repeated:
        return Skip("the reward of the learner may be another than that of the environment", ("config reward_scale",))
    held = held_none(target.step[start:], length, cut, batch)
    if held > params.chance:
        return None
    return Detection(
        message=f"no last step among {above.size - start} batches of {batch:.0f}: chance {held:.1g}",
        onset=view.onset(float(target.step[max(start - 1, 0)]), float(target.step[start])),
        metric=target.metric,
        evidence={"batches": int(above.size - start), "chance": held, "reward": reward, "target": target.last},
    )


def held_none(rows: Floats, length: Points, cut: Points, batch: float) -> float:
    """Chance that batches at the steps `rows` [n], drawn from all steps so far, hold no step that ended an episode."""
    flags = np.interp(length.step, cut.step, cut.value)
    ends = (1 - flags) / np.maximum(length.value, 1.0)  # per step, in the row's own episodes
    so_far = np.minimum.accumulate(np.cumsum(ends) / np.arange(1, ends.size + 1))
    share = np.interp(rows, length.step, so_far)
    return float(np.exp(np.sum(batch * np.log1p(-np.minimum(share, 0.999)))))
