"""Where in the user's own code something was raised."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]


def where(error: BaseException) -> str:
    """Return " (FILE, line N)" of the innermost line outside firstbreak and libraries; "" where there is none."""
    libraries = {Path(p).resolve() for p in (sys.prefix, sys.base_prefix)}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = Path(frame.filename)
        if not file.is_file():  # <string>, <frozen importlib>
            continue
        places = file.resolve().parents
        if _PACKAGE not in places and not libraries.intersection(places):
            return f" ({file.name}, line {frame.lineno})"
    return ""
