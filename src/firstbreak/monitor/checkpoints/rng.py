"""The random generators of a process: Python, numpy, torch on CPU and CUDA, and generators given by name."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from .errors import CheckpointError


def rng_state(**generators: Any) -> dict[str, Any]:
    """Return the state of every global generator, and of `generators` by name, as plain data.

    CUDA generators are included once CUDA is in use. Generators of other processes (environment workers, samplers)
    are not: they must be saved where they live.
    """
    version, words, gauss = random.getstate()
    state: dict[str, Any] = {
        "python": {"version": version, "words": np.asarray(words, np.uint32), "gauss": gauss},
        "numpy": np.random.get_state(legacy=False),
        "given": {name: generator_state(generator) for name, generator in generators.items()},
    }
    torch = cast(Any, sys.modules.get("torch"))
    if torch is not None:
        state["torch"] = torch.get_rng_state()
        if torch.cuda.is_initialized():
            state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_rng_state(state: Mapping[str, Any], **generators: Any) -> tuple[str, ...]:
    """Put back what `rng_state` returned; return the names of what could not be put back here."""
    python = state["python"]
    random.setstate((python["version"], tuple(int(w) for w in python["words"]), python["gauss"]))
    np.random.set_state(state["numpy"])
    left = [f"given:{name}" for name in state.get("given", {}) if name not in generators]
    for name, generator in generators.items():
        if name not in state.get("given", {}):
            raise CheckpointError(f"The checkpoint holds no state of the generator {name!r}.")
        set_generator_state(generator, state["given"][name])
    torch = cast(Any, sys.modules.get("torch"))
    if torch is None:
        return (*left, *(name for name in ("torch", "cuda") if name in state))
    if "torch" in state:
        torch.set_rng_state(state["torch"])
    saved = list(state.get("cuda", ()))
    here = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for device, one in enumerate(saved[:here]):
        torch.cuda.set_rng_state(one, device)
    return (*left, *(f"cuda:{device}" for device in range(here, len(saved))))


def is_generator(thing: Any) -> bool:
    """Whether `thing` is a random generator of Python, numpy or torch."""
    torch = cast(Any, sys.modules.get("torch"))
    ours = isinstance(thing, random.Random | np.random.Generator | np.random.RandomState)
    return ours or (torch is not None and isinstance(thing, torch.Generator))


def generator_state(generator: Any) -> Any:
    """Return the state of one generator as plain data."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    if isinstance(generator, random.Random):
        version, words, gauss = generator.getstate()
        return {"version": version, "words": np.asarray(words, np.uint32), "gauss": gauss}
    return generator.get_state()


def set_generator_state(generator: Any, state: Any) -> None:
    """Put one generator back."""
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, random.Random):
        generator.setstate((state["version"], tuple(int(w) for w in state["words"]), state["gauss"]))
    else:
        generator.set_state(state)
