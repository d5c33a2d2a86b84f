"""`inspect_tokens`: put every token invariant to a language-model trainer, in a child process where it is named."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ...check import Look, checks_of, look_at, pack
from ...inspection import Inspection, inspection
from ...isolation import Limits
from ..child import built
from ..invariants.torch_types import load_torch
from .bench import TokenBench
from .pieces import TokenPieces

FAMILY = "tokens"
LIMITS = Limits(seconds=300.0, silence_s=120.0)
"""Importing transformers and TRL alone may take half a minute on a busy machine."""
TASK = f"{__name__}:inspect_in_child"


def inspect_tokens(target: Any, *, isolate: bool = True, seed: int = 0, limits: Limits | None = None) -> Inspection:
    """Inspect `target`: `module:name`, `TokenPieces`, a function that returns them, or a trainer that is known.

    Texts are imported and run in a child process unless `isolate` is off; objects are looked at where they are, and
    left as they were.

    Raises:
        InputError: the target is nothing that can be looked at, or building it failed.
    """
    if isinstance(target, str) and isolate:
        return built(FAMILY, target, TASK, seed, limits or LIMITS)
    from .subjects import token_pieces

    pieces = token_pieces(target, seed)
    name = target if isinstance(target, str) else getattr(target, "__name__", type(target).__name__)
    if isinstance(target, TokenPieces):
        name = target.algorithm
    looks, details = look_at_pieces(pieces, seed)
    return inspection(FAMILY, name, looks, details=details)


def look_at_pieces(pieces: TokenPieces, seed: int, tell: Any = None) -> tuple[list[Look], dict[str, Any]]:
    """Put every check to the pieces; `tell` hears of each look as it ends."""
    torch = load_torch()

    start, threads = time.perf_counter(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        bench = TokenBench(pieces, seed)
        looks: list[Look] = []
        for one in checks_of(FAMILY):
            looks.append(look_at(one, bench))
            if tell is not None:
                tell(looks[-1])
        details: dict[str, Any] = {
            "algorithm": pieces.algorithm,
            "settings": _plain(pieces.settings),
            "seconds": round(time.perf_counter() - start, 3),
        }
    finally:
        torch.set_num_threads(threads)
    return looks, details


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = (bool, int, float, str, list, tuple, type(None))
    return {key: value for key, value in settings.items() if isinstance(value, plain)}


def inspect_in_child(payload: Mapping[str, Any], wire: Any) -> None:
    """The child's part: build, look, and tell of each look as it ends."""
    from .subjects import token_pieces

    seed = int(payload["seed"])
    wire.journal.begin("building the trainer", seed)
    load_torch().set_num_threads(1)
    pieces = token_pieces(payload["target"], seed)

    def tell(look: Look) -> None:
        wire.journal.begin(look.check, seed)
        wire.tell("look", look=pack(look))

    _, details = look_at_pieces(pieces, seed, tell)
    wire.tell("details", details=details)
