"""A group over which rewards are normalised holds answers to several prompts, or a prompt is spread over groups."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import TokenBench, skips
from ..truth import fresh


@check(
    "TOK020",
    "group-holds-several-prompts",
    link=Link.POLICY_UPDATE,
    component=Component.ADVANTAGE,
    severity=Severity.ERROR,
    fix="Group by the prompt a completion answers, not by its place in the batch.",
)
@skips
def look(bench: TokenBench) -> Answer:
    """A group over which rewards are normalised holds answers to several prompts, or a prompt is spread over groups.

    Measured: the prompts of each group, and the groups of each prompt, in one fresh batch.

    Why it hurts: an answer is compared with answers to other questions: easy prompts win, whatever the policy
    did.

    Usual causes: a reshape that expects the rows of a prompt side by side; group ids made for each trajectory;
    a shuffle between sampling and normalising.

    What to try: assert that each group has one prompt id.

    Harmless: when advantages are normalised over the batch on purpose and no group is used.

    References: DeepSeekMath, Shao et al. 2024, arXiv 2402.03300, section 4.1.
    """
    batch = bench.once(fresh)
    if bench.pieces.algorithm == "PPO":
        return Skip("does not concern PPO")
    if "group" not in batch or "prompt" not in batch:
        missing = tuple(f"batch[{key!r}]" for key in ("group", "prompt") if key not in batch)
        return Skip("the batch does not say which rows share a prompt and which a group", missing)
    pairs = set(zip(batch["group"].tolist(), batch["prompt"].tolist(), strict=True))
    groups, prompts = {g for g, _ in pairs}, {p for _, p in pairs}
    mixed = sum(len({p for g, p in pairs if g == one}) > 1 for one in groups)
    rows = len(batch["group"])
    single = len(groups) == rows and len(prompts) < rows
    if mixed:
        return Symptom(
            f"{mixed} of {len(groups)} groups hold answers to more than one prompt", "batch", {"mixed_groups": mixed}
        )
    if single:
        return Symptom(
            f"{len(prompts)} prompts are spread over {len(groups)} groups of one row each",
            "batch",
            {"groups": len(groups), "prompts": len(prompts)},
        )
    return None
