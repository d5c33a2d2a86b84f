"""What an exception that ends training says of its cause, without keeping its message."""

from __future__ import annotations

import re
from typing import Any

from ..runlog import NOT_FINITE

SPEAKS_OF = re.compile(r"(?<![a-z])(nan|[+-]?inf|infinit[ey]|infinity|non-?finite|not finite|overflow)(?![a-z])", re.I)
READ_CHARS = 4000
"""A message may quote whole tensors; their first numbers are enough."""


def died_of(kind: Any, error: Any) -> str:
    """Return the exception's type, and `NOT_FINITE` where its message speaks of NaN or infinity."""
    name = str(getattr(kind, "__name__", kind))
    try:
        told = str(error)[:READ_CHARS]
    except Exception:  # an exception whose text cannot be made
        told = ""
    return f"{name} {NOT_FINITE}" if SPEAKS_OF.search(told) else name
