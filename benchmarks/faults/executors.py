"""Where runs are made: here, in processes of this machine, or on a Ray cluster, behind one small interface."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, Protocol

Job = Callable[[Any], Any]

EXCLUDED = [".venv*", ".git", "site", "docs", "tests", "benchmarks/*/*runs"]
"""What is not shipped to a cluster: Ray takes half a gigabyte at most, and no training reads any of it."""


class Executor(Protocol):
    """Does jobs and hands back (what was asked, what came of it) as they are done."""

    def results(self, job: Job, asked: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Start jobs in order, a few at a time; `asked` is drawn from as places fall free."""
        ...


class Here:
    """One after the other in this process."""

    def results(self, job: Job, asked: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """See `Executor`."""
        for one in asked:
            yield one, job(one)


class Processes:
    """Processes of this machine. Ctrl-C reaches this process alone, which then ends its own."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def results(self, job: Job, asked: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """See `Executor`."""
        waiting, going = iter(asked), dict[Future[Any], Any]()
        pool = ProcessPoolExecutor(self.jobs, get_context("spawn"), initializer=quiet)
        try:
            while True:
                while len(going) < self.jobs and (one := next(waiting, None)) is not None:
                    going[pool.submit(job, one)] = one
                if not going:
                    return
                for done in wait(going, return_when=FIRST_COMPLETED).done:
                    yield going.pop(done), done.result()
        finally:
            children = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for child in children if going else ():
                child.terminate()


class Cluster:
    """Tasks of a Ray cluster, whose nodes have the packages; runs come back here to be written.

    Tried on a cluster of one machine (`tests/ray`), where trainings are the same to the digit; on none of several.
    """

    def __init__(self, address: str) -> None:
        import ray

        self.ray: Any = ray
        ray.init(address=address or None, runtime_env={"working_dir": ".", "excludes": EXCLUDED})

    def results(self, job: Job, asked: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """See `Executor`."""
        remote = self.ray.remote(num_cpus=1)(job)
        waiting, going = iter(asked), dict[Any, Any]()
        places = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        while True:
            while len(going) < places and (one := next(waiting, None)) is not None:
                going[remote.remote(one)] = one
            if not going:
                return
            for done in self.ray.wait(list(going), num_returns=1)[0]:
                yield going.pop(done), self.ray.get(done)


def quiet() -> None:
    """A worker leaves Ctrl-C to its parent, and takes one core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def executor_of(jobs: int, ray_address: str | None) -> Executor:
    """The executor that the command line asks for."""
    if ray_address is not None:
        return Cluster(ray_address)
    return Processes(jobs) if jobs > 1 else Here()
