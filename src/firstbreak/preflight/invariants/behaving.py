"""How often training plays the greedy action, against the exploration rate that its plan names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from .bench import Bench, cannot
from .owned import plain
from .torch_types import load_torch

ROWS = 400
"""Actions looked at, at each point of the run."""


@dataclass(frozen=True)
class Greedy:
    """At one point of a run."""

    done_frac: float
    rate: float
    """Share of random actions that training's own plan names there."""
    greedy_frac: float
    least_frac: float
    most_frac: float
    """What the rate means where random actions are never, or as often as all others, the greedy one."""
    error_frac: float
    """Standard error of the share."""

    @property
    def errors(self) -> float:
        """Standard errors by which the share lies outside of what the rate means."""
        return max(self.least_frac - self.greedy_frac, self.greedy_frac - self.most_frac, 0.0) / self.error_frac


def greedy(bench: Bench) -> tuple[Greedy, ...]:
    """Measure `Greedy` at the beginning and at the end of a run."""
    torch = load_torch()

    bench.only("DQN")
    bench.need("behaviour", "q", "minibatch")
    n = int(bench.setting("n_actions"))
    plan = bench.pieces.schedules.get("exploration")
    if plan is None:
        raise cannot("the plan of the exploration rate is not shown", "pieces.schedules['exploration']")
    obs = plain(cast(Any, bench.pieces.minibatch)())["obs"]
    obs = obs.repeat(-(-ROWS // len(obs)), *[1] * (obs.dim() - 1))[:ROWS]
    with torch.no_grad():
        columns = [cast(Any, bench.pieces.q)(obs, torch.full((ROWS,), a))[0].reshape(-1) for a in range(n)]
    best = torch.stack(columns, -1).argmax(-1)
    found: list[Greedy] = []
    for done in (0.0, 1.0):
        rate = float(plan.used(done))
        played = cast(Any, bench.pieces.behaviour)(obs, done).reshape(-1)
        most = 1 - rate + rate / n
        error = max(most * (1 - most) / ROWS, 0.25 / ROWS**2) ** 0.5
        found.append(Greedy(done, rate, float((played == best).float().mean()), 1 - rate, most, error))
    return tuple(found)
