"""`inspect_trainer`: put every invariant to a trainer, in a child process where its code is named by a text."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ...check import Look, checks_of, look_at, pack
from ...errors import insist_seed
from ...finding import Skip
from ...inspection import Inspection, inspection
from ...isolation import Limits
from ..child import built
from .bench import Bench
from .pieces import Pieces
from .torch_types import load_torch

LIMITS = Limits(seconds=120.0, silence_s=60.0)
"""Ten times what the slowest known trainer needs."""
TASK = f"{__name__}:inspect_in_child"


def inspect_trainer(
    target: str | Pieces | Any, *, isolate: bool = True, seed: int = 0, limits: Limits | None = None
) -> Inspection:
    """Inspect `target`: `sb3:PPO`, `module:name`, `Pieces`, a trainer class or an instance.

    Texts are imported and run in a child process unless `isolate` is off; objects are looked at where they are, and
    left as they were.

    Raises:
        InputError: the target is nothing that can be looked at, or building it failed.
    """
    insist_seed(seed)
    name = target if isinstance(target, str) else _name_of(target)
    if isinstance(target, str) and isolate:
        return built("invariants", name, TASK, seed, limits or LIMITS)
    from .subjects import subjects

    looks, details = look_at_subjects(subjects(target, seed), seed)
    return inspection("invariants", name, looks, details=details)


def _name_of(target: Any) -> str:
    if isinstance(target, Pieces):
        return f"{target.algorithm} {target.name}".strip()
    return getattr(target, "__name__", type(target).__name__)


def look_at_subjects(found: Sequence[Pieces], seed: int, tell: Any = None) -> tuple[list[Look], dict[str, Any]]:
    """Put every check to every face of a trainer; the first face that shows a fault speaks for all."""
    torch = load_torch()

    start, threads = time.perf_counter(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        benches = [Bench(pieces, seed) for pieces in found]
        looks: list[Look] = []
        for one in checks_of("invariants"):
            looks.append(_together([look_at(one, bench) for bench in benches], benches))
            if tell is not None:
                tell(looks[-1])
        details: dict[str, Any] = {
            "algorithm": benches[0].pieces.algorithm,
            "faces": [bench.pieces.name for bench in benches],
            "settings": {b.pieces.name or "trainer": _plain(b.pieces.settings) for b in benches},
            "gradient_norms": {b.pieces.name or "trainer": _norms(b) for b in benches},
            "seconds": round(time.perf_counter() - start, 3),
        }
    finally:
        torch.set_num_threads(threads)
    return looks, details


def _together(looks: Sequence[Look], benches: Sequence[Bench]) -> Look:
    """One look for all faces: a symptom, else an error, else clear if any was clear, else the most useful skip."""
    from dataclasses import replace

    for look, bench in zip(looks, benches, strict=True):
        if look.symptom is not None:
            face = f"{bench.pieces.name}: {look.symptom.where}" if bench.pieces.name else look.symptom.where
            return replace(look, symptom=replace(look.symptom, where=face))
    for look in looks:
        if look.error:
            return look
    withheld = [k for k in looks if k.skip is not None and k.skip.withholds]
    clear = [k for k in looks if k.skip is None]
    if withheld or clear:
        return (withheld or clear)[0]
    return max(looks, key=lambda k: len(k.skip.unlock_with) if isinstance(k.skip, Skip) else 0)


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = (bool, int, float, str, list, tuple, type(None))
    return {k: v for k, v in settings.items() if isinstance(v, plain)}


def _norms(bench: Bench) -> dict[str, float]:
    """Gradient norms of the terms, for standardised advantages and value errors of 0.3 (on-policy) or 0.6."""
    from contextlib import suppress

    from .policy_rows import policy_rows, value_rows
    from .td_rows import targets

    norms: dict[str, float] = {}
    with suppress(Exception):  # what went wrong is told by the checks that need the same measurement
        if bench.on_policy:
            policy = bench.once(policy_rows)
            norms["policy"], norms["at_zero_advantage"] = policy.fit.norm, float(policy.zero.norm())
            norms["value"] = bench.once(value_rows).fit.norm
        else:
            norms["value"] = bench.once(targets).terminal.norm
    return norms


def inspect_in_child(payload: Mapping[str, Any], wire: Any) -> None:
    """The child's part: build, look, and tell of each look as it ends."""
    from .subjects import subjects

    wire.journal.begin("building the trainer", int(payload["seed"]))
    found = subjects(payload["target"], int(payload["seed"]))

    def tell(look: Look) -> None:
        wire.journal.begin(look.check, int(payload["seed"]))
        wire.tell("look", look=pack(look))

    _, details = look_at_subjects(found, int(payload["seed"]), tell)
    wire.tell("details", details=details)
