"""Where trials run. An executor takes orders (arm, seed) and returns how each ended; two are known, one interface."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ...errors import InputError
from ...isolation import Ending, How, Limits, run
from ..subject import Subject
from ..trial import Ended, ended

TASK = "firstbreak.experiments.running.child:run_orders"
GRACE_S = 60.0
"""Seconds that a child may use beyond its trials: importing a deep-learning framework."""

REMOVALS = 50
"""A folder is removed so often, a tenth of a second apart, before it is left where it is."""
Order = tuple[str, int]
"""(arm, seed)."""


@dataclass(frozen=True)
class Job:
    """What a trial is of: the experiment's address, the subject, and the limits of one trial."""

    experiment: str
    subject: Subject
    limits: Limits


class Executor(Protocol):
    """Runs trials; a KeyboardInterrupt leaves no process behind."""

    def run(self, job: Job, orders: Sequence[Order], tell: Callable[[Ended], None]) -> list[Ended]:
        """Return how each of `orders` ended, in their order; `tell` hears of each as it ends.

        Raises:
            FirstbreakError: the subject does not offer what the experiment needs.
        """
        ...


class StoppedError(Exception):
    """Raised in the parent of a child that nobody wants any more."""


def carry_out(job: Job, orders: Sequence[Order], stop: Path, tell: Callable[[Ended], None]) -> list[Ended]:
    """Run `orders` in one child, and what is left in a fresh one where a child did not survive a trial.

    When the file `stop` appears, the child is stopped.
    """
    done: list[Ended] = []
    while len(done) < len(orders):
        done += _one_child(job, orders[len(done) :], stop, tell)
    return done


def _one_child(job: Job, orders: Sequence[Order], stop: Path, tell: Callable[[Ended], None]) -> list[Ended]:
    over: list[Ended] = []

    def hear(message: dict[str, Any]) -> None:
        if stop.exists():
            raise StoppedError
        if message["kind"] == "ended":
            over.append(ended(message["ended"]))
            tell(over[-1])

    payload = {
        "experiment": job.experiment,
        "subject": job.subject.plain(),
        "orders": [list(order) for order in orders],
        "seconds": job.limits.seconds,
        "stop": str(stop),
    }
    total = replace(job.limits, seconds=(job.limits.seconds + GRACE_S) * len(orders))
    ending = run(TASK, payload, limits=total, hear=hear)
    if stop.exists():
        raise StoppedError
    if len(over) < len(orders):
        over.append(_cut_short(orders[len(over)], ending))
        tell(over[-1])
    return over


def _cut_short(order: Order, ending: Ending) -> Ended:
    how = ending.how.value if ending.how is not How.FINISHED else "died"
    trace = ending.trace or ending.printed[-2000:]
    return Ended(*order, how, message=ending.message or "the process ended", trace=trace, seconds=ending.seconds)


@contextmanager
def folder_of_its_own() -> Generator[Path, None, None]:
    """Yield a new folder. It is gone afterwards, even if a process that is just dying writes into it to the last."""
    folder = Path(tempfile.mkdtemp(prefix="firstbreak-"))
    try:
        yield folder
    finally:
        for _ in range(REMOVALS):
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


class Local:
    """Child processes on this machine, `jobs` at a time."""

    def __init__(self, jobs: int = 1) -> None:
        if jobs < 1:
            raise InputError(f"{jobs} is no number of processes.", "Give --jobs 1 or more.")
        self.jobs = jobs

    def run(self, job: Job, orders: Sequence[Order], tell: Callable[[Ended], None]) -> list[Ended]:
        """Deal `orders` out to the children in turn."""
        hands = [list(range(len(orders)))[k :: self.jobs] for k in range(min(self.jobs, len(orders)))]
        found: dict[int, Ended] = {}
        faults: list[BaseException] = []
        lock = threading.Lock()

        def heard(one: Ended) -> None:
            with lock:
                tell(one)

        def work(hand: list[int], stop: Path) -> None:
            try:
                mine = carry_out(job, [orders[i] for i in hand], stop, heard)
                found.update(zip(hand, mine, strict=True))
            except StoppedError:
                return
            except BaseException as error:
                faults.append(error)
                stop.touch()

        with folder_of_its_own() as folder:
            stop = folder / "stop"
            threads = [threading.Thread(target=work, args=(hand, stop), daemon=True) for hand in hands]
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    while thread.is_alive():
                        thread.join(0.1)
            finally:
                stop.touch()
                for thread in threads:
                    thread.join()
        if faults:
            raise faults[0]
        return [found[i] for i in range(len(orders))]
