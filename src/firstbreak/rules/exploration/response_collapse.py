"""The rule `response-collapse`."""

from __future__ import annotations

from dataclasses import dataclass

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.stats import median, persistent_onset
from firstbreak.stats.level import level, opening
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `response-collapse`: engineering defaults, except where a source is named."""

    silent: float = 0.95
    """Share of silent groups on each of the newest points."""
    points: int = 10
    """Consecutive newest points."""
    length_spread: float = 0.1
    """Longest minus shortest response over the mean length, under which responses are of one length."""
    entropy_frac: float = 0.05
    """Token entropy over its opening, the other sign that responses are alike."""
    shortfall: float = 0.25
    """Distance of the recent reward from the best that excludes "solved"."""
    swing: float = 0.2
    """Recent interquartile range of the batch reward over its whole range: with silent groups only the prompts drawn
    can move it."""


GRPO = synth.like("GRPO")
SILENT = synth.clipped(synth.after(0.5, synth.constant(1.0), synth.ramp(0.2, 0.9)), 0, 1)
ALIKE = {
    "group/zero_std_fraction": SILENT,
    "policy/entropy": synth.geometric(1.2, 0.01, 0.05, until=0.5),
}
FALLEN = synth.after(0.5, synth.flat(0.05, 0.1), synth.ramp(0.1, 0.6, 0.03, until=0.5))

REWARDS = ("reward/train_mean", "reward/rollout_mean", "reward/final_mean")

CASES = (
    fires("one answer whatever the prompt", lambda: GRPO(ALIKE | {"reward/train_mean": FALLEN})),
    healthy("lively groups", lambda: GRPO({})),
    near_miss("solved: alike and at the ceiling", lambda: GRPO(ALIKE)),
    near_miss(
        "silent groups of varied length", lambda: GRPO({"group/zero_std_fraction": SILENT, "reward/train_mean": FALLEN})
    ),
)


@rule(
    "EXP014",
    "response-collapse",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.ERROR,
    needs=("group/zero_std_fraction",),
    any_of=(("reward/train_mean", "reward/rollout_mean", "reward/final_mean"),),
    when=("language",),
    min_points=10,
    params=Params(),
    cases=CASES,
    implies=("zero-std-groups", "grad-norm-zero", "reward-std-collapse", "reward-flat", "template-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Every prompt gets the same answer, and that answer is mostly wrong.

    What it means:
        Groups are silent, responses are of one length or token entropy is gone, and the reward is far from its
        ceiling: what the batch earns depends only on which prompts were drawn.

    Why it matters:
        No group has a spread of rewards, so there is no gradient left to undo it.

    Usual causes:
        Learning rate too high for the batch; a reward that one fixed answer earns often enough; no KL anchor.

    What to try:
        Print the responses to ten prompts. Roll back to before the entropy fell, with a lower learning rate.

    When it is harmless:
        A solved task looks alike but for the reward: there it sits still at its ceiling.

    References:
        Wang et al. 2025 (RAGEN), arXiv 2504.20073 (echo trap). Cui et al. 2025, arXiv 2505.22617.
    """
    silent, reward = view.get("group/zero_std_fraction"), view.get(*REWARDS)
    assert silent is not None
    assert reward is not None
    quiet = silent.value >= params.silent
    if not bool(quiet[-params.points :].all()) or len(silent) < params.points or len(reward) < params.points:
        return None
    sign = _alike(view, params)
    if sign is None:
        return Skip("whether responses are alike cannot be seen", ("seq/len_std", "policy/entropy"))
    stand = level(reward.value)
    poor = stand.shortfall > params.shortfall
    if not sign or stand.rising or not (poor or (stand.spread >= params.swing and stand.shortfall > 0)):
        return None
    top = view.number("reward_max")
    if top is not None and stand.recent >= 0.95 * top:
        return None
    onset = persistent_onset(silent.step, quiet, params.points)
    assert onset is not None
    return Detection(
        message=f"All groups answer alike ({sign}); reward {stand.recent:.3g} against a best of {stand.best:.3g}",
        onset=view.onset(*onset),
        metric=silent.metric,
        evidence={"silent_frac": silent.last, "reward": stand.recent, "best": stand.best, "swing_frac": stand.spread},
    )


def _alike(view: RunView, params: Params) -> str | None:
    """Name the sign that responses are alike; empty where there is none, None where none could be looked for."""
    entropy, mean = view.get("policy/entropy"), view.get("seq/len_mean")
    longest, shortest, spread = view.get("seq/len_max"), view.get("seq/len_min"), view.get("seq/len_std")
    n, looked = params.points, False
    if entropy is not None and len(entropy) >= n and opening(entropy.value) > 0:
        share = median(entropy.value[-n:]) / opening(entropy.value)
        if share <= params.entropy_frac:
            return f"entropy {share:.1%} of its opening"
        looked = True
    if mean is not None and len(mean) >= n and median(mean.value[-n:]) > 0:
        if spread is not None and len(spread) >= n:
            width: float | None = 2 * median(spread.value[-n:])
        elif longest is not None and shortest is not None and min(len(longest), len(shortest)) >= n:
            width = median(longest.value[-n:]) - median(shortest.value[-n:])
        else:
            width = None
        if width is not None:
            if width <= params.length_spread * median(mean.value[-n:]):
                return f"length spread {width:.2g} tokens"
            looked = True
    return "" if looked else None
