"""The rule `deterministic-from-start`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import TRAIN, rises
from firstbreak.view import RunView

CONTINUOUS = ("policy/action_std", "policy/action_std_min", "policy/action_std_max")


@dataclass(frozen=True)
class Params:
    """Thresholds of `deterministic-from-start`. Engineering defaults."""

    none: float = 0.01
    """Entropy in nats under which a choice is made before it is tried: one action has 99.9 % of the chance of two. An
    untrained policy of two actions has 0.69."""
    most: float = 0.05
    """Entropy that no row exceeds."""
    rows: int = 5
    """First rows that must show it."""
    settled: int = 12
    """Rows after which the return, which must not rise from then on, is one of a policy that tried nothing."""


PPO = synth.like("PPO")
STEADY = {"reward/episode_return_mean": synth.flat(22.0, 0.05), "episode/length_mean": synth.flat(22.0, 0.05)}
LITTLE = synth.clipped(synth.flat(0.001, 0.8), 0.0, 1.0)
CASES = (
    fires("no entropy from the first row on", lambda: PPO({**STEADY, "policy/entropy": LITTLE})),
    healthy("entropy of an untrained policy", lambda: PPO({})),
    near_miss("it learns all the same", lambda: PPO({"policy/entropy": LITTLE})),
    near_miss("a column of zeros: not computed", lambda: PPO({**STEADY, "policy/entropy": synth.constant(0.0)})),
    near_miss("commits later", lambda: PPO({**STEADY, "policy/entropy": synth.geometric(0.69, 0.001, 0.02)})),
)


@rule(
    "EXP046",
    "deterministic-from-start",
    link=Link.EXPLORATION,
    component=Component.SAMPLER,
    severity=Severity.WARNING,
    needs=("policy/entropy",),
    any_of=(TRAIN,),
    when=("control", "on_policy", "policy_gradient"),
    min_points=16,
    params=Params(),
    cases=CASES,
    across_phases=True,
    implies=("reward-flat", "policy-frozen", "grad-norm-zero", "entropy-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The policy has no entropy from its first row on, and the return does not rise.

    What it means:
        A new policy over discrete actions is near uniform. This one has settled on one action in each state before
        anything was learned.

    Why it matters:
        An action that is never tried earns nothing and is never learned.

    Usual causes:
        A softmax with a temperature far below 1, or of logits that are scaled up; a last layer that begins with large
        weights; the greedy action taken where one should be drawn.

    What to try:
        Print the probabilities of an untrained policy in ten states: they should be near one over the number of
        actions.

    When it is harmless:
        A policy that was loaded, or imitates an expert.

    References:
        Andrychowicz et al. 2021, arXiv 2006.05990 (a last layer with small weights).
    """
    entropy, reward = view.get("policy/entropy"), view.get(*TRAIN)
    assert entropy is not None
    assert reward is not None
    discrete = entropy.min >= 0 and all(view.get(name) is None for name in CONTINUOUS)
    resumed = float(entropy.source.step[0]) > 20 * entropy.cadence > 0
    if not discrete or resumed or not 0 < entropy.max <= params.most:
        return None
    if entropy.value[: params.rows].max() > params.none or len(reward) <= 2 * params.settled:
        return None
    later = replace(reward, step=reward.step[params.settled :], value=reward.value[params.settled :])
    if rises(later):
        return None
    return Detection(
        message=f"entropy is at most {entropy.max:.2g} nats in all {len(entropy)} rows, from the first one on",
        onset=view.onset(float(entropy.source.step[0])),
        metric=entropy.metric,
        evidence={"entropy_max_nats": float(entropy.max), "entropy_first_nats": float(entropy.value[0])},
    )
