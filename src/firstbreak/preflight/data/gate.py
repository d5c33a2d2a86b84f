"""When a data check cannot look or is not concerned."""

from __future__ import annotations

from ...finding import Skip
from .datafile import DataFile


def lacks(data: DataFile, *roles: str, any_of: bool = False) -> Skip | None:
    """Return the skip of a check for which this file has no columns; such a file is not its concern."""
    missing = [role for role in roles if role not in data.roles]
    if (len(missing) == len(roles)) if any_of else missing:
        return Skip(f"the file has no {' or '.join(missing)}")
    return None


def too_few(seen: int, least: int, what: str) -> Skip | None:
    """Return the skip of a check that needs `least` rows of `what`."""
    return Skip(f"{seen} {what}, fewer than {least}") if seen < least else None
