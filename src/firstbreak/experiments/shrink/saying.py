"""A reproduction in words and as plain data."""

from __future__ import annotations

from typing import Any

from .differences import ABSENT, Difference
from .reproduction import Reproduction


def lines(found: Reproduction) -> list[tuple[str, str]]:
    """Return labelled lines that say what was found."""
    bad, good = found.pilot
    said = [
        ("pilot", f"the symptom shows in {bad.shown} of {bad.runs} runs, and in {good.shown} of {good.runs} good ones")
    ]
    said += [("needed", str(difference)) for difference in found.needed]
    if found.given_up:
        others = "another difference" if len(found.given_up) == 1 else f"{len(found.given_up)} other differences"
        said.append(("without", f"{others} it shows all the same"))
    said += [("size", f"{key}: {was:g} -> {now:g}") for key, (was, now) in found.sizes.items()]
    if found.again is not None:
        said.append(("again", f"on fresh seeds it shows in {found.again.shown} of {found.again.runs} runs"))
    said += [("note", note) for note in found.notes]
    ended = "minimal: without any one of these it was not seen" if found.minimal else "not known to be minimal"
    said.append(("verdict", ended))
    said.append(
        ("cost", f"{found.runs} runs" + (f", {found.recalled} taken from the journal" if found.recalled else ""))
    )
    return said


def plain(found: Reproduction) -> dict[str, Any]:
    """Return it as plain data; a setting that is not there is null with `set` false."""
    return {
        "config": dict(found.config),
        "needed": [_difference(d) for d in found.needed],
        "given_up": [_difference(d) for d in found.given_up],
        "minimal": found.minimal,
        "pilot": {
            name: {"shown": t.shown, "runs": t.runs} for name, t in zip(("bad", "good"), found.pilot, strict=True)
        },
        "again": None if found.again is None else {"shown": found.again.shown, "runs": found.again.runs},
        "sizes": {key: {"was": was, "now": now} for key, (was, now) in found.sizes.items()},
        "runs": found.runs,
        "recalled": found.recalled,
        "notes": list(found.notes),
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "key": one.key,
        "good": None if one.good is ABSENT else one.good,
        "bad": None if one.bad is ABSENT else one.bad,
        "set_in_good": one.good is not ABSENT,
        "set_in_bad": one.bad is not ABSENT,
    }
