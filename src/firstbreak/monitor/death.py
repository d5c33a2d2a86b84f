"""What an exception that ends training says of its cause, without keeping its message."""

from __future__ import annotations

import re
from typing import Any

from ..runlog import NOT_FINITE

SPEAKS_OF = re.compile(r"(?<![a-z])(nan|[+-]?inf|infinit[ey]|infinity|non-?finite|not finite|overflow)(?![a-z])", re.I)
READ_CHARS = 4000
"""A message may quote whole tensors; their first numbers are enough."""
CONSTRAINT = re.compile(r"Expected (?:parameter|value) .*? to satisfy the constraint (\w+(?:\(Real)?)", re.S)
"""What torch.distributions raises of parameters that it cannot use."""
OUT_OF_RANGE = re.compile(r"(?<![\w.])(?:-\d|0(?:\.0*)?(?:e[+-]?\d+)?(?![\w.]))")
"""A number that is not finite fails every constraint; what is quoted may also be below 0, or 0."""


def died_of(kind: Any, error: Any) -> str:
    """Return the exception's type, and `NOT_FINITE` where its message speaks of NaN or infinity."""
    name = str(getattr(kind, "__name__", kind))
    try:
        told = str(error)[:READ_CHARS]
    except Exception:  # an exception whose text cannot be made
        told = ""
    return f"{name} {NOT_FINITE}" if SPEAKS_OF.search(told) or unusable(told) else name


def unusable(told: str) -> bool:
    """Whether a distribution's parameters failed a constraint, and no number that is quoted says why.

    Large tensors are quoted by their corners, and messages are cut off: what fails unseen is NaN, as nothing else is
    not real and hardly anything else is neither positive nor shown not to be.
    """
    found = CONSTRAINT.search(told)
    if found is None:
        return False
    return found[1] in ("Real", "IndependentConstraint(Real") or (
        found[1] in ("GreaterThan", "GreaterThanEq") and OUT_OF_RANGE.search(told.partition("values:")[2]) is None
    )
