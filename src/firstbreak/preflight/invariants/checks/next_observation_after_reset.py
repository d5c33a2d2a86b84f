"""The next observation that is stored is what followed the action, also at the end of an episode."""

from __future__ import annotations

from ....check import Answer, Symptom, check
from ....finding import Component, Link, Severity, Skip
from ..bench import Bench, skips
from ..stored import pairs


@check(
    "INV032",
    "next-observation-after-reset",
    link=Link.ENVIRONMENT_DATA,
    component=Component.ROLLOUT,
    severity=Severity.ERROR,
    fix="Store the final observation of the episode, not the one after the automatic reset.",
)
@skips
def look(bench: Bench) -> Answer:
    """The next observation that is stored is what followed the action, also at the end of an episode.

    Measured: stored next observations against the environments' own record of what step() returned.

    Why it hurts: bootstrapping at a time limit then uses the value of another episode's first state.

    Usual causes: vector environments that reset by themselves, final_observation not read, memory-saving buffers.

    What to try: take the final observation from the info (final_obs, terminal_observation), or mask these rows.

    Harmless: where every stored end is a true termination, which does not bootstrap.

    References: Gymnasium documentation, vector autoreset modes.
    """
    found = bench.once(pairs)
    if "next_obs" not in found.stored:
        return Skip("on-policy rollouts are judged by their advantages")
    rows = len(found.stored["obs"])
    given, right = (side["next_obs"].reshape(rows, -1) for side in (found.stored, found.seen))
    wrong = (given != right).any(-1)
    if not bool(wrong.any()):
        return None
    ends = found.seen["terminated"] | found.seen["truncated"]
    after = found.following["obs"].reshape(rows, -1)
    reset = float((given == after).all(-1)[wrong & ends].float().mean()) if bool((wrong & ends).any()) else 0.0
    share = float(wrong[ends].float().mean())
    if reset > 0.9:
        return Symptom(
            f"at {share:.0%} of episode ends the next observation is that of the reset",
            "next_obs",
            {"ends_frac": share},
        )
    every = float(wrong.float().mean())
    return Symptom(f"{every:.0%} of stored next observations are wrong", "next_obs", {"wrong_frac": every})
