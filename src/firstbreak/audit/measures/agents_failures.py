"""Calls that failed, and what came after."""

from __future__ import annotations

from ..episodes.episode import episode_of
from ..episodes.repeats import looped, repeated, retries
from ..episodes.setup import never_up
from ..measure import Values, measure
from ..seen import Seen

COLUMNS = {
    "agent/failed_calls": "calls that failed, by the log or by their result",
    "agent/failed_unmarked": "calls logged as successful whose result reads like a refusal",
    "agent/marked_calls": "calls of which the log says whether they failed",
    "agent/recovered": "1 where a call succeeded after the first failure, 0 where none did; nothing without a failure",
    "agent/retries": "calls that repeat the failed call before them unchanged",
    "agent/retries_in_vain": "such calls that failed again",
    "agent/repeated_calls": "calls made before with the same arguments and result, the state unchanged in between",
    "agent/loop_calls": "calls of the longest round of two to four calls gone through three times or more",
    "agent/never_up": "1 where every call failed as if the environment were not there",
}


@measure(COLUMNS)
def failures(seen: Seen) -> Values:
    """Count failures, retries, repetitions and rounds."""
    episode = episode_of(seen.sample)
    if episode is None or not episode.calls:
        return None
    calls = episode.calls
    bad = [i for i, c in enumerate(calls) if c.failed]
    recovered = float("nan")
    if bad:
        recovered = float(seen.sample.success is True or any(not c.failed for c in calls[bad[0] + 1 :]))
    again, in_vain = retries(calls)
    return (
        float(len(bad)),
        float(sum(c.made.failed is False and c.says_failed for c in calls)),
        float(sum(c.made.failed is not None for c in calls)),
        recovered,
        float(again),
        float(in_vain),
        float(repeated(calls)),
        float(looped(calls)),
        float(never_up(episode)),
    )
