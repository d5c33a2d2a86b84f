"""The check `kv-cache-preempts`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..ledger import Ledger, kv_room_tokens

CERTAIN = 1.0


@check(
    "PME006",
    "kv-cache-preempts",
    link=Link.SYSTEM_RESOURCES,
    component=Component.ROLLOUT,
    severity=Severity.WARNING,
    fix="Run fewer sequences at a time, give the engine more of the GPU, or spread it over more GPUs.",
)
def look(table: Ledger) -> Answer:
    """The engine's cache holds fewer tokens than the sequences that run at a time may need.

    What is measured:
        Sequences times (prompt + response) tokens against the tokens that fit in what the engine has left beside its
        weights, a tenth of it set aside.

    Why it hurts:
        Sequences are thrown out of the cache and computed anew: throughput saws, the tail of a rollout grows, samples
        become stale.

    Usual causes:
        A number of sequences taken from a smaller model or a shorter response.

    What to try:
        Watch the count of preemptions in the engine's log.

    When it is harmless:
        When most responses are far shorter than the limit.

    References:
        Kwon et al. 2023, arXiv 2309.06180 (preemption by recomputation).
    """
    plan = table.plan
    room = kv_room_tokens(plan)
    if room is None or not plan.rollout.sequences:
        return Skip("the plan has no engine with a number of sequences")
    wanted = plan.rollout.sequences * plan.tokens
    if wanted <= CERTAIN * room:
        return None
    return Symptom(
        f"{plan.rollout.sequences} sequences of {plan.tokens} tokens need {wanted} tokens of cache, {room} fit",
        "kv cache",
        {"wanted_tokens": wanted, "room_tokens": room},
        severity=Severity.ERROR if room < plan.tokens else None,
    )
