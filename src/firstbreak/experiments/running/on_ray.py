"""The same trials on the machines of a Ray cluster: the same few lines, one remote call for each order."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError, missing_extra
from ..trial import Ended
from .executor import Job, Order, carry_out, folder_of_its_own


class OnRay:
    """Runs each trial as a Ray task of `cpus` cores; within it, in a child process with the same limits as here.

    The trainer must be importable on every machine of the cluster; Ray ships the working directory when asked to
    (`runtime_env`).
    """

    def __init__(
        self, address: str | None = None, cpus: float = 1.0, runtime_env: dict[str, Any] | None = None
    ) -> None:
        try:
            self.ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise missing_extra("ray", "ray", "Running trials on a cluster") from error
        self.cpus = cpus
        if not self.ray.is_initialized():
            self.ray.init(address=address, runtime_env=runtime_env, log_to_driver=False)

    def run(self, job: Job, orders: Sequence[Order], tell: Callable[[Ended], None]) -> list[Ended]:
        """Run every order as a task; cancel what is left when interrupted."""
        remote = self.ray.remote(num_cpus=self.cpus, max_retries=0)(alone)
        tasks = [remote.remote(job, order) for order in orders]
        left, found = list(tasks), dict[Any, Ended]()
        try:
            while left:
                ready, left = self.ray.wait(left, num_returns=1)
                for task in ready:
                    found[task] = self._get(task)
                    tell(found[task])
        finally:
            for task in left:
                self.ray.cancel(task, force=True)
        return [found[task] for task in tasks]

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `function` returns on some machine of the cluster; it is cancelled when interrupted."""
        task = self.ray.remote(num_cpus=self.cpus, max_retries=0)(function).remote(*arguments)
        try:
            return self._get(task)
        except BaseException:
            self.ray.cancel(task, force=True)
            raise

    def _get(self, task: Any) -> Any:
        try:
            return self.ray.get(task)
        except self.ray.exceptions.RayError as error:
            cause = getattr(error, "cause", None) or error
            if not isinstance(cause, self.ray.exceptions.RayError):  # the subject's own, as on this machine
                raise cause from None
            told = [line for line in str(cause).splitlines() if line.strip()]
            raise InputError(
                f"The cluster could not run a trial: {told[0] if told else type(cause).__name__}"[:300],
                "Install firstbreak and what your trainer needs on every machine of the cluster, and let your "
                "trainer's module be found there: PYTHONPATH, or a runtime_env with its working_dir.",
            ) from error


def alone(job: Job, order: Order) -> Ended:
    """Run one order in a child of this process."""
    with folder_of_its_own() as folder:
        return carry_out(job, [order], folder / "stop", lambda ended: None)[0]
