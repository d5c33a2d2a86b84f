"""Errors that a user can act on. Each says what happened and where, why, and what to do.

May import the standard library only. Every error derives from `FirstbreakError` and from the built-in type it
replaces, pickles, and carries a stable `kind` for `--format json`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import ClassVar


class FirstbreakError(Exception):
    """Base of every error that firstbreak raises on purpose."""

    kind: ClassVar[str] = "error"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InputError(FirstbreakError, ValueError):
    """What the user gave cannot be used: an empty folder, an unknown format, a wrong argument."""

    kind = "bad_input"


class UnreadableError(FirstbreakError, OSError):
    """A file exists but cannot be read (permissions, vanished, not a file)."""

    kind = "unreadable"

    def __str__(self) -> str:
        return FirstbreakError.__str__(self)


class ConfigError(FirstbreakError, ValueError):
    """A configuration file or option is wrong."""

    kind = "bad_config"


class UnknownNameError(FirstbreakError, KeyError):
    """A rule, metric, cause or key that does not exist; the hint offers the nearest names."""

    kind = "unknown_name"

    def __str__(self) -> str:
        return FirstbreakError.__str__(self)


class MissingExtraError(FirstbreakError, ImportError):
    """An optional package is needed; the hint is the exact install line."""

    kind = "missing_extra"


HOLDING = 5
"""Most names that are offered because they hold what was given, or its first word (`kl`, `kl-spike`)."""
NEAR = 0.75
"""Likeness from which the nearest name is taken to be the one meant, so that no others are offered. Engineering
default."""
_WORDS = re.compile("[a-z0-9]+")
LISTED = 300
"""Letters up to which all names that exist are listed where none is near. Engineering default."""


MOST_SEED = 2**32 - 1
"""NumPy's, Stable-Baselines3's and most environments' largest seed; some runs use a few seeds after the first."""


def insist_seed(seed: int) -> None:
    """Refuse a seed that libraries refuse: what they raise would be taken for a fault of the user's code.

    Raises:
        InputError: it is below 0, or with the seeds after it above 2**32 - 1.
    """
    if not 0 <= seed <= MOST_SEED - 1000:
        raise InputError(f"The seed is {seed}.", f"Give a whole number from 0 to {MOST_SEED - 1000}.")


def unknown_name(what: str, name: str, known: Iterable[str]) -> UnknownNameError:
    """Build the did-you-mean error for a `name` that is not among `known` names of a `what`; a short list is given."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    if not close or difflib.SequenceMatcher(None, close[0], name).ratio() < NEAR:
        words = {name.lower(), *_WORDS.findall(name.lower())[:1]}
        holding = [one for one in names if words & set(_WORDS.findall(one.lower())) and one not in close]
        close += holding[:HOLDING]
    hint = f"Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
    if not close and names and sum(map(len, names)) < LISTED:
        hint = f"There are: {', '.join(sorted(names))}."
    return UnknownNameError(f"No {what} named {name!r}.", hint)


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """Build the error for a missing optional `package`, with the line that installs it."""
    return MissingExtraError(
        f"{purpose} needs the package {package!r}, which is not installed.",
        f"Install it with: pip install 'firstbreak[{extra}]'",
    )
