"""The rule `reward-scale-mismatch`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, from_start
from firstbreak.series import Floats
from firstbreak.stats import median, persistent_onset
from firstbreak.view import Points, RunView
from firstbreak.vocabulary import traits_of


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-scale-mismatch`. Engineering defaults where no source is named."""

    factor: float = 10.0
    """Learner's value scale over what the raw reward allows. A healthy learner stays below 1; rewards of mixed sign
    and early overestimation are given a factor of ten."""
    opening_alone: float = 4.0
    """As `opening_factor`, where it suffices alone: a learner of Q values, whose first errors are rewards, and whose
    errors have not grown since. Healthy recorded runs stay below 0.2."""
    opening_factor: float = 2.0
    """Root of the first critic losses over the largest per-step reward that the raw return allows. Before values
    have grown, the temporal difference is the reward itself, so this tells a wrong scale from a critic that diverged
    later."""
    untrained: float = 0.3
    """Opening error under which nothing is said: a freshly made network errs by about a tenth on a reward of 0,
    whatever the scale of the rewards that come later."""
    gamma_unknown: float = 0.999
    """Discount that is assumed when it is not known: larger ones are rare, and it makes the bound wider."""
    rows: int = 2
    """Consecutive rows beyond the bound."""
    outgrown: float = 30.0
    """Growth of the root of the critic's loss over its opening, beyond that of the returns, that no factor on the
    reward explains. Healthy PPO runs stay within a factor of about 6 (the root of 40, see `value-loss-explosion`)."""
    scatter: float = 0.5
    """The same of its usual move from one row to the next, in powers of ten. A factor on the reward leaves it as it
    is: recorded runs of on-policy learners stay below 0.15."""

    first_entropy: float = 0.03
    """Distance of the largest loss from the logarithm of a usual number of atoms, as a share of it, within which it may
    be a cross-entropy."""


ATOMS = (11, 21, 51, 101)
"""Numbers of atoms that distributional critics usually have (Bellemare et al. 2017: 51; CleanRL: 51 and 101)."""
OPENING = 3
"""Rows that count as the opening."""
RETURN, VALUES = "reward/episode_return_mean", "critic/q_mean"
DQN = synth.like("DQN", config={"gamma": 0.99})
C51 = synth.like("DQN", config={"gamma": 0.99, "n_atoms": 51})
SAC = synth.like("SAC", config={"gamma": 0.99}, n=12)
UNKNOWN = synth.like("SAC", drop=("critic/q_mean", "critic/q2_mean"))
PPO = synth.like("PPO", config={"gamma": 0.99})
BIG = {
    "critic/q_mean": synth.ramp(-5e3, -2e5, 0.02),
    "critic/loss": synth.flat(3e6, 0.2),
    "policy/loss": synth.ramp(5e3, 2e5, 0.02),
    "reward/episode_return_mean": synth.ramp(-1350, -1220, 0.02),
}
EARLY = {"critic/loss": synth.geometric(4e5, 3e4, 0.1), "policy/loss": synth.ramp(30, 5000), RETURN: BIG[RETURN]}
LARGE = synth.geometric(4e7, 9e7, 0.1)
SPARSE = {"critic/loss": synth.flat(5e-4, 0.2), "critic/q_mean": synth.ramp(0.01, 0.4)}
CANCEL = {"critic/loss": synth.flat(0.4, 0.05), VALUES: synth.ramp(0.03, 0.9), RETURN: synth.ramp(-0.35, -0.1, 0.0)}
RARE = {"critic/loss": synth.flat(0.4, 0.2), "critic/q_mean": synth.ramp(0.3, 0.4)}


def compounded(t: Floats, rng: np.random.Generator) -> Floats:
    """Squared errors [n] of returns that are multiplied along each episode: by how much, its length says."""
    return 10.0 ** rng.normal(15.0, 2.0, t.size)


