"""One training on one rung, in this process: make the environments, train, ask the agent, sum up."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from ...errors import FirstbreakError
from ..environments.ledger import Ledger, NeverStops, TooSlow
from ..environments.world import Kind, World
from ..ladder.outcome import DECLARES, Outcome
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


@dataclass
class _Ending:
    """How a training ended, before it is summed up."""

    ended: str = "finished"
    message: str = ""
    trace: str = ""
    told: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the agent answered; empty unless it finished."""


class _Calls:
    """Remembers which of the user's calls is under way, and says so when a new one begins."""

    def __init__(self, under_way: Callable[[str], None] | None) -> None:
        self.last = "train"
        self._under_way = under_way

    def __call__(self, call: str) -> None:
        if call != self.last and self._under_way is not None:
            self._under_way(call)
        self.last = call


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
            rung.name, order.kind, order.seed, order.factor, "refused", f"{DECLARES} {reached.actions} actions"
        )
    ledger = Ledger(int(reached.steps * rung.effort * order.factor), seconds, beat)
    calls = _Calls(under_way)
    start = time.monotonic()
    ending = _train_and_ask(reached, rung, order, ledger, calls)
    return _summed_up(reached, rung, order, ledger, ending, calls.last, time.monotonic() - start)


def _train_and_ask(reached: Reached, rung: Rung, order: Order, ledger: Ledger, calls: _Calls) -> _Ending:
    """Train, ask the agent, and catch whatever the user's code raises."""
    keywords: dict[str, Any] = {"total_steps": ledger.total_steps, "seed": order.seed}
    if reached.takes_gamma:
        keywords["gamma"] = rung.gamma
    try:
        agent = reached.train(MakeEnv(rung.world, order.kind, ledger), **keywords)
        return _Ending(told=ask(agent, rung.world, order.kind, ledger, calls))
    except FirstbreakError as error:
        if ledger.steps > 0:
            raise
        return _Ending("refused", error.message)  # a trainer of ours that does not take these actions
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        words = f"{error}" if isinstance(error, BadAgent) else f"{type(error).__name__}: {error}"
        ended = _failure(error, ledger)
        if ended == "refused" and order.kind in reached.actions:
            ended = "raised"  # it says that it takes these actions, so that is no refusal of them
        return _Ending(ended, words[:1000], traceback.format_exc()[-4000:])


def _summed_up(
    reached: Reached, rung: Rung, order: Order, ledger: Ledger, ending: _Ending, call: str, seconds: float
) -> Outcome:
    told = dict(ending.told)
    of_agent = cast("float | None", told.pop("gamma", None))
    return Outcome(
        rung=rung.name,
        kind=order.kind,
        seed=order.seed,
        factor=order.factor,
        ended=ending.ended,
        message=ending.message,
        trace=ending.trace,
        call=call,
        steps=ledger.steps,
        copies=ledger.copies,
        seconds=seconds,
        gamma=rung.gamma if reached.takes_gamma else of_agent,
        tried={f"{s},{c}": n for (s, c), n in ledger.all.items()},
        late={f"{s},{c}": n for (s, c), n in ledger.late.items()},
        first_spread=spread_of(ledger.first_actions, rung.world) if order.kind == "continuous" else [],
        **told,
    )


def _failure(error: BaseException, ledger: Ledger) -> str:
    if isinstance(error, TooSlow):
        return "too_slow"
    if isinstance(error, NeverStops):
        return "never_stops"
    if isinstance(error, BadAgent):
        return "bad_agent"
    return "refused" if ledger.steps == 0 and isinstance(error, Exception) else "raised"
