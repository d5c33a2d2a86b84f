"""The check `observation-not-finite`."""

from __future__ import annotations

import numpy as np

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Onset, Severity
from ..cases import ends_not_finite, keep_shortest
from ..columns import columns_text, name_of
from ..recorded import NOTHING
from ..world import World


@check(
    "PEN040",
    "observation-not-finite",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ENVIRONMENT,
    severity=Severity.ERROR,
    fix="Find the first operation that is not finite and correct it there; do not replace NaN by 0 afterwards.",
)
def look(world: World) -> Answer:
    """Some observations hold NaN or infinity.

    What is measured:
        Every entry of every recorded observation, at any depth of the episode: how many rows, which entries, the first
        step.

    Why it hurts:
        One NaN passes through the network into the loss and from there into every weight; the run cannot recover.

    Usual causes:
        A division by zero or a root of a negative number deep in the episode; a ray that hits nothing; a diverging
        simulation; a masked entry filled with NaN.

    What to try:
        Replay the seed and actions of the episode named; stop at the first step that is not finite and print the inner
        state.

    When it is harmless:
        Never: a network cannot take it. Encode 'missing' as a number with a flag beside it.

    References:
        IsaacLab issue 1698 (height scanner returns infinity); mujocolab/mjlab issue 224 (NaN in the state of one copy).
    """
    if not world.episodes:
        return NOTHING
    first: tuple[int, int] | None = None
    rows = bad = 0
    entries = np.zeros(world.episodes[0].observations.shape[1], bool)
    for index, episode in enumerate(world.all_episodes):
        wrong = ~np.isfinite(episode.observations)
        hit = np.asarray(wrong.any(axis=1), bool)
        rows, bad, entries = rows + len(hit), bad + int(hit.sum()), entries | wrong.any(axis=0)
        if hit.any() and (first is None or int(np.argmax(hit)) < first[1]):
            first = (index, int(np.argmax(hit)))
    if first is None:
        return None
    columns = np.flatnonzero(entries)
    episode = world.all_episodes[first[0]]
    kind = "NaN" if np.isnan(episode.observations[first[1]]).any() else "infinite"
    again = ends_not_finite(lambda e: e.observations)
    keep_shortest(world, "observation-not-finite", "observation-not-finite", episode, first[1], again)
    return Symptom(
        f"observations become {kind}, first at step {first[1]} of an episode; {bad} of {rows} rows, "
        f"{len(columns)} entries",
        name_of(world, int(columns[0])) if len(columns) == 1 else "observation",
        {
            "first_step": first[1],
            "bad_rows": bad,
            "rows": rows,
            "columns": columns_text(columns),
            "seed": -1 if episode.seed is None else episode.seed,
        },
        at=Onset(first[1], first[1], "env_steps"),
    )
