"""One training on one rung, in this process: make the environments, train, ask the agent, sum up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from ...errors import FirstbreakError
from ..environments.ledger import Ledger, NeverStops, TooSlow
from ..environments.world import Kind, World
from ..ladder.outcome import Outcome
from ..ladder.rung import Rung
from ..ladder.trial import Order
from .measure import BadAgent, ask, spread_of

Train = Callable[..., Any]
"""`train(make_env, *, total_steps, seed[, gamma]) -> agent`."""


@dataclass(frozen=True)
class Reached:
    """A trainer that can be called, and what is known of it."""

    train: Train
    takes_gamma: bool
    steps: int
    """Steps of the first try of a rung of effort 1."""
    actions: tuple[str, ...] = ()
    """Action spaces it declares; empty: to be found out by trying."""


class MakeEnv:
    """What a trainer gets as `make_env`: each call makes one more copy of the rung's environment."""

    def __init__(self, world: World, kind: Kind, ledger: Ledger | None) -> None:
        self.world = world
        self.kind: Kind = kind
        self.ledger = ledger

    def __call__(self) -> Any:
        """Make a copy."""
        from ..environments.automaton import Automaton

        return Automaton(self.world, self.kind, self.ledger)

    def __getstate__(self) -> dict[str, Any]:
        return {"world": self.world, "kind": self.kind, "ledger": None}


def carry_out(
    reached: Reached,
    rung: Rung,
    order: Order,
    *,
    seconds: float = 0.0,
    beat: Callable[[int], None] | None = None,
    under_way: Callable[[str], None] | None = None,
) -> Outcome:
    """Train on `rung` as `order` says and return what came of it; what the user's code raises becomes an outcome.

    `beat` hears the steps done from time to time, `under_way` the name of each call that begins after `train`.
    """
    if reached.actions and order.kind not in reached.actions:
        return Outcome(
            rung.name, order.kind, order.seed, order.factor, "refused", f"declares {reached.actions} actions"
        )
    steps = int(reached.steps * rung.effort * order.factor)
    ledger = Ledger(steps, seconds, beat)
    start = time.monotonic()
    calls = ["train"]
    keywords: dict[str, Any] = {"total_steps": steps, "seed": order.seed}
    if reached.takes_gamma:
        keywords["gamma"] = rung.gamma
    told: dict[str, Any] = {}

    def begins(call: str) -> None:
        if call != calls[-1] and under_way is not None:
            under_way(call)
        calls.append(call)

    try:
        agent = reached.train(MakeEnv(rung.world, order.kind, ledger), **keywords)
        told = ask(agent, rung.world, order.kind, ledger, begins)
        ended, message, trace = "finished", "", ""
    except FirstbreakError as error:
        if ledger.steps > 0:
            raise
        ended, message, trace = "refused", error.message, ""  # a trainer of ours that does not take these actions
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        words = f"{error}" if isinstance(error, BadAgent) else f"{type(error).__name__}: {error}"
        ended, message = _failure(error, ledger), words[:1000]
        trace = traceback.format_exc()[-4000:]
    gamma = rung.gamma if reached.takes_gamma else cast("float | None", told.pop("gamma", None))
    told.pop("gamma", None)
    return Outcome(
        rung=rung.name,
        kind=order.kind,
        seed=order.seed,
        factor=order.factor,
        ended=ended,
        message=message,
        trace=trace,
        call=calls[-1],
        steps=ledger.steps,
        copies=ledger.copies,
        seconds=time.monotonic() - start,
        gamma=gamma,
        tried={f"{s},{c}": n for (s, c), n in ledger.all.items()},
        late={f"{s},{c}": n for (s, c), n in ledger.late.items()},
        first_spread=spread_of(ledger.first_actions, rung.world) if order.kind == "continuous" else [],
        **(told if ended == "finished" else {}),
    )


def _failure(error: BaseException, ledger: Ledger) -> str:
    if isinstance(error, TooSlow):
        return "too_slow"
    if isinstance(error, NeverStops):
        return "never_stops"
    if isinstance(error, BadAgent):
        return "bad_agent"
    return "refused" if ledger.steps == 0 and isinstance(error, Exception) else "raised"
