"""The random generators that a whole process shares: `random`, `numpy.random` and, where it is loaded, torch."""

from __future__ import annotations

import random
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np


def states() -> dict[str, Any]:
    """Return the state of each global generator, in a form that can be compared with `==`."""
    kept: dict[str, Any] = {"random": random.getstate()}
    state: Any = np.random.get_state()
    kept["numpy.random"] = (state[1].tobytes(), *state[2:])
    torch = sys.modules.get("torch")
    if torch is not None:
        kept["torch"] = torch.get_rng_state().numpy().tobytes()
    return kept


def seed_all(seed: int) -> None:
    """Seed every global generator."""
    random.seed(seed)
    np.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the generators whose state differs; one loaded in between does not count."""
    return [name for name, state in before.items() if after[name] != state]


@contextmanager
def borrowed(seed: int) -> Generator[None, None, None]:
    """Seed the global generators with `seed` for a while and put their states back afterwards."""
    kept: tuple[Any, Any] = (random.getstate(), np.random.get_state())
    torch = sys.modules.get("torch")
    torch_state = None if torch is None else torch.get_rng_state()
    seed_all(seed)
    try:
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)
