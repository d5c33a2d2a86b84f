"""The child's side: climb the ladder, tell each outcome as it comes, and give signs of life."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from ...isolation.child import Wire
from ..running.child import _starting as starting  # pyright: ignore[reportPrivateUsage]
from .climbing import climb
from .outcome import TokenOutcome, to_plain
from .reaching import reach

BEAT_S = 0.5


def climb_in_child(payload: dict[str, Any], wire: Wire) -> None:
    """Climb with the trainer that the payload names."""
    import torch

    torch.set_num_threads(1)
    with starting(wire):
        reached = reach(payload["trainer"], payload["steps"])
        if payload["trainer"].startswith("trl:"):
            import_module("trl")
    last = [0.0]

    def beat(rung: str, scored: int) -> None:
        if time.monotonic() - last[0] > BEAT_S:
            last[0] = time.monotonic()
            wire.journal.begin(f"train on {rung}", payload["seed"])
            wire.tell("beat", rung=rung, scored=scored)

    def tell(outcome: TokenOutcome) -> None:
        wire.tell("outcome", outcome=to_plain(outcome))

    climb(
        reached,
        seed=payload["seed"],
        everything=payload["everything"],
        seconds=payload["seconds"],
        tell=tell,
        beat=beat,
    )
