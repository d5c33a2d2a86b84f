"""The check `ends-stored-as-time-limit`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Skip
from ..gate import too_few
from ..record import Record

SHARED = 0.2
"""Share of the most common length that makes it a limit. Engineering default."""


@check(
    "TRJ010",
    "ends-stored-as-time-limit",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    fix="Store true ends as terminated; truncated is for the time limit alone.",
)
def look(record: Record) -> Answer:
    """Episodes are cut at many different lengths, and none ever ends by itself.

    What is measured:
        All episodes are truncated and none is terminated, and no length is shared by a fifth of them.

    Why it hurts:
        A fall is then valued as if the task went on: the policy learns that it costs nothing.

    Usual causes:
        terminated and truncated swapped; one flag used for both.

    What to try:
        Look at the last observation of the shortest episodes: is it a fall?

    When it is harmless:
        Recording stopped by wall-clock time; a limit that is drawn anew each episode.
    """
    skip = too_few(record)
    if skip is not None:
        return skip
    if (record.terminated < 0).all() or (record.truncated < 0).all():
        return Skip("it is not stored how episodes ended", ("terminated", "truncated"))
    cut = int((record.truncated == 1).sum())
    if (record.terminated == 1).any() or cut < record.n - 1:
        return None
    values, counts = np.unique(record.summary.lengths_steps, return_counts=True)
    if counts.max() > SHARED * record.n:
        return None
    return Symptom(
        f"{cut:,} of {record.n:,} episodes are cut, at {len(values):,} different lengths; none ends by itself",
        "truncated",
        {"truncated": cut, "episodes": record.n, "lengths": len(values), "most_alike": int(counts.max())},
    )
