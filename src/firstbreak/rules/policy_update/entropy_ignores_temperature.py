"""The rule `entropy-ignores-temperature`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView

ALPHA, LOSS = "sac/alpha", "sac/alpha_loss"
RETURNS = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
LENGTHS = ("episode/length_mean", "episode/length")


@dataclass(frozen=True)
class Params:
    """Thresholds of `entropy-ignores-temperature`. Engineering defaults."""

    fallen: float = 0.1
    """Share of its first size that is left of the temperature: entropy is worth a tenth of what it was."""
    moved: float = 0.05
    """Share of its first distance from the target by which the entropy may have moved since."""
    rows: int = 16
    """Rows that are needed."""
    cheap: float = 0.1
    """Reward of one step, as return over length says, of which what all that entropy costs is this share at most: next
    to rewards that are smaller still, a temperature has not fallen far yet."""
    alike: float = 0.15
    """Share by which single rows may differ from that distance; a batch of 100 or more actions scatters by less."""


def temperature_loss(excess: synth.Shape, of_log: bool) -> dict[str, synth.Shape]:
    """A temperature that falls to a hundredth, and its loss in the one convention or the other."""
    alpha = synth.geometric(0.8, 0.008, 0.0)

    def loss(t: Floats, rng: np.random.Generator) -> Floats:
        a = alpha(t, rng)
        return (np.log(a) if of_log else a) * excess(t, rng)

    return {ALPHA: alpha, LOSS: loss}


SAC = synth.like("SAC")
CASES = (
    fires("the actor is not in the optimiser", lambda: SAC(temperature_loss(synth.flat(1.69, 0.02), True))),
    fires("the same, where the loss holds alpha itself", lambda: SAC(temperature_loss(synth.flat(1.69, 0.02), False))),
    healthy("entropy falls with its price", lambda: SAC(temperature_loss(synth.ramp(1.69, 0.1, 0.02), True))),
    near_miss("it falls slowly", lambda: SAC(temperature_loss(synth.ramp(1.69, 1.3, 0.02), True))),
    near_miss(
        "rewards are so small that entropy is still dear",
        lambda: SAC({RETURNS[0]: synth.flat(-1)} | temperature_loss(synth.flat(1.69, 0.02), True)),
    ),
    near_miss(
        "it is at its target",
        lambda: SAC({ALPHA: synth.geometric(0.8, 0.008, 0.0), LOSS: synth.flat(0.0, 0.05)}),
    ),
)


@rule(
    "POL070",
    "entropy-ignores-temperature",
    link=Link.POLICY_UPDATE,
    component=Component.OPTIMISER,
    needs=(ALPHA, LOSS),
    when=("max_entropy",),
    min_points=16,
    params=Params(),
    cases=CASES,
    implies=("alpha-collapse", "reward-flat", "q-divergence"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The price of entropy has fallen to a tenth or less, and the policy's entropy stays where it was.

    What it means:
        The loss of the temperature is the distance of entropy from its target, times alpha (or its logarithm). Divided
        by that, it gives the distance: the same in every row, far above the target, whatever alpha is.

    Why it matters:
        An actor that follows the critic gives up entropy for value as entropy becomes cheap. This one follows nothing,
        and the temperature will fall for ever.

    Usual causes:
        The actor's parameters are not in the optimiser, or in that of a copy; its loss is detached from the critic or
        from the sampled action; its learning rate is far too small.

    What to try:
        Compare the actor's weights before and after one update; its gradient norm through the critic.

    When it is harmless:
        Before learning starts; where all actions are worth the same.

    References:
        Haarnoja et al. 2018, arXiv 1812.05905, section 5 (the loss of the temperature).
    """
    alpha, loss = view.get(ALPHA), view.get(LOSS)
    assert alpha is not None
    assert loss is not None
    rows = np.intersect1d(alpha.step, loss.step)
    if rows.size < params.rows:
        return None
    price, cost = (p.value[np.isin(p.step, rows)] for p in (alpha, loss))
    if price.min() <= 0 or price[-1] > params.fallen * price[0]:
        return None
    found = [excess for excess in (_distance(cost, np.log(price)), _distance(cost, price)) if _rests(excess, params)]
    if not found:
        return None
    excess, paid = median(found[0]), per_step(view)
    if paid is None or price[-1] * excess > params.cheap * paid:
        return None
    return Detection(
        message=f"alpha fell from {price[0]:.3g} to {price[-1]:.3g}; entropy stays {excess:.3g} nats above its target",
        onset=view.onset(float(rows[0]), float(rows[1])),
        metric=LOSS,
        evidence={"alpha_left": float(price[-1] / price[0]), "excess_nats": excess, "rows": int(rows.size)},
    )


def per_step(view: RunView) -> float | None:
    """Return the mean size of one step's reward, None where it cannot be told."""
    returns, lengths = view.get(*RETURNS), view.get(*LENGTHS)
    if returns is None or lengths is None or not len(returns) or not len(lengths):
        return None
    steps = np.interp(returns.step, lengths.step, lengths.value)
    return median(np.abs(returns.value) / np.maximum(steps, 1.0)) * abs(view.number("reward_scale") or 1.0)


def _distance(cost: Floats, price: Floats) -> Floats:
    """Return the distance of entropy from its target [n], but for rows whose price is next to 0: they say nothing."""
    kept = np.abs(price) > 0.05 * float(np.abs(price).max())
    return cost[kept] / price[kept]


def _rests(excess: Floats, params: Params) -> bool:
    """Whether entropy lies the same distance above its target in all rows; more than half of them must say so."""
    if excess.size < params.rows // 2:
        return False
    third = excess.size // 3
    first, last, level = median(excess[:third]), median(excess[-third:]), median(excess)
    return bool(
        level > 0
        and abs(last - first) <= params.moved * level
        and float(np.abs(excess - level).max()) <= params.alike * level
    )
