"""The check `retokenised-differently`."""

from __future__ import annotations

from ....check import Answer, check
from ....finding import Component, Link, Severity
from ...judgement.certain import samples_with
from ...table import Table


@check(
    "AUD050",
    "retokenised-differently",
    link=Link.DATA_FRESHNESS,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Train on the ids that the sampler drew; never on the text encoded again.",
)
def look(table: Table) -> Answer:
    """Encoding the answer's text again gives other ids than the sampler drew.

    What is measured:
        Samples whose ids differ from those of the text encoded again, where the dump holds both, and the first such
        row.

    Why it hurts:
        The trainer then scores tokens nobody sampled: ratios leave 1 before the first step, most at joins of turns.

    Usual causes:
        Text passed between sampler and trainer; chat templates applied twice; tools whose output is spliced in as text.

    What to try:
        Hand ids over from the sampler; compare log-probabilities of both at the first minibatch.

    When it is harmless:
        When training uses the sampler's ids and the text is for reading only.

    References:
        Retokenisation drift in multi-turn training is discussed in the TRL and verl documentation; the check reads off
        ids.
    """
    return samples_with(table, "tokens/retokenised_frac", "samples encode to other ids than drawn")
