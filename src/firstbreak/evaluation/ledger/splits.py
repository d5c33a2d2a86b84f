"""The splits of evaluation data: what each is for, and how often it may be looked at."""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import unknown_name


@dataclass(frozen=True)
class Split:
    """One kind of evaluation data."""

    name: str
    purpose: str
    budget_looks: int | None
    """Looks until it is used up; None for any number. Engineering defaults, changed with `eval ledger budget`."""
    ladder: bool
    """Whether scores go through the Ladder, since the set is used again and again but must stay fresh."""


SPLITS: dict[str, Split] = {
    s.name: s
    for s in (
        Split("smoke", "catches faults of the implementation; look as often as you like", None, False),
        Split("dev", "for tuning; every look is recorded", None, False),
        Split("public_test", "for trends; look sparingly", 20, True),
        Split("private_test", "the gate of a release; look rarely", 3, True),
        Split("human_audit", "calibrates reward and judge; spot checks", 12, False),
    )
}


def split_of(name: str) -> Split:
    """Return the split `name`.

    Raises:
        UnknownNameError: there is none; the hint offers the nearest.
    """
    if name not in SPLITS:
        raise unknown_name("split", name, SPLITS)
    return SPLITS[name]
