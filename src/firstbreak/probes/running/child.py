"""The child's side: do the trainings of a list, one after the other, and tell each outcome as it comes."""

from __future__ import annotations

from typing import Any

from ...isolation.child import Wire
from ..adapters.reaching import reach
from ..ladder.outcome import to_plain
from ..ladder.rungs import rungs
from ..ladder.trial import Order
from .training import carry_out


def run_orders(payload: dict[str, Any], wire: Wire) -> None:
    """Carry out `payload["orders"]` with the trainer that the payload names.

    All trainings of a list share one process, so that a heavy import is paid once; a failure is judged on trainings of
    other processes too, so what one training leaves behind in global state cannot decide alone.
    """
    wire.tell("began", index=-1)
    reached = reach(payload["trainer"], payload["settings"], payload["steps"])
    for index, data in enumerate(payload["orders"]):
        order = Order(**data)
        wire.tell("began", index=index)
        outcome = carry_out(
            reached,
            rungs()[order.rung],
            order,
            seconds=payload["seconds"],
            beat=lambda steps: wire.tell("beat", steps=steps),
        )
        wire.tell("outcome", index=index, outcome=to_plain(outcome))
