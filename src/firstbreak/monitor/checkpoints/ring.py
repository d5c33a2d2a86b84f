"""Which checkpoints have which role, and which are kept."""

from __future__ import annotations

from collections.abc import Sequence

from .manifest import Checkpoint


def last(found: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return all, newest first."""
    return sorted(found, key=lambda c: c.number, reverse=True)


def healthy(found: Sequence[Checkpoint]) -> list[Checkpoint]:
    """Return those from before any known break, newest first."""
    return [c for c in last(found) if c.healthy]


def best(found: Sequence[Checkpoint], higher_is_better: bool) -> list[Checkpoint]:
    """Return those with a score, best first; of equal ones the newer."""
    scored = [(c.score if higher_is_better else -c.score, c.number, c) for c in found if c.score is not None]
    return [c for _, _, c in sorted(scored, key=lambda entry: entry[:2], reverse=True)]


def keepers(found: Sequence[Checkpoint], keep: int, higher_is_better: bool) -> set[str]:
    """Return the names to keep: best, last and newest healthy always, then healthy before unhealthy, new before old.

    At most `keep` are named, or the three roles if these are more.
    """
    roles = [last(found)[:1], healthy(found)[:1], best(found, higher_is_better)[:1]]
    kept = {c.name for role in roles for c in role}
    for one in [*healthy(found), *(c for c in last(found) if not c.healthy)]:
        if len(kept) >= keep:
            break
        kept.add(one.name)
    return kept


def without_headway(went: Sequence[float], to: float) -> int:
    """How many roll-backs in a row, up to now, went to what is no older than the one before and than `to`.

    A cause that lasts takes the run back to the same checkpoint, or to ever older ones; one that was saved and healthy
    in between ends the row.

    Args:
        went: Numbers of the checkpoints that were gone back to, oldest first; they grow in the order of saving.
        to: The number of the next.
    """
    count = 0
    for number in reversed(went):
        if number < to:
            break
        count, to = count + 1, number
    return count


def listed(found: Sequence[Checkpoint]) -> str:
    """Return one line for people: what there is, oldest first."""
    if not found:
        return "Save one first; `faults` says whether saving failed."
    return "There are: " + ", ".join(f"{c.name} (step {c.step}{'' if c.healthy else ', unhealthy'})" for c in found)
