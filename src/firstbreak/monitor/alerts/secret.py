"""Secrets stay in the environment: an alert keeps the name of a variable and reads it when it sends."""

from __future__ import annotations

import os
import re

from ...errors import InputError
from .alert import AlertError

_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")


def require(name: str, purpose: str) -> str:
    """Return `name` if it is a variable that is set; called when an alert is made, so that a mistake shows at once.

    Raises:
        InputError: it is no name of a variable (it is not repeated: it may be the secret itself), or it is not set.
    """
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{purpose} is read from the environment, and what was given is not the name of a variable.",
            "Put the secret into a variable such as FIRSTBREAK_TOKEN and give that name (capitals, digits and _).",
        )
    if not os.environ.get(name, "").strip():
        raise InputError(f"{purpose} is read from the variable {name}, which is not set.", f"Set it: export {name}=...")
    return name


def read(name: str) -> str:
    """Return the value of the variable `name`.

    Raises:
        AlertError: it is no longer set, or holds what no header or address can hold.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise AlertError(f"The variable {name} is no longer set.", again=False)
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise AlertError(f"The variable {name} holds blanks or characters that cannot be sent.", again=False)
    return value
