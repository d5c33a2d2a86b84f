"""How far an optimiser's steps go, against those that it makes of itself at its learning rate."""

from __future__ import annotations

from typing import Any

from ...preflight.invariants.pieces import Pieces

LEAST_REACH = 0.1
"""Of a batch that stays the same, Adam moves the weights by about its learning rate an update, whatever the size of the
gradient (Kingma and Ba 2015, arXiv 1412.6980, section 2.1). No weight moving by a tenth of that means that something
outweighs the gradient: an epsilon, or a norm that it is clipped to. Engineering default."""
_OWN_SCALE = "Adam"
"""In the name of optimisers whose steps do not scale with the gradient."""


class Reach:
    """Watches the actor's weights from now on; says nothing where another kind of optimiser moves them."""

    def __init__(self, pieces: Pieces) -> None:
        actor = {id(p) for p in pieces.actor.parameters()} if pieces.actor is not None else set[int]()
        self._groups: list[tuple[dict[str, Any], list[Any], list[Any]]] = []
        for optimiser in pieces.optimisers:
            for group in optimiser.param_groups:
                mine = [p for p in group["params"] if id(p) in actor]
                if mine and _OWN_SCALE in type(optimiser).__name__:
                    self._groups.append((group, mine, [p.detach().clone() for p in mine]))
        self._rates = [float(group["lr"]) for group, _, _ in self._groups]
        self.most: float | None = None
        """The farthest that any weight has gone, in learning rates an update; None where that cannot be told."""

    def look(self, updates: int) -> None:
        """Take the weights in as they are after so many updates."""
        for number, (group, now, before) in enumerate(self._groups):
            self._rates[number] = rate = max(self._rates[number], float(group["lr"]))
            if rate <= 0:
                continue
            moved = max(float((p.detach() - q).abs().max()) for p, q in zip(now, before, strict=True) if p.numel())
            self.most = max(self.most or 0.0, moved / (rate * updates))

    @property
    def short(self) -> bool:
        """Whether the weights stood all but still, though their optimiser asks for steps."""
        return self.most is not None and self.most < LEAST_REACH
