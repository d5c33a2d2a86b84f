"""The rule `reward-is-length`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from firstbreak import synth
from firstbreak.finding import Component, Detection, Link, Severity
from firstbreak.rule import Answer, fires, healthy, near_miss, rule
from firstbreak.rules.environment_data.prompts_lengthened import unless_harder
from firstbreak.rules.reward_signal import TRUTH, rises
from firstbreak.series import Floats
from firstbreak.stats import median
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    """Thresholds of `reward-is-length`. Engineering defaults where no source is named."""

    rows: int = 20
    """Newest rows looked at."""
    correlation: float = 0.95
    """Correlation of reward and mean length over these rows, and of their changes from row to row. Rewards of right
    answers scatter by themselves: their share of a batch is a binomial draw."""
    cut_frac: float = 0.5
    """Share of responses that run into the cap, for an error."""
    alike_frac: float = 0.2
    """Share of groups whose responses are all paid alike, from which length is not what is paid: responses of one group
    differ in length. What moves both is then the mix of prompts."""
    spread: float = 0.03
    """Least standard deviation of the length over its mean: a length that does not vary explains nothing."""


LENGTH = "seq/len_mean"
REWARD = ("reward/train_mean", "reward/rollout_mean")
ALIKE = "group/zero_std_fraction"
GRPO = synth.like("GRPO")


def longer(t: Floats, rng: np.random.Generator) -> Floats:
    """Lengths [n] that grow, with the scatter of single batches."""
    return 150 + 100 * t + 15 * np.sin(173 * t)


def paid(t: Floats, rng: np.random.Generator) -> Floats:
    """A reward [n] that is the length over the cap."""
    return longer(t, rng) / 512


CASES = (
    fires(
        "the reward is the length over the cap",
        lambda: GRPO({LENGTH: longer, REWARD[0]: paid, ALIKE: synth.clipped(synth.flat(0.05, 0.5), 0, 1)}),
    ),
    healthy("the reward rises by itself", lambda: GRPO({LENGTH: longer})),
    near_miss(
        "both grow, each with its own scatter",
        lambda: GRPO({LENGTH: longer, REWARD[0]: synth.ramp(0.3, 0.5, 0.03)}),
    ),
    near_miss(
        "long answers to some prompts, and those are the ones it gets right: many groups are paid alike",
        lambda: GRPO({LENGTH: longer, REWARD[0]: paid, ALIKE: synth.clipped(synth.flat(0.45, 0.3), 0, 1)}),
    ),
    near_miss(
        "the task itself rewards length, and its own score rises",
        lambda: GRPO({LENGTH: longer, REWARD[0]: paid} | {"reward/true_objective": synth.ramp(0.2, 0.7, 0.03)}),
    ),
)


@rule(
    "RWD034",
    "reward-is-length",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    needs=(LENGTH,),
    any_of=(REWARD,),
    when=("language",),
    min_points=20,
    params=Params(),
    cases=CASES,
    implies=("truncation-growing", "no-eos-from-start", "zero-std-groups", "reward-flat", "reward-std-collapse"),
)
def detect(view: RunView, params: Params) -> Answer:
    """The mean reward of a batch follows its mean length, row by row, almost exactly.

    What it means:
        Length explains nine tenths and more of what moves the reward, over the newest rows and from each row to the
        next. Whether answers are right leaves no trace.

    Why it matters:
        A policy that is paid for length writes length; it fills the cap, and the score of the task falls.

    Usual causes:
        A reward summed over tokens; a verifier that counts steps, words or keywords; a reward model with a length
        preference.

    What to try:
        Score the same answer with filler added: the reward must not rise.

    When it is harmless:
        In tasks where every further token is worth something, as in copying toys. With a score of the task that rises,
        or where many groups are paid alike whatever their lengths, the rule stays silent.

    References:
        Singhal et al. 2023, "A long way to go: investigating length correlations in RLHF", arXiv 2310.03716.
    """
    length, reward = view.get(LENGTH), view.get(*REWARD)
    assert length is not None
    assert reward is not None
    if any(rises(view.get(name)) for name in TRUTH):
        return None
    alike = view.get(ALIKE)
    often = alike is not None and len(alike) > 0 and median(alike.value[-params.rows :]) >= params.alike_frac
    if often and not cut_off(view, params):  # answers that fill the cap are as long as each other
        return None
    shared, at_length, at_reward = np.intersect1d(length.step, reward.step, return_indices=True)
    if shared.size < params.rows:
        return None
    size, paid = length.value[at_length], reward.value[at_reward]
    newest = likeness(size[-params.rows :], paid[-params.rows :], params)
    if newest < params.correlation:
        return None
    start = shared.size - params.rows
    while start > 0 and likeness(size[start - 1 :][: params.rows], paid[start - 1 :][: params.rows], params) >= (
        params.correlation
    ):
        start -= 1
    return unless_harder(
        view,
        Detection(
            message=f"reward follows the mean length of responses with a correlation of {newest:.3f}, row by row",
            onset=view.onset(float(shared[max(start - 1, 0)]), float(shared[start])),
            metric=reward.metric,
            evidence={"correlation": newest, "rows": int(shared.size - start)},
            severity=Severity.ERROR if cut_off(view, params) else None,
        ),
        at=float("inf"),
    )


def cut_off(view: RunView, params: Params) -> bool:
    """Whether most responses run into their cap by now."""
    cut = view.get("seq/truncated_fraction")
    return cut is not None and len(cut) > 0 and median(cut.value[-8:]) >= params.cut_frac


def likeness(size: Floats, paid: Floats, params: Params) -> float:
    """Return the lesser correlation of the two [n], of levels and of steps; 0 where either hardly varies."""
    if float(size.std()) < params.spread * float(size.mean()) or min(np.ptp(paid), np.ptp(np.diff(paid))) <= 0:
        return 0.0
    if float(np.ptp(np.diff(size))) <= 0:
        return 0.0
    return min(float(np.corrcoef(size, paid)[0, 1]), float(np.corrcoef(np.diff(size), np.diff(paid))[0, 1]))
