"""Runs that live on a tracking server, read by their address. Opt-in: nothing is fetched but what the user typed.

Each module named in `_MODULES` holds a `REMOTE`. They are imported on first use: a local log costs nothing.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...runlog import Problem, Recording
from ..protocol import Options

_MODULES = ("mlflow_server", "wandb_cloud")
_ADDRESS = re.compile(r"(?:mlflow\+)?https?://|runs:/", re.IGNORECASE)


@dataclass(frozen=True)
class Remote:
    """One kind of tracking server: whether an address is one of its runs, and how to fetch that run."""

    name: str
    title: str
    form: str
    """How an address of a run looks."""
    recognise: Callable[[str], bool]
    fetch: Callable[[str, Options], Recording]
    verified: bool = True
    """False while no answer of a real server has been read."""


def is_url(source: Any) -> bool:
    """Whether `source` is a text that names a run on a server rather than a path."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def remotes() -> tuple[Remote, ...]:
    """Return every kind of server, by name."""
    return tuple(importlib.import_module(f"{__name__}.{module}").REMOTE for module in _MODULES)


def fetch(address: str, options: Options) -> Recording:
    """Fetch the run at `address`.

    Raises:
        InputError: it is not the address of a run, or the server does not know or show it.
        UnreadableError: the server cannot be reached or its answer cannot be used.
    """
    from .http import origin

    if not address.lower().startswith("runs:"):
        origin(address[len("mlflow+") :] if address.lower().startswith("mlflow+") else address)
    kinds = remotes()
    kind = next((kind for kind in kinds if kind.recognise(address)), None)
    if kind is None:
        forms = " or ".join(kind.form for kind in kinds)
        raise InputError("The address is not that of a run on a server that firstbreak can read.", f"Give {forms}.")
    recording = kind.fetch(address, options)
    if not kind.verified:
        what = f"the reader for {kind.title} was made from its documentation and never tried on a real answer."
        recording.problems.append(Problem(recording.path, "", what, "Compare a curve with the one its page shows."))
    return recording
