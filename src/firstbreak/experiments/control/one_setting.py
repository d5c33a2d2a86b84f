"""One setting that the user names, by the trainer's own name or by its meaning, and the value it is changed to."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from ...errors import InputError
from ..experiment import Need
from ..subject import Subject
from .knobs import CONFIG, NAMES, knobs_of, lacks

SETTING = Need("setting", "--with setting=NAME: one setting of the trainer, by its own name or by what it means")
VALUE = Need("value", "--with value=V: what it is changed to; x10 for ten times what it is")
TIMES = re.compile(r"x(\d+(\.\d+)?)")
"""How a value is written that is relative to the setting's own."""
DISCOUNT = ("discount", "gamma")
"""A trainer takes its discount as a keyword of its own, whatever its settings are."""


def asked(subject: Subject) -> tuple[str, Any]:
    """Return the one setting that is to be changed, and the value as it was given.

    Raises:
        InputError: two settings are named, or the value is a table of them.
    """
    name, value = subject.given["setting"], subject.given["value"]
    if not isinstance(name, str) or re.search(r"[,;\s]", name.strip()) or isinstance(value, Mapping):
        raise InputError(
            f"setting={name} names more than one setting.",
            "An experiment that changes two things convicts neither: make two experiments.",
        )
    return name.strip(), value


def change_of(subject: Subject) -> tuple[dict[str, Any], Any]:
    """Return (keyword arguments for a trainer on an environment, the value that the setting is changed to).

    Raises:
        InputError: the trainer has no such setting, or it has this value already.
    """
    name, value = asked(subject)
    knobs = knobs_of(subject)
    if name in DISCOUNT:
        own: dict[str, Any] = {"gamma": subject.settings.get("gamma")}
    elif name in NAMES:
        own = knobs.find(name)
    else:
        own = {n: v for n, v in knobs.values.items() if n.removeprefix(f"{CONFIG}.") == name}
    if not own:
        raise lacks(subject, name) if name in NAMES else _unknown(subject, name, knobs.values)
    changes = {setting: new_value(name, value, old) for setting, old in own.items()}
    _insist_on_change(name, own, changes)
    return knobs.settings(changes), next(iter(changes.values()))


def keyword_of(subject: Subject, function: Callable[..., Any]) -> tuple[str, Any]:
    """Return (the keyword of a trainer of language models, the value that it is changed to).

    Raises:
        InputError: it takes no such keyword, or has this value already.
    """
    name, value = asked(subject)
    told = subject.given.get(f"{name}_setting")
    wanted = (str(told),) if told else NAMES.get(name, (name,))
    parameters = inspect.signature(function).parameters
    known = {n: p.default for n, p in parameters.items() if p.default is not p.empty} | dict(subject.settings)
    keyword = next((w for w in wanted if w in known or w in parameters), None)
    if keyword is None and len(wanted) == 1 and any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        keyword = wanted[0]
    if keyword is None:
        raise lacks(subject, name) if name in NAMES else _unknown(subject, name, known)
    old = known.get(keyword)
    found = new_value(name, value, old)
    _insist_on_change(name, {keyword: old}, {keyword: found})
    return keyword, found


def new_value(name: str, value: Any, old: Any) -> Any:
    """Return what `value` stands for where the setting is `old`: itself, or that many times `old`.

    Raises:
        InputError: it is relative to a value that is not known, or no number.
    """
    times = TIMES.fullmatch(value.strip()) if isinstance(value, str) else None
    if times is None:
        return value
    if not isinstance(old, int | float) or isinstance(old, bool):
        raise InputError(f"{name} is {old!r}: there is no {value} of it.", f"Say what it is: --set {name}=NUMBER.")
    return float(times.group(1)) * old


def _insist_on_change(name: str, own: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    if all(own[setting] == value for setting, value in changes.items()):
        raise InputError(f"{name} is {next(iter(own.values()))!r} already: nothing is changed.", "Try another value.")


def _unknown(subject: Subject, name: str, known: Mapping[str, Any]) -> InputError:
    shown = ", ".join(sorted(n.removeprefix(f"{CONFIG}.") for n in known)[:30]) or "none that are known"
    return InputError(f"{subject.trainer} has no setting {name}.", f"It has {shown}.")
