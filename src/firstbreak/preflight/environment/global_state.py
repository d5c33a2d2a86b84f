"""What a whole process shares and an environment has no business changing: folder, variables, filters, handlers."""

from __future__ import annotations

import copy
import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

SIGNALS = ("SIGINT", "SIGTERM", "SIGALRM", "SIGCHLD", "SIGPIPE", "SIGHUP")

State = dict[str, Any]


def snapshot() -> State:
    """Return the state of everything looked at, by name."""
    state: State = {
        "working directory": os.getcwd(),
        "sys.path": list(sys.path),
        "warnings filters": list(warnings.filters),
        "numpy error settings": dict(np.geterr()),
        "numpy print options": {k: v for k, v in np.get_printoptions().items() if not callable(v)},
        "logging level": (logging.root.level, logging.root.manager.disable),
        "recursion limit": sys.getrecursionlimit(),
        "sys.stdout": id(sys.stdout),
        "sys.stderr": id(sys.stderr),
        "excepthook": id(sys.excepthook),
    }
    state |= {f"os.environ[{k}]": v for k, v in os.environ.items()}
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None:
            state[f"handler of {name}"] = signal.getsignal(number)
    return state | _torch()


def _torch() -> State:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_default_dtype"):
        return {}
    return {
        "torch default dtype": str(torch.get_default_dtype()),
        "torch threads": torch.get_num_threads(),
        "torch gradients on": torch.is_grad_enabled(),
        "torch deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
    }


def changed(before: State, after: State) -> list[str]:
    """Return the names of what differs; what only came to exist with an import (torch) does not count."""
    names = [name for name in before if after.get(name) != before[name]]
    names += [name for name in after if name not in before and name.startswith("os.environ[")]
    return sorted(names)


def restore(state: State) -> None:
    """Put back what can be put back."""
    os.chdir(state["working directory"])
    sys.path[:] = state["sys.path"]
    warnings.filters[:] = state["warnings filters"]  # type: ignore[index]
    if hasattr(warnings, "_filters_mutated"):
        warnings._filters_mutated()  # type: ignore[attr-defined]
    np.seterr(**state["numpy error settings"])
    np.set_printoptions(**copy.copy(state["numpy print options"]))
    logging.root.setLevel(state["logging level"][0])
    logging.disable(state["logging level"][1])
    sys.setrecursionlimit(state["recursion limit"])
    wanted = {k[len("os.environ[") : -1]: v for k, v in state.items() if k.startswith("os.environ[")}
    for name in [n for n in os.environ if n not in wanted]:
        del os.environ[name]
    os.environ.update(wanted)
    for name in SIGNALS:
        handler = state.get(f"handler of {name}")
        if handler is not None and signal.getsignal(getattr(signal, name)) != handler:
            signal.signal(getattr(signal, name), handler)


def changes_of(calls: list[tuple[str, Callable[[], Any]]]) -> dict[str, str]:
    """Make `calls` one after the other; return what each changed: name of the thing -> name of the call."""
    found: dict[str, str] = {}
    before = snapshot()
    for name, call in calls:
        call()
        after = snapshot()
        for thing in changed(before, after):
            found.setdefault(thing, name)
        before = after
    return found
