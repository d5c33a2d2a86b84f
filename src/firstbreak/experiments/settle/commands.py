"""The command of a look that a cause asks for, where the catalogue makes it; what is the user's stands in capitals.

Causes say in words what to do and need not know the catalogue: it is the ties that know.
"""

from __future__ import annotations

from functools import cache

from ...diagnosis import Confirmation
from ..experiment import find_experiment
from ..subject import Subject
from .steps import command_of
from .ties import TIES

OF_LANGUAGE = ("KL coefficient x10",)
"""Looks at one setting of a language model, whose trainer takes no environment."""


def command_for(look: Confirmation) -> str | None:
    """Return the command that makes a look: the cause's own, or that of the catalogue's experiment."""
    return look.command or template_of(look.experiment)


@cache
def template_of(look: str) -> str | None:
    """Return the command of a look by its name in the causes; None where it is made by hand or another command."""
    tie = TIES.get(look)
    if tie is None:
        return None
    one = find_experiment(tie.experiment)
    env = "ENV" if tie.given and look not in OF_LANGUAGE else ""
    return command_of(one, Subject(env=env, given=dict(tie.given)), "RUN")
