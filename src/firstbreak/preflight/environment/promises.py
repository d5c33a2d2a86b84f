"""Whether an environment says of itself that its starts are random."""

from __future__ import annotations

import re
from typing import Any

from .layers import chain
from .recording import close_quietly
from .shapes import attributes_of
from .world import World

WORDS = re.compile(r"\b(random|randomi[sz]ed?|randomly|uniform(ly)?|sampled?)\b", re.IGNORECASE)
START = re.compile(r"\b(start(s|ing)?|initial|spawn(s|ed)?)\b", re.IGNORECASE)
SEEDS = (1234567, 7654321)
"""Given to reset to see whether they arrive; -1 is what Gymnasium says of a generator set by hand."""
SENTENCE = re.compile(r"[.!?]\s|\n\s*\n")
"""Where a sentence ends: both words must stand in one."""


def promise_of(world: World) -> str:
    """Return what promises random starts (a flag, an argument, the documentation), empty when nothing does."""
    env = world.make()
    try:
        for layer in chain(env)[1:]:
            found = _flag(layer) or _documented(layer)
            if found:
                return found
        return _reseeded(env)
    finally:
        close_quietly(env)


def _reseeded(env: Any) -> str:
    """Whether `reset` puts a seed of its own in the place of the one given, as Gymnasium's generator tells."""
    inner = chain(env)[-1]
    kept: list[Any] = []
    for seed in SEEDS:
        env.reset(seed=seed)
        kept.append(attributes_of(inner).get("_np_random_seed"))
    fixed = isinstance(kept[0], int) and kept[0] == kept[1] and kept[0] not in (*SEEDS, -1)
    return f"a generator that reset seeds with {kept[0]} each time" if fixed else ""


def _flag(layer: Any) -> str:
    arguments: Any = getattr(getattr(layer, "spec", None), "kwargs", None) or {}
    known: dict[str, Any] = {**arguments, **attributes_of(layer)}
    for name, value in known.items():
        if re.search(r"random", name, re.IGNORECASE) and not name.startswith("_") and value is True:
            return f"{name}=True"
    return ""


def _documented(layer: Any) -> str:
    """Read the documentation of the environment itself; that of a wrapper speaks of many environments."""
    if "env" in attributes_of(layer):
        return ""
    kind: Any = layer.__class__
    for text in (str(kind.__doc__ or ""), str(getattr(kind, "reset", kind).__doc__ or "")):
        if any(START.search(part) and WORDS.search(part) for part in SENTENCE.split(text)):
            return f"the docstring of {kind.__name__}"
    return ""
