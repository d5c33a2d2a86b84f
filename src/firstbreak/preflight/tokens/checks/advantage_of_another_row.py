"""The advantages of the batch are not those of its own rewards."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..grouping import ask
from ..truth import fresh


@check(
    "TOK062",
    "advantage-of-another-row",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Shuffle advantages with the rows they belong to.",
    explained_by=("group-holds-several-prompts",),
)
@skips
def look(bench: TokenBench) -> Answer:
    """The advantages of the batch are not those of its own rewards.

    Measured: advantages of a fresh batch against those that the trainer itself gives for the rewards and groups
    of the same rows.

    Why it hurts: completions are paid for what others did.

    Usual causes: the batch was shuffled or filtered after the advantages were made; answers and rewards off by
    one row.

    What to try: carry the row number through sampling, scoring and training.

    Harmless: when the advantages of the batch hold more than the rewards, such as a length penalty.
    """
    batch = bench.once(fresh)
    bench.need("advantages")
    missing = tuple(f"batch[{key!r}]" for key in ("rewards", "group") if key not in batch)
    if missing:
        return Skip("the batch lacks what its advantages come from", missing)
    stored = batch["advantages"].detach().float()
    if stored.dim() > 1:
        return Skip("advantages differ by token")
    if float(batch["rewards"].std()) == 0:
        return Skip("all rewards of the batch are equal", ("a batch with different rewards",))
    again = ask(bench, batch["rewards"].detach().float(), batch["group"])
    off = float((again - stored).norm() / again.norm().clamp(min=1e-30))
    if off <= 0.05:
        return None
    wrong = int(((again - stored).abs() > 0.05 * again.abs().clamp(min=1e-3)).sum())
    return Symptom(
        f"{wrong} of {len(stored)} rows have another advantage than their reward gives",
        "batch",
        {"wrong_rows": wrong, "rows": len(stored), "difference_frac": off},
    )
