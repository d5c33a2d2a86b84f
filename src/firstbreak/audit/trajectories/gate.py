"""What the checks of trajectories ask first: are there enough episodes, and do they say what is needed?"""

from __future__ import annotations

from ...finding import Skip
from .record import Record

FEWEST = 20
"""Episodes below which a share says nothing: its 95 % interval is then wider than 0.4. Engineering default."""


def too_few(record: Record, least: int = FEWEST) -> Skip | None:
    """Return why a check cannot look, or None when there are enough episodes."""
    if record.n >= least:
        return None
    return Skip(f"{record.n} episodes are too few; {least} are needed", ("more episodes",), True)


def no_states(record: Record) -> Skip | None:
    """Return why observations cannot be judged, or None when there are some."""
    if not record.states.size:
        return Skip("no observations of numbers are stored", ("observations",))
    return Skip("the observation never changes") if record.blind else None


def percent(frac: float) -> str:
    """Return a fraction in percent."""
    return f"{100 * frac:.0f} %" if frac >= 0.0995 else f"{100 * frac:.1f} %"
