"""Whether the policy that is trained is the one that plays, and the one that TD targets ask at the next observation."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .capture import watching
from .stored import BLOWN_UP
from .td_rows import replay_batch
from .torch_types import Tensor, load_torch

STEPS = 100
"""Steps of the environments, and as many draws of the policy at what they saw."""


@dataclass(frozen=True)
class Played:
    """Actions that the environments received against draws of the policy at the same observations."""

    distance: float
    """Largest distance between the two distribution functions, over the action's dimensions (Kolmogorov, Smirnov)."""
    steps: int


def played(bench: Bench) -> Played:
    """Measure `Played`, the actor's weights blown up so that its draws lie elsewhere than uniform ones."""
    torch = load_torch()

    bench.only("SAC")
    bench.need("actor", "act", "collect", "witnessed", "executed")
    if bench.pieces.settings.get("n_actions") or bench.pieces.settings.get("shared_noise"):
        raise cannot("actions are discrete, or share their noise")
    with torch.no_grad():
        for weight in cast(Any, bench.pieces.actor).parameters():
            if weight.dim() > 1:
                weight.mul_(BLOWN_UP)
    cast(Any, bench.pieces.collect)(STEPS)
    seen = cast(Any, bench.pieces.witnessed)()
    received = seen["action"][-STEPS:].flatten(0, 1).float()
    obs = seen["obs"][-STEPS:].flatten(0, 1)
    with torch.no_grad():
        drawn = cast(Any, bench.pieces.executed)(cast(Any, bench.pieces.act)(obs)[0]).reshape(received.shape)
    gaps = [_distance(received[:, i], drawn[:, i]) for i in range(received.shape[1])]
    return Played(max(gaps), len(received))


def _distance(one: Tensor, other: Tensor) -> float:
    torch = load_torch()

    places = torch.cat([one, other]).sort().values
    shares = [(torch.searchsorted(part.sort().values, places, right=True) / len(part)) for part in (one, other)]
    return float((shares[0] - shares[1]).abs().max())


@dataclass(frozen=True)
class Asked:
    """Shares of the rows of a replay batch that one update gave to the actor or to a layer of it."""

    at_obs_frac: float
    at_next_frac: float


def asked(bench: Bench) -> Asked:
    """Measure `Asked`."""
    torch = load_torch()

    bench.only("SAC")
    bench.need("actor", "update")
    batch = bench.once(replay_batch)
    width = batch["obs"][0].numel()
    with _inputs(bench.pieces.actor) as seen, watching():
        cast(Any, bench.pieces.update)(batch)
    flat = [rows.reshape(len(rows), -1) for rows in seen if rows.dim() > 1]
    given = torch.cat([rows for rows in flat if rows.shape[1] == width] or [torch.zeros(0, width)])

    after = batch["next_obs"][~batch["terminated"]]
    after = after[~_among(after, batch["obs"])]  # the observation after one row may be that of another
    if not len(after):
        raise cannot("every next observation of the batch is an observation of it as well")
    return Asked(*(float(_among(rows, given).float().mean()) for rows in (batch["obs"], after)))


def _among(rows: Tensor, others: Tensor) -> Tensor:
    """Which of `rows` [B, ...] occur among `others` [M, ...]."""
    flat, held = (part.reshape(len(part), -1).float() for part in (rows, others))
    return (flat[:, None] == held[None]).all(-1).any(-1)


@contextmanager
def _inputs(network: Any) -> Generator[list[Tensor], None, None]:
    """Within, the tensors that `network` and the modules in it are given."""
    found: list[Tensor] = []

    def note(module: Any, given: Any) -> None:
        del module
        found.extend(one.detach().clone() for one in given if hasattr(one, "detach"))

    with ExitStack() as stack:
        for module in network.modules():
            stack.callback(module.register_forward_pre_hook(note).remove)
        yield found
