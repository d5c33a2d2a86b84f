"""The check `reward-hacking-triad`."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ...across.triad import SURE, triad
from ...judgement.gate import needs_rewards
from ...table import Table


@check(
    "AUD011",
    "reward-hacking-triad",
    link=Link.REWARD_SIGNAL,
    component=Component.REWARD,
    severity=Severity.WARNING,
    fix="Go back to the checkpoint before the reward and people's scores parted; change the reward first.",
)
def look(table: Table) -> Answer:
    """Reward rises, answers change in odd ways, and people's scores do not rise with it.

    What is measured:
        The last third of the steps against the first, or all samples against those of the reference: the reward rose, a
        side measure (length, repetition, formatting, refusals, copying and others) moved by half a spread or more, and
        human scores or success fell or stood still. All by three standard errors over prompts.

    Why it hurts:
        This is what reward hacking looks like from outside: the scorer was learnt instead of the task.

    Usual causes:
        A proxy reward optimised past its range; no anchor to the starting policy; a scorer with a style it likes.

    What to try:
        Read best paid samples of the last steps beside some of the first; roll back, and close what they have in
        common.

    When it is harmless:
        When prompts became harder over time, so that people's scores had to fall.

    References:
        Gao et al. 2022, arXiv 2210.10760; Pan et al. 2022, arXiv 2201.03544; Singhal et al. 2023, arXiv 2310.03716.
    """
    skip = needs_rewards(table)
    if skip is not None:
        return skip
    seen = triad(table)
    if seen.reward_up is None or seen.reward is None:
        return Skip("neither steps nor samples to compare with", ("step of each sample", "reference samples"))
    if not seen.reward_up or not seen.side_changed:
        return None
    name, side = next(iter(seen.side.items()))
    people = seen.evaluation
    if people is None or (not seen.evaluation_kept_up and people.shift > 0):
        return Skip(
            f"reward up, {name} moved by {side.shift:.2g} spreads: only people's scores tell a gain from a hack",
            ("more human scores of first and last steps",),
            withholds=True,
        )
    if seen.evaluation_kept_up:
        return None
    return Symptom(
        f"reward {seen.reward.before:.2f} to {seen.reward.after:.2f}, {name} {side.before:.2g} to {side.after:.2g}, "
        f"{seen.evaluation_name} {people.before:.2f} to {people.after:.2f}",
        "reward",
        {
            "against": seen.against,
            "reward_shift_spreads": seen.reward.shift,
            "side": name,
            "side_shift_spreads": side.shift,
            "sides": len(seen.side),
            "evaluation": seen.evaluation_name,
            "evaluation_shift_spreads": people.shift,
            "evaluation_z": people.z,
        },
        severity=Severity.ERROR if people.z <= -SURE else Severity.WARNING,
    )
