"""The rule `values-of-one-step`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.reward_signal import ended, progress
from firstbreak.rules.reward_signal.return_below_start import pays_alike
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import Points, RunView

EPISODES = ("reward/episode_return_mean", "reward/episode_return", "reward/raw_episode_return")
LENGTHS = ("episode/length_mean", "episode/length")
VALUE = "critic/q_mean"
TEMPERATURE, ENTROPY = "sac/alpha", "policy/entropy"


@dataclass(frozen=True)
class Params:
    """Thresholds of `values-of-one-step`. Engineering defaults."""

    steps: float = 2.0
    """Rewards of one step that the mean value holds at most."""
    grown: float = 3.0
    """Times its size in the first rows that the mean value has at most: what bootstraps grows to many rewards."""
    fits: float = 0.1
    """Loss over the square of one step's reward up to which the critic fits its targets."""
    least: float = 0.5
    """Rewards of one step that values then hold at least. Where rewards of both signs cancel they hold less."""
    long: float = 20.0
    """Steps that an episode lasts at least, so that many rewards are ahead of a mean state."""
    horizon: float = 10.0
    """Steps that the discount, where it is known, must look ahead."""
    rows: int = 20
    """Rows of values that are needed."""
    first: int = 3
    """Rows after the first one that say with what size values began."""
    passed: float = 0.5
    """Share of the planned steps from which on it is said of a run that goes on."""


SAC, DQN = synth.like("SAC"), synth.like("DQN")
RETURN = EPISODES[0]
ALIKE = {RETURN: synth.ramp(20, 40, 0.0), "episode/length_mean": synth.ramp(20, 40, 0.0)}
CASES = (
    fires(
        "values of the next reward alone",
        lambda: SAC(
            {RETURN: synth.flat(-1400, 0.05), VALUE: synth.flat(-6.8, 0.02), "critic/loss": synth.geometric(0.4, 0.002)}
        ),
    ),
    fires("values that never left zero", lambda: DQN(ALIKE | {VALUE: synth.ramp(0.06, 0.13, 0.01)})),
    healthy("values of what is ahead", lambda: SAC({})),
    near_miss("values that grow slowly", lambda: DQN(ALIKE | {VALUE: synth.ramp(0.1, 1.6, 0.02)})),
    near_miss(
        "rewards of both signs that cancel, and a critic that is still off",
        lambda: DQN(
            {RETURN: synth.flat(-160, 0.1), "episode/length_mean": synth.flat(90, 0.1), VALUE: synth.flat(-0.2, 0.2)}
        ),
    ),
    near_miss(
        "a discount that asks for little more",
        lambda: synth.like("DQN", config={"gamma": 0.5})(ALIKE | {VALUE: synth.flat(1.9, 0.02)}),
    ),
    near_miss(
        "an entropy bonus that outweighs what a step costs, until the temperature has fallen",
        lambda: SAC(
            {
                RETURN: synth.ramp(-44, -35, 0.02),
                "episode/length_mean": synth.constant(50.0),
                TEMPERATURE: synth.ramp(1.0, 0.3, 0.0),
                ENTROPY: synth.ramp(1.35, 0.8, 0.02),
                VALUE: synth.ramp(0.9, 0.6, 0.05),
                "critic/loss": synth.flat(0.05, 0.1),
            }
        ),
    ),
    near_miss(
        "short episodes",
        lambda: DQN(
            {VALUE: synth.flat(0.9), "reward/episode_return_mean": synth.flat(3), "episode/length_mean": synth.flat(4)}
        ),
    ),
    near_miss(
        "returns of both signs",
        lambda: DQN({VALUE: synth.flat(0.01), "reward/episode_return_mean": synth.ramp(-5, 20)}),
    ),
)


@rule(
    "CRT030",
    "values-of-one-step",
    link=Link.CRITIC,
    component=Component.VALUE,
    needs=(VALUE,),
    any_of=(EPISODES, LENGTHS),
    when=("q_function",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("critic-not-learning", "reward-flat", "targets-shrink", "greedy-below-random", "entropy-at-rest"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean value stays at one step's reward, while episodes pay it many times over.

    What it means:
        Return over length says what a step pays on average, to which SAC adds its temperature times the entropy. A
        value is the discounted sum of many such rewards; the critic's holds no more than about one, from its first rows
        to the newest.

    Why it matters:
        Nothing beyond the next reward is learned, so no action is preferred for what it leads to.

    Usual causes:
        A target network that is never updated, so that it adds next to nothing for ever; a discount far too short; a
        bootstrap that is masked out; a critic that is not trained, or at far too low a rate.

    What to try:
        Print reward, bootstrap and target of ten stored rows; compare the target network's weights an hour apart.

    When it is harmless:
        Where each decision pays off at once and the discount is short on purpose: state `gamma`.

    References:
        Sutton and Barto 2018, section 3.3: a constant reward r has the value r / (1 - gamma).
    """
    value, returns, lengths = view.get(VALUE), view.get(*EPISODES), view.get(*LENGTHS)
    assert value is not None
    assert returns is not None
    assert lengths is not None
    share, gamma = progress(view), view.number("gamma")
    if gamma is not None and gamma < 1 and 1 / (1 - gamma) < params.horizon:
        return None
    if len(value) < params.rows or not (ended(view) or (share is not None and share >= params.passed)):
        return None
    if returns.min < 0 < returns.max or median(lengths.value) < params.long:
        return None
    pays = step_pays(view, returns, lengths)
    if pays.min() < 0 < pays.max():
        return None
    paid = median(np.abs(pays))
    size = np.abs(value.value)
    began = median(size[1 : 1 + params.first])
    if paid <= 0 or float(size.max()) > params.steps * paid or float(size.max()) > params.grown * began:
        return None
    if not pays_alike(view) and not settled(view, median(size), paid, params):
        return None
    return Detection(
        message=f"mean value {value.last:.3g}; a step pays {paid:.3g}, an episode {median(returns.value):.4g}",
        onset=view.onset(value.step[0], value.step[min(1, len(value) - 1)]),
        metric=VALUE,
        evidence={"value": value.last, "paid_per_step": paid, "length_steps": median(lengths.value)},
    )


def step_pays(view: RunView, returns: Points, lengths: Points) -> Floats:
    """Return what a step pays on average at each row of `returns` [n], as values count it: with an entropy bonus."""
    steps = np.interp(returns.step, lengths.step, lengths.value)
    pays = returns.value / np.maximum(steps, 1.0) * (view.number("reward_scale") or 1.0)
    alpha, entropy = view.get(TEMPERATURE), view.get(ENTROPY)
    if alpha is None or entropy is None or not len(alpha) or not len(entropy):
        return pays
    at = returns.step
    return pays + np.interp(at, alpha.step, alpha.value) * np.interp(at, entropy.step, entropy.value)


def settled(view: RunView, size: float, paid: float, params: Params) -> bool:
    """Whether the critic fits its targets, and holds about one reward: so the targets hold no more."""
    loss = view.get("critic/loss", "critic/td_error_mean")
    if loss is None or len(loss) < params.rows:
        return False
    return size >= params.least * paid and median(loss.value[len(loss) // 2 :]) <= params.fits * paid**2
