"""Which environment carries which bug that no detector was written for; a child process makes it by its name.

A bug is addressed as `tests.preflight.unseen.catalogue:bug_<id>` with underscores, a harmless oddity as
`...:harmless_<id>`, a policy as `...:policy_<id>`. The lists are `environment.toml` and `reward.toml` beside.
"""

from __future__ import annotations

from pathlib import Path

from tests.preflight.register import Maker, Register, attribute

__all__ = ["MAKERS", "ORIGINALS", "attribute", "bug", "listed", "load", "other"]

MODULES = ("contracts", "dynamics", "endings", "harmless", "sensors", "several")
REGISTER = Register(__name__.rpartition(".")[0], Path(__file__).parent, MODULES)
MAKERS, ORIGINALS = REGISTER.makers, REGISTER.originals
bug, other, listed, load = REGISTER.bug, REGISTER.other, REGISTER.listed, REGISTER.load


def __getattr__(name: str) -> Maker:
    return REGISTER.named(name)
