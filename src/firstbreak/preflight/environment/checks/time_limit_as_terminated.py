"""The check `time-limit-as-terminated`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity, Skip
from ..foretold import share_alike
from ..recorded import NOTHING
from ..world import World

LEAST_EPISODES = 3
LEAST_STEPS = 10
LEAST_FRAC = 0.05
"""Share of the ended episodes at the largest length. Ends of the task rarely tie there; three at once do not."""
FEWER = 4
"""Episodes that must tie where they are less than that share of all."""
DENSER = 20.0
"""How many times denser those must be than the lengths just below, the upper fifth. Engineering default: where lengths
thin out smoothly, at a fifth of an episode a step near the end, four tie at the largest once in ten thousand."""
RARE = 0.2
"""Largest share of the other steps that may look like the ends where these may belong to the task: the last of five
rounds looks like every round's end. Limits that nothing shows were at 0.32 or more on Gymnasium's tasks cut short, ends
that are shown or come with a round at 0.11 or less. Engineering default."""


@check(
    "PEN064",
    "time-limit-as-terminated",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Report the limit as truncated and bootstrap there.",
    explained_by=("end-flag-lost", "observation-constant", "observation-not-finite"),
)
def look(world: World) -> Answer:
    """A time limit is reported as terminated: episodes end at the same step, and nothing in the state says why.

    What is measured:
        Episodes that end by terminated at exactly the largest length (a twentieth of all, or four where the lengths
        just below are twenty times rarer), none by truncated alone, and a last step that what is observed does not tell
        from the others: no entry of the last observation lies apart from those before, and a logistic regression on
        the observations before and after a step, fitted to half of the episodes and asked about the rest, takes other
        steps for the last, too. Where it takes less than a fifth of them (the end of any round, when the rounds
        played are not seen), the finding is a note.

    Why it hurts:
        Values are taught that the future is worth 0 at a moment the agent cannot see coming; the error is γV at every
        limit.

    Usual causes:
        One done flag for both ends; an old-gym environment with its own counter; a wrapper that maps truncated to
        terminated.

    What to try:
        Return terminated only for ends that belong to the task, and truncated for the limit.

    When it is harmless:
        The state says when the end comes (time to go, a falling ball, a board that fills up: then this check is
        silent), one-step tasks, and tasks of a number of rounds that is not observed.

    References:
        Pardo et al. 2018, arXiv 1712.00378.
    """
    if not world.episodes:
        return NOTHING
    ended = [e for e in world.episodes if e.ended and not e.resets_by_itself]
    if len(ended) < LEAST_EPISODES:
        return Skip(f"only {len(ended)} episodes ended", ("longer recording",))
    longest = max(e.length for e in ended)
    at_limit = [e for e in ended if e.length == longest]
    cut = any(e.truncated[-1] and not e.terminated[-1] for e in ended)  # with both, terminated is what trainers obey
    if cut or longest < LEAST_STEPS or not _piled([e.length for e in ended], len(at_limit)):
        return None
    if _visible(world, longest):
        return None
    alike = share_alike([e for e in world.episodes if not e.resets_by_itself], longest)
    if alike == 0:
        return None
    if alike is not None and alike <= RARE:
        return Symptom(
            f"{len(at_limit)} episodes end by terminated at exactly step {longest}: a limit, or a round's end? "
            f"{alike:.1%} of other steps look alike",
            "terminated",
            {"limit_steps": longest, "at_limit": len(at_limit), "episodes": len(ended), "alike_frac": alike},
            severity=Severity.INFO,
            at=Onset(longest, longest, "env_steps"),
        )
    return Symptom(
        f"{len(at_limit)} of {len(ended)} episodes end by terminated at exactly step {longest}: a time limit, "
        "not an end",
        "terminated",
        {"limit_steps": longest, "at_limit": len(at_limit), "episodes": len(ended)},
        at=Onset(longest, longest, "env_steps"),
    )


def _piled(lengths: list[int], tied: int) -> bool:
    """Whether `tied` of `lengths` at their maximum are more than chance puts there."""
    if tied >= max(LEAST_EPISODES, LEAST_FRAC * len(lengths)):
        return True
    longest = max(lengths)
    start = int(0.8 * longest)
    near = sum(start <= n < longest for n in lengths) / (longest - start)
    return tied >= FEWER and tied >= DENSER * near


def _visible(world: World, longest: int) -> bool:
    """Whether one observation entry sets the last observations apart from all others: the end can be seen."""
    last = np.array([e.observations[-1] for e in world.episodes if e.ended and e.length == longest])
    inner = np.concatenate([e.observations[:-1] for e in world.episodes])
    above = last.min(axis=0) > inner.max(axis=0)
    below = last.max(axis=0) < inner.min(axis=0)
    # One point of a set (a counter that is exactly 0, a flag) between others is an end as well.
    point = (last == last[0]).all(axis=0) & ~(inner == last[0]).any(axis=0)
    return bool((above | below | point).any())
