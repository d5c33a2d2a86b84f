"""What a recurrent policy carries from one step to the next, and whether it carries it over the end of an episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .owned import plain
from .pieces import Pieces
from .restore import modules_of
from .torch_types import Tensor, load_torch

STEPS, ENVS = 8, 4
HALF = STEPS // 2


@dataclass(frozen=True)
class Carried:
    """How far outputs of the second half move when observations of the first are replaced, over their spread."""

    across_frac: float
    """In environments that begin a new episode in between."""
    within_frac: float
    """In the others."""


def recurrent(pieces: Pieces) -> bool:
    """Whether a network of `pieces` holds a recurrent layer of PyTorch."""
    nn = load_torch().nn
    kinds = (nn.RNNBase, nn.RNNCellBase)
    return any(isinstance(layer, kinds) for top in modules_of(pieces) for layer in top.modules())


def carried(bench: Bench) -> Carried:
    """Measure `Carried`."""
    torch = load_torch()

    bench.need("sequence", "minibatch")
    rows = plain(cast(Any, bench.pieces.minibatch)())["obs"]
    if not rows.is_floating_point():
        raise cannot("observations are no real numbers, so that none can be made up")
    shape = (STEPS, ENVS, *rows.shape[1:])
    obs, other = torch.randn(shape), torch.randn(shape)
    first = torch.zeros(STEPS, ENVS, dtype=torch.bool)
    first[0] = True
    first[HALF, ::2] = True
    before, after = _outputs(bench, obs, first), _outputs(bench, torch.cat([other[:HALF], obs[HALF:]]), first)
    moved = (after - before)[HALF:].abs()
    spread = max(float(before.std()), 1e-12)
    return Carried(float(moved[:, ::2].max()) / spread, float(moved[:, 1::2].max()) / spread)


def _outputs(bench: Bench, obs: Tensor, first: Tensor) -> Tensor:
    torch = load_torch()
    with torch.no_grad():
        found = cast(Any, bench.pieces.sequence)(obs, first).detach().double()
    if found.shape[:2] != (STEPS, ENVS):
        raise cannot(f"sequence() gives shape {list(found.shape)} for {STEPS} steps of {ENVS} environments")
    return found
