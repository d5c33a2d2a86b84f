"""After termination there is no entropy to be had."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..td_rows import TERMINATED, targets


@check(
    "INV091",
    "td-entropy-after-termination",
    link=Link.CRITIC,
    component=Component.VALUE,
    severity=Severity.ERROR,
    fix="Put the entropy term inside the factor (1 - terminated).",
    explained_by=("td-target-terminated-bootstraps",),
)
@skips
def look(bench: Bench) -> Answer:
    """After termination there is no entropy to be had.

    Measured: the change of the target of terminated rows with the temperature; 0 is right.

    Why it hurts: ends are paid for with entropy of a state that does not exist; the agent may seek them.

    Usual causes: the entropy term added outside the factor (1 - terminated).

    What to try: put it inside: gamma (1 - terminated) (min Q' - alpha log pi').

    Harmless: never.

    References: Stable-Baselines3 issue 76.
    """
    bench.only("SAC")
    found = bench.once(targets)
    if found.log_prob is None:
        return Skip("the temperature is not learnt", ("pieces.log_temperature",))
    worst = float(found.log_prob[TERMINATED].abs().max())
    if worst <= 10 * found.error:
        return None
    return Symptom(
        f"after termination the target still holds alpha times {worst:.2f} nats of entropy",
        "td_target",
        {"entropy_nats": worst},
    )
