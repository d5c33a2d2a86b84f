"""The check `trained-not-better-than-random`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Number, Severity, Skip
from ..gap import difference, gap_closed, several
from ..sample import TaskSample


@check(
    "PTK004",
    "trained-not-better-than-random",
    link=Link.POLICY_UPDATE,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Run the probes of the trainer first, then an expert, then look at observations and actions.",
    explained_by=("returns-not-finite", "expert-returns-not-better"),
)
def look(sample: TaskSample) -> Answer:
    """The trained policy is not clearly better than random play.

    What is measured:
        The difference of the mean returns with its 95 % two-sample bootstrap interval, which holds 0, and the share of
        the gap to the expert that is closed. The spread of single episodes plays no part: a policy within one standard
        deviation of random may be clearly better.

    Why it hurts:
        Nothing was learnt, however long it trained.

    Usual causes:
        A broken trainer; no signal in the reward; an observation without what is needed; too short a training.

    What to try:
        Firstbreak's probes tell whether the trainer learns what is easy; an expert tells whether there is anything to
        learn.

    When it is harmless:
        After a very short training, or where random play is as good as it gets.

    References:
        Efron & Tibshirani 1993; Colas et al. 2018, arXiv 1806.08295 (how many episodes and seeds).
    """
    random, trained = sample.returns.get("random"), sample.returns.get("trained")
    if random is None or trained is None:
        return Skip("no returns of the trained policy and of random play", ("trained returns", "random returns"))
    if not (several(random) and several(trained)):
        return Skip("fewer than 20 finite episodes of each", ("more episodes",), withholds=True)
    gain = difference(trained, random)
    if gain.low > 0 or gain.high < 0:
        return None
    evidence: dict[str, Number] = {
        "difference": gain.value, "low": gain.low, "high": gain.high,
        "random_mean": float(random.mean()), "trained_mean": float(trained.mean()),
    }  # fmt: skip
    expert = sample.returns.get("expert")
    closed = gap_closed(random, expert, trained) if expert is not None and several(expert) else None
    tail = ""
    if closed is not None:
        evidence |= {"gap_closed_frac": closed.value, "gap_low_frac": closed.low, "gap_high_frac": closed.high}
        tail = f"; {100 * closed.value:.0f} % of the gap closed ({100 * closed.low:.0f} to {100 * closed.high:.0f})"
    return Symptom(
        f"trained is not clearly better than random: {gain.value:+.3g} ({gain.low:.3g} to {gain.high:.3g}){tail}",
        "return.trained",
        evidence,
    )
