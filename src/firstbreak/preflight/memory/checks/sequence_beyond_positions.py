"""The check `sequence-beyond-positions`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..ledger import Ledger


@check(
    "PME010",
    "sequence-beyond-positions",
    link=Link.SYSTEM_RESOURCES,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Shorten prompt or response, or extend the model's positions on purpose.",
)
def look(table: Ledger) -> Answer:
    """Prompt and response together are longer than the positions a model was made for.

    What is measured:
        prompt_tokens + response_tokens against max_position_embeddings of each model. With a table of learnt positions
        it is an error: there is no entry to look up.

    Why it hurts:
        The model writes nonsense beyond its positions, the reward model reads nonsense, and an index out of range on a
        GPU ends the run without a useful message.

    Usual causes:
        The response length raised and the reward model forgotten, which is often an older and shorter one.

    What to try:
        Read max_position_embeddings of every model, the reward model's too.

    When it is harmless:
        Rotary models whose positions are scaled at run time.

    References:
        Su et al. 2021, arXiv 2104.09864; Press et al. 2021, arXiv 2108.12409 (beyond the trained length).
    """
    limits = {
        m.role: m.architecture
        for m in table.plan.models
        if m.architecture.max_positions or m.architecture.learned_positions
    }
    if not limits:
        return Skip("no model gives its number of positions", ("models.actor.config",))
    role = min(limits, key=lambda r: limits[r].max_positions or limits[r].learned_positions)
    most = limits[role].max_positions or limits[role].learned_positions
    if table.plan.tokens <= most:
        return None
    return Symptom(
        f"{table.plan.tokens} tokens of prompt and response, {role} has {most} positions",
        role,
        {"tokens": table.plan.tokens, "positions": most},
        severity=Severity.ERROR if limits[role].learned_positions else None,
    )
