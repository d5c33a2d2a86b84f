"""The check `trained-worse-than-random`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..gap import difference, several
from ..sample import TaskSample


@check(
    "PTK003",
    "trained-worse-than-random",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.ERROR,
    fix="Suspect a sign: of the reward, of the loss, or cost taken for reward.",
    explained_by=("returns-not-finite",),
)
def look(sample: TaskSample) -> Answer:
    """The trained policy is clearly worse than random play.

    What is measured:
        The difference of the mean returns with its 95 % two-sample bootstrap interval, which lies below 0.

    Why it hurts:
        Training works, but in the wrong direction, or the policy that is evaluated is not the one that was trained.

    Usual causes:
        The sign of the reward or of the policy loss; cost taken for reward; an evaluation with observations that are
        normalised differently; a policy that has collapsed to one extreme action.

    What to try:
        Flip the sign in a short run. If the return then rises, the sign was it.

    When it is harmless:
        When the return that is compared is not what was trained on (an unshaped one, say).

    References:
        Henderson et al. 2018, arXiv 1709.06560 (implementation differences that turn results).
    """
    random, trained = sample.returns.get("random"), sample.returns.get("trained")
    if random is None or trained is None:
        return Skip("no returns of the trained policy and of random play", ("trained returns", "random returns"))
    if not (several(random) and several(trained)):
        return Skip("fewer than 20 finite episodes of each", ("more episodes",), withholds=True)
    gain = difference(trained, random)
    if gain.high >= 0:
        return None
    return Symptom(
        f"trained is worse than random: {gain.value:+.3g} ({gain.low:.3g} to {gain.high:.3g}), suspect a sign",
        "return.trained",
        {"difference": gain.value, "low": gain.low, "high": gain.high,
         "random_mean": float(random.mean()), "trained_mean": float(trained.mean())},
    )  # fmt: skip
