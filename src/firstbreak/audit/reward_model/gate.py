"""What every check of a reward model asks first: are there enough scores?"""

from __future__ import annotations

from ...finding import Skip
from .record import Scored

LEAST = 20
"""Pairs; with fewer the interval of the accuracy is wider than 40 points."""


def too_few(scored: Scored, least: int = LEAST) -> Skip | None:
    """Return why a check cannot look, or None when there are enough scored pairs."""
    count = int(scored.differences.size)
    if count >= least:
        return None
    if scored.ended:
        return Skip(f"scoring did not come to its end; {scored.ended}"[:200], ("a scorer that runs",), True)
    return Skip(f"{count} scored pairs are too few; {least} are needed", ("--pairs",), True)