CASES = (
    near_miss(
        "a cross-entropy over 51 atoms begins at its logarithm, whatever is paid",
        lambda: C51(
            {RETURN: synth.flat(-1.2, 0.1), "critic/loss": synth.ramp(3.9, 1.7, 0.0), VALUES: synth.flat(4.0, 0.05)}
        ),
    ),
    near_miss(
        "one episode in a hundred has succeeded, and a new network errs by more than its mean return",
        lambda: DQN(SPARSE | {RETURN: synth.clipped(synth.ramp(-0.3, 1.0, 0.0), 0, 1)}),
    ),
    near_miss(
        "rewards of either sign, that cancel in the mean return",
        lambda: DQN(CANCEL | {"reward/env_min": synth.flat(-5.0, 0.02), "reward/env_max": synth.flat(0.8, 0.02)}),
    ),
    near_miss(
        "payments of 20 in few episodes", lambda: DQN(RARE | {RETURN: synth.clipped(synth.ramp(-0.3, 0.2, 0.0), 0, 1)})
    ),
    fires("training reward a thousandfold, few rows", lambda: SAC(BIG)),
    fires("the same, discount and Q unknown", lambda: UNKNOWN({k: v for k, v in BIG.items() if k != "critic/q_mean"})),
    fires(
        "temporal differences impossible under the raw return, values not yet grown",
        lambda: UNKNOWN(EARLY),
    ),
    fires("value loss impossible under the raw return", lambda: PPO({"critic/loss": LARGE})),
    near_miss("errors that compound along each episode: not one factor", lambda: PPO({"critic/loss": compounded})),
    near_miss(
        "a distributional critic, whose loss is a cross-entropy (C51), on small returns",
        lambda: DQN(
            {
                "critic/loss": synth.ramp(3.9, 1.6, 0.02),
                "critic/q_mean": synth.ramp(0.0, -0.6, 0.02),
                "reward/episode_return_mean": synth.ramp(-1.4, -0.3, 0.1),
            }
        ),
    ),
    near_miss(
        "rewards that are normalised before the learner sees them",
        lambda: synth.like("PPO", config={"gamma": 0.99, "normalize_reward": True})({"critic/loss": LARGE}),
    ),
    healthy("SAC on the raw reward", lambda: SAC({})),
    healthy("PPO on the raw reward", lambda: PPO({})),
    near_miss(
        "critic diverges later: another disease",
        lambda: SAC({"critic/q_mean": synth.geometric(5, 1e6, 0.1), "critic/loss": synth.geometric(0.3, 1e9, 0.1)}),
    ),
    near_miss(
        "rewards scaled down on purpose",
        lambda: SAC(
            {
                "critic/q_mean": synth.ramp(-0.1, -0.7),
                "policy/loss": synth.ramp(0.1, 0.7),
                "critic/loss": synth.flat(1e-5, 0.2),
            }
        ),
    ),
)


@rule(
    "RWD003",
    "reward-scale-mismatch",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    needs=("critic/loss",),
    any_of=(("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return"),),
    when=("control",),
    params=Params(),
    cases=CASES,
    static=True,
    across_phases=True,
    implies=(
        "q-divergence",
        "q-over-bound",
        "q-exceeds-return",
        "alpha-runaway",
        "value-loss-explosion",
        "critic-not-learning",
        "value-scale-mismatch",
        "return-scale-unnormalised",
        "grad-norm-explosion",
        "critic-gradient-explosion",
        "entropy-stuck-high",
        "entropy-growing",
        "reward-flat",
        "loss-explosion",
        "policy-loss-spike",
        "action-std-growth",
        "train-eval-gap",
    ),
)
def detect(view: RunView, params: Params) -> Answer:
    """The learner's values are on a scale that the logged reward cannot produce.

    What it means:
        Q values, or errors of the value function, exceed by far both the largest logged return and the mean reward per
        step over (1 - discount); and the critic's loss was out of proportion from its first row.

    Why it matters:
        What the learner maximises is not what the log shows. Step sizes, temperature and clipping are tuned for
        another scale, so learning is slow or unstable although the environment is fine.

    Usual causes:
        A reward-scaling wrapper inside the monitor; a reward multiplied in the replay buffer; units changed in the
        environment but not in the agent.

    What to try:
        Print the reward inside the learner next to the environment's; divide by their ratio and run 10 % of the steps.

    When it is harmless:
        Scaling down on purpose is not reported, nor are rewards that the settings (`normalize_reward`) say are
        normalised. A critic that diverges later has a small loss at first and is left to the critic's rules, as are
        errors that grow or scatter by powers of ten: one factor does not make those.

    References:
        Henderson et al. 2018, "Deep RL that matters", arXiv 1709.06560, section on reward scale. The bound is
        |Q| <= max |r| / (1 - gamma), plus the entropy bonus in SAC (Haarnoja et al. 2018, arXiv 1801.01290).
    """
    returns = view.get("reward/raw_episode_return", "reward/episode_return_mean", "reward/episode_return")
    loss = view.get("critic/loss")
    assert returns is not None
    assert loss is not None
    if str(view.config("normalize_reward", "")).lower() in ("true", "1"):
        return None
    shown = None if categorical(view, loss, params) else shown_scale(view, loss)
    if shown is None or not len(returns) or not len(loss):
        return None
    points, scale = shown
    length = view.get("episode/length_mean", "episode/length")
    steps = max(median(length.value) if length is not None and len(length) else 1.0, 1.0)
    largest = max(abs(returns.max), abs(returns.min)) * max(abs(view.number("reward_scale") or 1.0), 1.0)
    gamma = min(view.number("gamma") or params.gamma_unknown, 0.9999)
    bound = max(largest, largest / steps / (1 - gamma)) if length is not None else largest / (1 - gamma)
    alpha = view.get("sac/alpha")
    bonus = alpha.max * np.log(2) * (view.number("action_dim") or 1.0) if alpha is not None and len(alpha) else 0.0
    opening = float(np.sqrt(median(np.abs(loss.value[:OPENING]))))
    allowed = max(largest / float(np.sqrt(steps)), paid(view))
    bound = max(bound, paid(view) / (1 - gamma))
    if largest <= 0 or opening < max(params.untrained, params.opening_factor * (allowed + bonus)):
        return None
    over = persistent_onset(points.step, scale >= params.factor * bound, params.rows)
    if over is not None and compounds(view, loss, returns, params):
        return None  # see `value-errors-compound`
    if over is None:
        # A mean over episodes of which most earned nothing bounds none of them: the one that did earned all of it.
        if returns.min == 0 or returns.max == 0:
            return None
        if points is not loss and float(scale.max()) <= largest:
            return None  # values as large as the returns: errors beyond them are no rewards (a cross-entropy, say)
        return _opening_alone(view, loss, opening, allowed + bonus, params)
    ratio = float(scale.max()) / bound
    return Detection(
        message=f"learner's values reach {scale.max():.3g}, {ratio:.0f} times what the logged return allows",
        onset=from_start(view, points),
        metric=points.metric,
        evidence={
            "values": float(scale.max()), "bound": bound, "ratio": ratio,
            "return_abs_max": largest, "gamma": gamma, "opening_td_error": opening,
        },
    )  # fmt: skip


