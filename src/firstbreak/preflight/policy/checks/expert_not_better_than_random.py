"""The check `expert-not-better-than-random`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..baselines import LEAST_EPISODES, compare_returns
from ..trial import PolicyTrial

Returns = NDArray[np.float64]


@check(
    "POC010",
    "expert-not-better-than-random",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Do not train. Watch one expert episode; then check the reward's sign and the mapping of the actions.",
)
def look(trial: PolicyTrial) -> Answer:
    """The expert does not clearly beat random play: do not train yet.

    What is measured:
        100 episodes of each, a two-sample bootstrap of the difference of mean returns (95 %) and the share of pairs the
        expert wins.

    Why it hurts:
        If somebody who knows the task is not paid more than chance, training has nothing to climb: the reward, the
        action mapping or the physics is wrong, and compute would be wasted.

    Usual causes:
        The sign of the reward; actions swapped or negated; an actuator without effect; returns drowned in noise; an
        expert that is wrong.

    What to try:
        Watch one episode of the expert. If it does the task, the reward is wrong; if it does not, the actions or the
        expert are.

    When it is harmless:
        An expert that is known to be weak; then find a better one before training.

    References:
        Efron & Tibshirani 1993, chapter 16; Colas et al. 2018, arXiv 1806.08295.
    """
    if not trial.expert:
        return Skip("no expert was given")
    if trial.expert_error:
        return Symptom(
            f"the expert raised in one of its episodes: {trial.expert_error}"[:120],
            "expert",
            {"error": trial.expert_error},
        )
    chance, expert = trial.random_returns, trial.expert_returns
    if chance is None or expert is None or min(len(chance), len(expert)) < LEAST_EPISODES:
        return Skip("too few episodes fitted into the time", ("more time per baseline",), withholds=True)
    return _not_finite(chance, expert) or _not_better(chance, expert)


def _not_finite(chance: Returns, expert: Returns) -> Symptom | None:
    wrong = int((~np.isfinite(np.concatenate([chance, expert]))).sum())
    if not wrong:
        return None
    return Symptom(
        f"{wrong} of {len(chance) + len(expert)} returns are NaN or infinite: nothing can be compared",
        "return",
        {"not_finite": wrong, "episodes": min(len(chance), len(expert))},
    )


def _not_better(chance: Returns, expert: Returns) -> Symptom | None:
    compared = compare_returns(chance, expert)
    if compared.clear:
        return None
    low, high = compared.low, compared.high
    if high < 0:
        what = f"expert is worse than random by {-compared.difference:.3g}: reward sign or action mapping?"
    else:
        what = f"expert is not clearly better than random: {compared.difference:+.3g}"
    return Symptom(
        f"{what} (95 % {low:.3g} to {high:.3g})",
        "return",
        {
            "difference": compared.difference,
            "low": low,
            "high": high,
            "expert_better_frac": compared.better,
            "random_return": float(chance.mean()),
            "expert_return": float(expert.mean()),
            "episodes": min(len(chance), len(expert)),
        },
    )
