"""Whether an environment ever came up: a failure of the set-up is not one of the policy."""

from __future__ import annotations

from zlib import crc32

from ..sample import Sample
from .episode import Episode
from .failing import gist, says_absent

_WORKERS = ("worker", "worker_id", "env_id", "env_index", "rank", "node", "actor_id", "replica")
"""Numbers of a log that tell where an episode was played."""
SAME_REFUSALS = 3
"""Different calls refused in the same words from which the environment is at fault. Engineering default."""


def never_up(episode: Episode) -> bool:
    """Whether every call failed, and in words that speak of the environment or are the same for different calls."""
    calls = episode.calls
    if not calls or not all(c.failed for c in calls):
        return False
    if all(says_absent(c.result) for c in calls):
        return True
    different = len({c.key for c in calls}) >= SAME_REFUSALS and len({c.made.name for c in calls}) > 1
    return different and len({gist(c.result) for c in calls}) == 1


def worker(sample: Sample) -> float:
    """Return a number of 24 bits for the worker that played the episode: of the log, or else its file. NaN: unknown."""
    for name in _WORKERS:
        if name in sample.scores:
            return float(crc32(f"{name}={sample.scores[name]}".encode()) & 0xFFFFFF)
    return float(crc32(sample.source.encode("utf-8", "surrogatepass")) & 0xFFFFFF) if sample.source else float("nan")
