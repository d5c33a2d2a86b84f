"""Options written NAME=VALUE on the command line."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import InputError


def pairs(given: Iterable[str] | None, option: str, example: str, form: str = "NAME=VALUE") -> dict[str, str]:
    """Return what was given as NAME=VALUE; `form` is what the help calls it.

    Raises:
        InputError: a text is not of this form.
    """
    found: dict[str, str] = {}
    for text in given or ():
        name, equals, value = text.partition("=")
        if not (equals and name and value):
            raise InputError(f"{option} {text!r} is not {form}.", f"For example: {option} {example}")
        found[name] = value
    return found


def columns_named(given: Iterable[str] | None, example: str = "reward=judge_v2") -> dict[str, str]:
    """Return the columns with an odd name, by role.

    Raises:
        InputError: a text is not ROLE=NAME.
    """
    return pairs(given, "--column", example, "ROLE=NAME")
