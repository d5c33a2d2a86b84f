"""Trainings in child processes, several at a time, ahead of being asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ...isolation import Ending, How, Limits, run
from ..ladder.outcome import Outcome, from_plain
from ..ladder.trial import Order

TASK = "firstbreak.probes.running.child:run_orders"
GRACE_S = 60.0
"""Seconds that a child may use beyond its trainings: imports of a deep-learning framework, asking the agent."""


class _Enough(Exception):
    """Raised while watching a child whose trainings nobody needs any more."""


class _AgainAlone(Exception):
    """Raised when a training fails in a process in which one has ended well: it may be what that one left behind.

    The rest of the list goes on in a new process, beginning with the one that failed.
    """


class Children:
    """Runs lists of trainings in `jobs` children; what was not ordered ahead gets a fresh child of its own."""

    def __init__(
        self, trainer: str, settings: Mapping[str, Any] | None, steps: int | None, limits: Limits, jobs: int = 2
    ) -> None:
        self.payload = {"trainer": trainer, "settings": dict(settings or {}), "steps": steps, "seconds": limits.seconds}
        self.limits, self.jobs = limits, max(jobs, 1)
        self.done: dict[Order, Outcome] = {}
        self.fault: BaseException | None = None
        self.news = threading.Condition()
        self.stopped = self.closed = False
        self.ahead: set[Order] = set()
        self.threads: list[threading.Thread] = []
        self.copies = ""
        """What is to be said of forks of the trainer that came back to our code; they have been stopped."""

    def order_ahead(self, orders: Sequence[Order]) -> None:
        """Begin `orders` now, dealt out in turn to the children so that the lowest rungs come first."""
        self.ahead = set(orders)
        self._start([list(orders[k :: self.jobs]) for k in range(self.jobs)])

    def get(self, orders: Iterable[Order]) -> list[Outcome]:
        """Return the outcomes of `orders`; those not under way are begun, side by side."""
        wanted = list(orders)
        coming: set[Order] = set() if self.stopped else self.ahead  # what was given up does not come any more
        fresh = [o for o in wanted if o not in coming and o not in self.done]
        if fresh:
            self._start([fresh[k :: self.jobs] for k in range(self.jobs)], even_if_stopped=True)
        with self.news:
            self.news.wait_for(lambda: self.fault is not None or all(o in self.done for o in wanted))
        if self.fault is not None:
            self.stop()
            raise self.fault
        return [self.done[o] for o in wanted]

    def stop(self) -> None:
        """Give up the trainings that were begun ahead."""
        self.stopped = True

    def close(self) -> None:
        """Stop everything and wait for the children to be gone."""
        self.stopped = self.closed = True
        for thread in self.threads:
            thread.join()

    def _start(self, lists: Iterable[list[Order]], even_if_stopped: bool = False) -> None:
        for orders in lists:
            if orders:
                thread = threading.Thread(target=self._work, args=(orders, even_if_stopped), daemon=True)
                self.threads.append(thread)
                thread.start()

    def _work(self, orders: list[Order], even_if_stopped: bool) -> None:
        try:
            while orders and not self._given_up(even_if_stopped):
                orders = orders[self._one_child(orders, even_if_stopped) :]
        except _Enough:
            return
        except BaseException as error:
            with self.news:
                self.fault = self.fault or error
                self.news.notify_all()

    def _given_up(self, even_if_stopped: bool) -> bool:
        return self.closed or (self.stopped and not even_if_stopped)

    def _one_child(self, orders: list[Order], even_if_stopped: bool) -> int:
        """Run one child over `orders`; return how many are settled, at least one.

        What fails as the first training of a process has nobody else to blame, and is settled.
        """
        under_way, settled, steps, call = 0, 0, 0, "train"
        finished = set[str]()

        def hear(message: dict[str, Any]) -> None:
            nonlocal under_way, settled, steps, call
            if message["kind"] == "began":
                under_way, steps = max(int(message["index"]), 0), 0
                call = "train" if message["index"] >= 0 else "import"
            elif message["kind"] == "beat":
                steps = int(message["steps"])
            elif message["kind"] == "call":
                call = str(message["name"])
            elif message["kind"] == "outcome":
                outcome = from_plain(message["outcome"])
                if outcome.kind in finished and outcome.ended in {"refused", "raised"}:
                    raise _AgainAlone
                if outcome.finished:
                    finished.add(outcome.kind)
                settled = int(message["index"]) + 1
                self._settle(orders[settled - 1], outcome)

        def between() -> None:
            if self._given_up(even_if_stopped):
                raise _Enough

        total = replace(self.limits, seconds=self.limits.seconds * len(orders) + GRACE_S)
        given = {**self.payload, "orders": [asdict(o) for o in orders]}
        try:
            ending = run(TASK, given, limits=total, hear=hear, between=between)
        except _AgainAlone:
            return settled
        self.copies = self.copies or ending.copies.words
        if ending.how is How.FINISHED and settled == len(orders):
            return settled
        under_way = max(under_way, settled)
        self._settle(orders[under_way], _cut_short(orders[under_way], ending, steps, call))
        return under_way + 1

    def _settle(self, order: Order, outcome: Outcome) -> None:
        with self.news:
            self.done[order] = outcome
            self.news.notify_all()


def _cut_short(order: Order, ending: Ending, steps: int, call: str) -> Outcome:
    return Outcome(
        rung=order.rung,
        kind=order.kind,
        seed=order.seed,
        factor=order.factor,
        ended=ending.how.value if ending.how is not How.FINISHED else "died",
        message=ending.message or "the process ended in the middle of a training",
        trace=ending.trace or ending.printed[-2000:],
        call=call,
        steps=steps,
        seconds=ending.seconds,
    )
