"""The rule `q-over-bound`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity, Skip
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal.return_below_start import per_step
from firstbreak.stats import persistent_onset
from firstbreak.view import RunView

MEANS = ("critic/q_mean", "critic/q2_mean", "critic/target_mean")
PAID = ("reward/env_min", "reward/env_max")
EXTREMES = ("critic/q_max", "critic/target_max", "critic/q_min", "critic/target_min")


@dataclass(frozen=True)
class Params:
    """Thresholds of `q-over-bound`; engineering defaults where no source is named."""

    mean_factor: float = 1.5
    """How far a batch mean may pass the bound. 1 is exact for exact values; the margin is approximation error
   ."""
    extreme_factor: float = 3.0
    """The same for the largest or smallest value of a batch, which errors of single states reach. Engineering
    default."""
    points: int = 3
    """Consecutive points beyond; a single one is enough at ten times the limit."""
    exact_factor: float = 1.15
    """`mean_factor` where every step of the run paid one and the same, so that the bound is that of the task: no state
    has more ahead. Healthy runs of DQN on such tasks (ordinary logs and the development half of the fault benchmark,
    2026-11-26) reach 0.73."""
    exact_points: int = 8
    """Consecutive points beyond that."""
    entropy_nats: float = 20.0
    """Entropy per step assumed for the bonus of maximum-entropy methods where neither entropy nor action dimension is
    logged: generous on purpose."""


SAC = synth.like("SAC", config={"gamma": 0.99, "reward_max": 0.0, "reward_min": -16.0})
BOUNDED = synth.like("DQN", config={"gamma": 0.99, "reward_max": 20.0, "reward_min": 0.0})
RISES = synth.ramp(20, 180, 0.0)
SAME = {"reward/episode_return_mean": RISES, "episode/length_mean": RISES}
ALIKE = synth.like("DQN", config={"gamma": 0.99})

CASES = (
    fires("ten times what rewards allow", lambda: BOUNDED({"critic/q_mean": synth.geometric(1, 3e5)})),
    fires(
        "bound from the logged step rewards",
        lambda: synth.like("DQN", config={"gamma": 0.9})(
            {"critic/q_mean": synth.ramp(0, 5000), "reward/step_max": synth.flat(1.0)}
            | {"reward/step_mean": synth.flat(0.5)}
        ),
    ),
    fires(
        "bound from all that the environment paid",
        lambda: synth.like("SAC", config={"gamma": 0.9})(
            {"critic/q_mean": synth.ramp(0, -5000), "sac/alpha": synth.constant(0.01)}
            | {"reward/env_min": synth.flat(-3.0), "reward/env_max": synth.flat(-0.5)}
        ),
    ),
    fires(
        "beyond 1 / (1 - gamma) where every step pays 1", lambda: ALIKE(SAME | {"critic/q_mean": synth.ramp(0, 140)})
    ),
    near_miss(
        "rewards that are normalised on their way",
        lambda: synth.like("PPO", config={"gamma": 0.9, "normalize_reward": True})(
            {"critic/target_mean": synth.flat(2.8), PAID[0]: synth.flat(0.1), PAID[1]: synth.flat(0.1)}
        ),
    ),
    healthy("within the bound", lambda: SAC({})),
    healthy("a third of the bound", lambda: BOUNDED({"critic/q_mean": synth.ramp(0, 60)})),
    near_miss("up to it where every step pays 1", lambda: ALIKE(SAME | {"critic/q_mean": synth.ramp(0, 104)})),
    near_miss("one overshoot of a tenth", lambda: BOUNDED({"critic/q_mean": synth.spikes(20, 2200, at=(0.5,))})),
    near_miss(
        "entropy bonus lifts the bound",
        lambda: synth.like("SAC", config={"gamma": 0.99, "reward_max": 0.1, "reward_min": -0.1, "action_dim": 6})(
            {"critic/q_mean": synth.flat(18), "critic/q2_mean": synth.flat(18), "sac/alpha": synth.constant(0.2)}
        ),
    ),
)


def entropy_bonus(view: RunView, gamma: float, assumed_nats: float) -> float:
    """The most that an entropy bonus can add to |Q|: max alpha times |entropy| / (1 - gamma); 0 without a temperature.

    Where entropy is not logged, the target entropy and the action dimension stand in, else `assumed_nats`.
    """
    alpha = view.get("sac/alpha")
    if alpha is None or len(alpha) == 0:
        return 0.0
    known = [abs(view.number("target_entropy") or 0.0), view.number("action_dim") or 0.0]
    entropy = view.get("policy/entropy")
    if entropy is not None and len(entropy):
        known.append(max(abs(entropy.max), abs(entropy.min)))
    nats = max(known) or assumed_nats
    return max(alpha.max, 0.0) * nats / (1 - gamma)


def largest_reward(view: RunView) -> tuple[float, bool] | None:
    """The largest |reward| of one step and whether it is declared (True) or only observed; None when unknown.

    Both ends are needed: a known maximum says nothing about how negative a reward may be.
    """
    ends = [view.number("reward_max"), view.number("reward_min")]
    if ends[0] is not None and ends[1] is not None:
        return max(abs(ends[0]), abs(ends[1])) * abs(view.number("reward_scale") or 1.0), True
    paid = [view.get(name) for name in PAID]
    if all(p is not None and len(p) for p in paid):  # every reward that the environment paid so far
        most = max(max(abs(p.max), abs(p.min)) for p in paid if p is not None)
        return (most * abs(view.number("reward_scale") or 1.0), False) if most > 0 else None
    top, mean = view.get("reward/step_max"), view.get("reward/step_mean")
    if top is None or mean is None or not len(top) or not len(mean) or mean.min < 0 or top.max <= 0:
        return None
    return top.max * abs(view.number("reward_scale") or 1.0), False


@rule(
    "CRT005",
    "q-over-bound",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    any_of=((*MEANS, *EXTREMES),),
    needs_config=("gamma",),
    params=Params(),
    cases=CASES,
    static=True,
    implies=("q-divergence", "q-exceeds-return", "value-loss-explosion", "critic-gradient-explosion"),
)
def detect(view: RunView, params: Params) -> Answer:
    """Q values are larger than any sequence of rewards could make them.

    What it means:
        A discounted sum of rewards of size at most R cannot exceed R / (1 - gamma); an entropy bonus adds at most
        alpha H / (1 - gamma). The critic's values lie beyond both.

    Why it matters:
        The policy climbs an estimate that no behaviour can earn.

    Usual causes:
        Overestimation fed back through the bootstrap; missing termination mask; target network without lag; reward
        scaled on its way to the learner but not in the log.

    What to try:
        Recompute one batch of targets by hand from raw rewards, done flags and the target network.

    When it is harmless:
        When the learner's reward is scaled and the bound was given for the raw one: state `reward_scale`. Where the
        settings say that rewards are normalised, what the environment paid is no bound, and nothing is said.

    References:
        van Hasselt et al. 2016, arXiv 1509.06461. Fujimoto et al. 2018, arXiv 1802.09477. Haarnoja et al. 2018,
        arXiv 1801.01290.
    """
    gamma = view.number("gamma")
    if gamma is None or not 0 <= gamma < 1:
        return Skip("without discounting (gamma 1) Q has no bound", ("config gamma",))
    reward, alike = largest_reward(view), abs(per_step(view)) * abs(view.number("reward_scale") or 1.0)
    if reward is None and not alike:
        return Skip("the largest reward of a step is not known", ("config reward_max", "config reward_min"))
    size, declared = reward or (alike, False)
    if not declared and str(view.config("normalize_reward", "")).lower() in ("true", "1"):
        return Skip("rewards are normalised on their way to the critic", ("config reward_max", "config reward_min"))
    exact = reward is None
    bound = size / (1 - gamma) + entropy_bonus(view, gamma, params.entropy_nats)
    if bound <= 0:
        return None
    for metric in (*MEANS, *EXTREMES):
        q = view.get(metric)
        if q is None or len(q) == 0:
            continue
        mean = params.exact_factor if exact else params.mean_factor
        limit = bound * (mean if metric in MEANS else params.extreme_factor)
        values = np.abs(q.value)
        over = persistent_onset(q.step, values > limit, params.exact_points if exact else params.points)
        if over is None:
            over = persistent_onset(q.step, values > 10 * limit, 1)
        if over is None:
            continue
        worst = float(values.max())
        return Detection(
            message=f"|Q| reached {worst:.3g}; rewards of at most {size:.3g} allow {bound:.3g}",
            onset=view.onset(*over),
            metric=metric,
            evidence={"q_abs_max": worst, "bound": bound, "reward_abs_max": size, "gamma": gamma},
            severity=None if declared else Severity.WARNING,
        )
    return None
