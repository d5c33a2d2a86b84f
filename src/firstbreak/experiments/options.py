"""What can be given with `--with NAME=VALUE`: what experiments declare. Other names are typing errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InputError, unknown_name
from .experiment import ENV, TRAINER, Experiment, all_experiments

ARGUMENTS = (TRAINER.name, ENV.name)
"""What is needed and yet not given with `--with`."""


def insist_on_known(given: Mapping[str, Any], one: Experiment | None = None) -> None:
    """Insist that each of the names that were given is read by the experiment `one`, or by some of the catalogue.

    An experiment of the user's own that declares no options reads what it likes.

    Raises:
        UnknownNameError: none reads it; the hint offers the nearest.
        InputError: another experiment does, or the value is none that may be given.
    """
    own = (one,) if one is not None else all_experiments()
    if one is not None and not one.options and one not in all_experiments():
        return
    for name in given:
        if name in ARGUMENTS or not any(each.reads(name) for each in own):
            raise _refusal(name, one)
        for option in dict.fromkeys(option for each in own for option in each.options if option.means(name)):
            option.insist(name, given[name])


def _refusal(name: str, one: Experiment | None) -> Exception:
    if one is not None and name not in ARGUMENTS and any(each.reads(name) for each in all_experiments()):
        return InputError(
            f"{one.name} does not read {name}: it would change nothing.",
            f"It reads {', '.join(names_of((one,))) or 'nothing that is given with --with'}.",
        )
    some = (one,) if one is not None else all_experiments()
    error = unknown_name("--with option", name, names_of(some))
    if "*" in error.hint:  # what stands for many names is no name: it is explained, with an example
        plain = [own for own in names_of(some) if not own.startswith("*")]
        stars = {o.name: o.what for each in some for o in each.options if o.name.startswith("*")}
        told = [f"{star[1:]} after the name of a setting ({what})" for star, what in sorted(stars.items())]
        error.hint = f"There are: {', '.join([*plain, *told])}."
    return error


def names_of(some: Iterable[Experiment]) -> list[str]:
    """Return all names that some of the experiments read, sorted; `*_setting` for those with that ending."""
    some = tuple(some)
    needed = {need.name for each in some for need in each.needs} - set(ARGUMENTS)
    return sorted(needed | {option.name for each in some for option in each.options})
