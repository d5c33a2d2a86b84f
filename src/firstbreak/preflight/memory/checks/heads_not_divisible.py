"""The check `heads-not-divisible`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..ledger import Ledger


@check(
    "PME009",
    "heads-not-divisible",
    link=Link.SYSTEM_RESOURCES,
    component=Component.SYSTEM,
    severity=Severity.ERROR,
    fix="Choose a tensor parallelism that divides the heads of every model.",
)
def look(table: Ledger) -> Answer:
    """Tensor parallelism does not divide the attention heads.

    What is measured:
        The query heads of each model modulo the tensor parallelism of the trainer and of the engine. More GPUs than key
        heads is told for information: key heads are then doubled, and the cache is not divided further.

    Why it hurts:
        Frameworks refuse to start, after the queue was waited for.

    Usual causes:
        Models of 14, 28 or 40 heads on 8 GPUs.

    What to try:
        4 instead of 8; the rest as data parallelism.

    When it is harmless:
        Never as an error.

    References:
        Shoeybi et al. 2019, arXiv 1909.08053: attention is split by heads.
    """
    plan = table.plan
    engine = plan.rollout.tensor_parallel if plan.rollout.engine in ("colocated", "separate") else 1
    if max(plan.tensor_parallel, engine) < 2:
        return Skip("nothing is split over GPUs by heads")
    known = [m for m in plan.models if not m.architecture.guessed]
    if not known:
        return Skip("the number of heads is not known", ("models.actor.config",))
    for model in known:
        for t in {plan.tensor_parallel, engine if model.role == "actor" else 1}:
            a = model.architecture
            if a.heads % t or (a.kv_heads % t and t % a.kv_heads):
                heads = a.heads if a.heads % t else a.kv_heads
                what = "heads" if a.heads % t else "key heads"
                return Symptom(
                    f"{model.role} has {heads} {what}, not divisible over {t} GPUs",
                    model.role,
                    {"heads": a.heads, "kv_heads": a.kv_heads, "tensor_parallel": t},
                )
            if t > a.kv_heads:
                return Symptom(
                    f"{model.role} has {a.kv_heads} key heads on {t} GPUs: they are doubled, the cache is not divided",
                    model.role,
                    {"kv_heads": a.kv_heads, "tensor_parallel": t},
                    severity=Severity.INFO,
                )
    return None
