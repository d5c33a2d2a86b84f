"""The check `call-of-no-return`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...episodes.gate import FEWEST, no_calls, outcome
from ...episodes.unrecoverable import lost_calls, pooled, run_of
from ...table import Table

LIMIT_Z = -4.0
"""Standard deviations under what the siblings make of the same beginnings. Engineering default: with a few dozen tools
a false alarm in 1,000 tables."""


@check(
    "AUD124",
    "call-of-no-return",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.INFO,
    fix="Ask back before irreversible calls, or give credit by turn so that this call is the one to be unlearned.",
    explained_by=("environment-never-came-up", "claims-done-state-unchanged", "episodes-finish-too-soon"),
)
def look(table: Table) -> Answer:
    """There is a call after which no episode succeeds although its siblings with the same beginning do.

    What is measured:
        Episodes of the same prompt are laid into a tree of calls and results. For each tool: successes after
        calling it at a fork against what the forks' other ways make likely (prompts as strata); and single
        forks after which none of n succeeded, by the hypergeometric law over all forks.

    Why it hurts:
        Everything after that call is noise for the learner: with one reward an episode the good calls before it
        are punished alike.

    Usual causes:
        Irreversible tools (cancel, delete, submit); an early wrong turn that the tools cannot undo.

    What to try:
        Play on from just before and just after this call, eight times each.

    When it is harmless:
        When the call is what an agent does once it has already lost, such as giving up: then it is a sign, no
        cause.
    """
    skip = no_calls(table)
    if skip is not None:
        return skip
    if outcome(table) is None:
        return Skip("neither success nor a reward with any spread is logged", ("success",))
    rewards = [s.reward for s in table.together if s.reward == s.reward]
    middle = (min(rewards) + max(rewards)) / 2 if rewards else 0.0
    runs = [r for s in table.together if (r := run_of(s, s.reward > middle if s.success is None else s.success))]
    forks = pooled(runs)
    if len(runs) < FEWEST or not forks:
        return Skip("no episodes of one prompt share their first calls and then part", ("several episodes a prompt",))
    lost = [f for f in forks if f.succeeded == 0 and f.z < LIMIT_Z]
    single = lost_calls(runs)
    if lost:
        one = lost[0]
        return Symptom(
            f"after {shown(one.tool)} (call {one.call:.0f}) 0 of {one.episodes} succeed, "
            f"{one.expected:.0f} were to be expected",
            "agent/calls",
            {"episodes": one.episodes, "expected": one.expected, "high_frac": one.high_frac, "prompts": one.prompts,
             "z": one.z},
        )  # fmt: skip
    if single:
        own = single[0]
        return Symptom(
            f"after call {own.call} ({shown(own.tool)}) 0 of {own.episodes} succeed, of its siblings "
            f"{own.siblings_succeeded} of {own.siblings}",
            "agent/calls",
            {"episodes": own.episodes, "siblings": own.siblings, "siblings_succeeded": own.siblings_succeeded,
             "high_frac": own.high_frac, "p": own.p},
        )  # fmt: skip
    return None


def shown(tool: str) -> str:
    """Return the name of a tool where it is a plain identifier; anything else stays out of the report."""
    return tool if tool.isascii() and tool.isidentifier() and len(tool) <= 24 else "a tool"
