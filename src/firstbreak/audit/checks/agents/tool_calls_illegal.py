"""The check `tool-calls-illegal`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity
from ...episodes.comparing import Z95, share
from ...episodes.gate import column, no_calls, percent
from ...table import Table

LIMIT_FRAC = 0.05
"""Lower bound of the share of calls. Engineering default: a model that knows the format stays below."""
KINDS = {
    "agent/unknown_tool": "name an undeclared tool",
    "agent/broken_json": "hold broken JSON",
    "agent/against_schema": "break the schema",
}


@check(
    "AUD103",
    "tool-calls-illegal",
    link=Link.POLICY_UPDATE,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Constrain decoding to the tool schemas, or show the schema error to the model and let it try again.",
)
def look(table: Table) -> Answer:
    """Many tool calls are illegal: of an undeclared tool, with broken JSON, or against the declared schema.

    What is measured:
        The share of calls of each kind with a 95 % interval over prompts. Tools and schemas are read from the
        JSON in the prompt; without it only broken JSON can be seen.

    Why it hurts:
        An illegal call does nothing. Its tokens are paid for like any other and its turn is lost.

    Usual causes:
        A chat template that shows the tools in another form than the model was trained on; arguments cut by a
        length limit; a parser and a template that disagree; drift of the policy.

    What to try:
        Read five such calls raw. If the template is right and the share grows over training, pay a small
        penalty or mask the turn.

    When it is harmless:
        At the very start of training, while the share falls.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    calls = column(table, "agent/calls")
    worst: tuple[float, float, str] = (0.0, 0.0, "")
    for name, words in KINDS.items():
        bad = column(table, name)
        known = np.isfinite(bad) & (calls > 0)
        if not known.any():
            continue
        frac, error = share(bad[known], calls[known], table.group[known])
        worst = max(worst, (frac - Z95 * error, frac, words))
    low, frac, words = worst
    if low <= LIMIT_FRAC:
        return None
    return Symptom(
        f"{percent(frac)} of the tool calls {words}",
        "agent/calls",
        {"illegal_frac": frac, "low_frac": low, "calls": int(np.nansum(calls))},
    )