def paid(view: RunView) -> float:
    """Return the largest single reward that the world has paid, either way; 0 where single rewards are not known.

    Rewards of either sign cancel in a return: its mean may lie near 0 whatever one step pays.
    """
    ends = [view.get(name) for name in ("reward/env_min", "reward/env_max")]
    return max((max(abs(p.max), abs(p.min)) for p in ends if p is not None and len(p)), default=0.0)


def categorical(view: RunView, loss: Points, params: Params) -> bool:
    """Whether the critic's loss is, or may be, a cross-entropy over atoms: it begins near their number's logarithm."""
    if "q_function" not in traits_of(view.algorithm) or not len(loss):
        return False
    if any((view.number(name) or 0) > 2 for name in ("n_atoms", "num_atoms")):
        return True
    near = min(abs(loss.max / np.log(atoms) - 1) for atoms in ATOMS)
    falls = loss.min > 0 and median(loss.value[-OPENING:]) <= median(loss.value[:OPENING])
    return bool(
        near <= params.first_entropy and loss.max_at <= float(loss.step[min(2 * OPENING, len(loss) - 1)]) and falls
    )


def compounds(view: RunView, loss: Points, returns: Points, params: Params) -> bool:
    """Whether the errors of an on-policy critic grow or scatter as no one factor on the reward makes them."""
    root = np.sqrt(np.abs(loss.value[loss.value != 0]))
    if "q_function" in traits_of(view.algorithm):
        return False
    if root.size < 4 * OPENING:
        return not ended(view)  # a few rows do not tell yet
    first = median(np.abs(returns.value[:OPENING]))
    grown = max(abs(returns.max), abs(returns.min)) / first if first > 0 else float("inf")
    outgrown = float(root.max()) > params.outgrown * max(grown, 1.0) * median(root[:OPENING])
    return outgrown or median(np.abs(np.diff(np.log10(root)))) > params.scatter


def _opening_alone(view: RunView, loss: Points, opening: float, allowed: float, params: Params) -> Answer:
    """Judge by the first errors of a Q learner, before its values have grown."""
    steady = len(loss) >= 2 * OPENING and median(np.sqrt(np.abs(loss.value[-OPENING:]))) <= 2 * opening
    if "q_function" not in traits_of(view.algorithm) or opening < params.opening_alone * allowed or not steady:
        return None
    return Detection(
        message=f"first critic errors are {opening:.3g}, {opening / allowed:.0f} times what the logged return allows",
        onset=from_start(view, loss),
        metric=loss.metric,
        evidence={"opening_td_error": opening, "allowed": allowed, "ratio": opening / allowed},
    )


def shown_scale(view: RunView, loss: Points) -> tuple[Points, Floats] | None:
    """Return the metric that shows the learner's value scale, and its size [n], in units of reward."""
    traits = traits_of(view.algorithm)
    if "q_function" in traits:
        # The actor's loss is -Q plus a small entropy term, so it stands in where Q itself is not logged.
        names = ("critic/q_mean", "critic/target_mean", *(("policy/loss",) if "policy_gradient" in traits else ()))
        points = view.get(*names)
        if points is not None and len(points):
            return points, np.abs(points.value)
    return loss, np.sqrt(np.abs(loss.value))
