"""Which of two critics the actor of SAC climbs."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from .bench import Bench, cannot
from .capture import gradients
from .owned import actor_weights
from .rows import vector
from .soft import SLOPE
from .td_rows import replay_batch
from .torch_types import Tensor, load_torch

FAR = 1e4
"""What is added to one critic so that it is the larger everywhere: far above `SLOPE` times any squashed action."""


@dataclass(frozen=True)
class Climbed:
    """Where the actor's gradient lies between that of a falling Q (-1) and that of a rising one (+1).

    The first critic rises along the actions, the second falls.
    """

    second_larger: float
    first_larger: float


def climbed(bench: Bench) -> Climbed:
    """Measure `Climbed`."""
    bench.only("SAC")
    bench.need("critics", "actor", "update")
    if len(bench.pieces.critics) != 2:
        raise cannot("there are not two critics")
    batch, weights = bench.once(replay_batch), actor_weights(bench)
    width = int(batch["action"].shape[-1])

    def pulled(first: tuple[float, float], second: tuple[float, float]) -> Tensor:
        with _made_up(bench, (first, second), width) as calls:
            found = gradients(bench.pieces, batch, bench.seed)
        if found is None or len(set(calls)) < 2:
            raise cannot("an update does not call both critics as modules")
        return vector(found, weights)

    up, down = (pulled((slope, 0.0), (slope, 0.0)) for slope in (SLOPE, -SLOPE))
    half, middle = (up - down) / 2, (up + down) / 2
    size = float(half @ half)
    if size <= 0:
        raise cannot("the actor does not climb Q; there is a check for that")

    def place(first: float, second: float) -> float:
        return float((pulled((SLOPE, first), (-SLOPE, second)) - middle) @ half) / size

    return Climbed(place(0.0, FAR), place(FAR, 0.0))


@contextmanager
def _made_up(bench: Bench, lines: tuple[tuple[float, float], ...], width: int) -> Generator[list[int], None, None]:
    """Within, critic k returns the slope times the sum of the actions plus the offset of `lines[k]`; who was called."""
    torch = load_torch()
    calls: list[int] = []

    def hook(number: int) -> Any:
        slope, offset = lines[number]

        def replace(module: Any, given: Any, output: Any) -> Any:
            del module
            calls.append(number)
            action = given[1] if len(given) > 1 else given[0][..., -width:]
            return (slope * action.sum(-1) + offset).reshape(output.shape).to(torch.float32) + 0.0 * output

        return replace

    with ExitStack() as stack:
        for number, critic in enumerate(bench.pieces.critics):
            stack.callback(critic.register_forward_hook(hook(number)).remove)
        yield calls
