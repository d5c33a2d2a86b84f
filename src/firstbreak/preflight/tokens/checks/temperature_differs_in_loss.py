"""The loss scores tokens at another temperature than the one stated for sampling."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ..bench import TokenBench, skips
from ..noise import REST_FRAC, rest_by_temperature
from ..weights import live_weights


@check(
    "TOK041",
    "temperature-differs-in-loss",
    link=Link.DATA_FRESHNESS,
    component=Component.LOSS,
    severity=Severity.ERROR,
    fix="Divide the logits by the sampling temperature wherever log-probs are computed.",
    explained_by=(
        "logits-score-wrong-token",
        "padding-changes-loss",
    ),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The loss scores tokens at another temperature than the one stated for sampling.

    Measured: the temperature at which the gradient on the logits is that of a log-softmax, against the stated
    one.

    Why it hurts: the ratio corrects towards a policy that never acted; low-probability tokens are pulled at too
    hard or too weakly.

    Usual causes: temperature applied in the engine only; in the loss only; twice.

    What to try: compare the sampler's log-probs with log_softmax(logits / T) for the same tokens.

    Harmless: at T = 1, where it makes no difference.
    """
    stated = float(bench.setting("temperature"))
    found = bench.once(live_weights)
    if found.rest_frac <= REST_FRAC:
        return None
    by_temperature = bench.once(rest_by_temperature)
    best = min(by_temperature, key=lambda t: by_temperature[t])
    if by_temperature[best] > 0.3 * found.rest_frac or abs(best - stated) < 0.02:
        return None
    return Symptom(
        f"the loss scores tokens at temperature {best:g}, {stated:g} is stated",
        "loss",
        {"temperature": best, "stated_temperature": stated, "unexplained_frac": found.rest_frac},
    )
