"""Whose code raised: ours, a library's, or that of the one who asked."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from types import TracebackType

YOURS = "your code raised at "
"""How the message about an exception from the user's own code begins."""
OURS = Path(__file__).resolve().parent
STANDARD = tuple({Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")})
PACKAGES = frozenset({"site-packages", "dist-packages"})
"""Folders of installed libraries, in the environment, the system or the user's home."""


def blamed(error: BaseException) -> str:
    """Return the exception in words, with the place where the user's code was left, if it was on the way.

    A frame of neither firstbreak nor an installed library is the user's; the deepest of them is named. An exception
    that passed through none of them is firstbreak's own, or a library's that firstbreak called.
    """
    words = f"{type(error).__name__}: {error}"[:300]
    place = deepest_of_users(error.__traceback__)
    return f"{YOURS}{place}: {words}" if place else words


def whose_fault(message: str, subject: str) -> str:
    """Return what a report adds to `message`, so that nobody blames `subject` ("run", "target") for our own fault."""
    return "" if message.startswith(YOURS) else f" (a fault of firstbreak, not of the {subject})"


def deepest_of_users(trace: TracebackType | None) -> str:
    """Return `file.py:line` of the deepest frame of the user's code, or nothing."""
    found = ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if is_users(file):
            found = f"{Path(file).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


def is_users(file: str) -> bool:
    """Whether a source file belongs to neither firstbreak, nor Python, nor an installed library."""
    if file.startswith("<"):
        return False  # generated code (dataclasses, regular expressions) has no owner that can be named
    path = Path(file).resolve()
    installed = PACKAGES.intersection(path.parts) or any(path.is_relative_to(one) for one in STANDARD)
    return not installed and not path.is_relative_to(OURS)
