"""The child's side: do the trainings of a list, one after the other, and tell each outcome as it comes."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from ...isolation.child import Wire
from ..adapters.reaching import reach
from ..ladder.outcome import to_plain
from ..ladder.rungs import rungs
from ..ladder.trial import Order
from .training import carry_out

STARTING_S = 30.0
"""How long importing the trainer may take on top of the silence that is allowed: deep-learning frameworks are slow."""


def run_orders(payload: dict[str, Any], wire: Wire) -> None:
    """Carry out `payload["orders"]` with the trainer that the payload names.

    All trainings of a list share one process, so that a heavy import is paid once; a failure is judged on trainings of
    other processes too, so what one training leaves behind in global state cannot decide alone.
    """
    with _starting(wire):
        reached = reach(payload["trainer"], payload["settings"], payload["steps"])
        from ..environments import automaton  # its framework is paid for here as well

        del automaton
    for index, data in enumerate(payload["orders"]):
        order = Order(**data)
        wire.tell("began", index=index)
        wire.journal.begin("train", order.seed)
        outcome = carry_out(
            reached,
            rungs()[order.rung],
            order,
            seconds=payload["seconds"],
            beat=lambda steps: wire.tell("beat", steps=steps),
            under_way=lambda call: wire.tell("call", name=call),
        )
        wire.tell("outcome", index=index, outcome=to_plain(outcome))


@contextmanager
def _starting(wire: Wire) -> Generator[None, None, None]:
    """Within, give a sign of life every second, but not for ever: an import may hang too."""
    over = threading.Event()

    def live() -> None:
        for _ in range(int(STARTING_S)):
            wire.tell("began", index=-1)
            if over.wait(1.0):
                return

    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
