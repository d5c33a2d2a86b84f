"""Tries of the user's own function, each in a child process, here or on a cluster: it may raise, hang or eat memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...errors import FirstbreakError
from ...isolation import How, Limits, run
from ...target import load_target
from .tries import Shows


def child_symptom(target: str, limits: Limits | None = None, *, crash: str = "") -> Shows:
    """Return a test that calls `target(config, seed)` in a child process; its truth says whether the symptom showed.

    Args:
        target: `module:name` or `file.py:name`.
        limits: Of each run.
        crash: The symptom is a crash: the name of an exception (`FloatingPointError`), or of another end (`hung`,
            `died`, `out_of_memory`, `too_slow`). Any other crash is no answer.
    """

    return _ChildSymptom(target, limits, crash)


class Cluster(Protocol):
    """Other machines, such as those of `experiments.running.on_ray.OnRay`."""

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `function` returns on one of them."""
        ...


class ClusterSymptom:
    """The same test as `child_symptom`, whose child is one of a machine of the cluster."""

    def __init__(self, cluster: Cluster, target: str, limits: Limits | None = None, *, crash: str = "") -> None:
        self.cluster, self.told = cluster, (target, limits, crash)
        self.ended = ""

    def __call__(self, config: Mapping[str, Any], seed: int) -> bool | None:
        """Return whether the run showed the symptom; None where it ended in another way."""
        answer, ended = self.cluster.call(tried_there, *self.told, dict(config), seed)
        self.ended = ended or self.ended
        return answer


def tried_there(
    target: str, limits: Limits | None, crash: str, config: Mapping[str, Any], seed: int
) -> tuple[bool | None, str]:
    """Return whether one run showed the symptom, and how it ended where it was no answer."""
    symptom = _ChildSymptom(target, limits, crash)
    return symptom(config, seed), symptom.ended


class _ChildSymptom:
    """See `child_symptom`; `ended` says how the last run ended that was no answer."""

    def __init__(self, target: str, limits: Limits | None, crash: str) -> None:
        self.target, self.limits, self.crash = target, limits, crash
        self.ended = ""

    def __call__(self, config: Mapping[str, Any], seed: int) -> bool | None:
        answer: list[bool] = []
        payload = {"target": self.target, "config": dict(config), "seed": seed}
        ending = run(f"{__name__}:one_run", payload, limits=self.limits, hear=lambda m: _hear(m, answer))
        if ending.how is How.FINISHED and answer:
            return answer[-1] and not self.crash
        raised = ending.message.split(":", 1)[0].strip()
        if self.crash and self.crash in (raised, raised.rsplit(".", 1)[-1], ending.how.value):
            return True
        self.ended = f"{ending.how.value}: {ending.message}"[:300]
        return None


def _hear(message: dict[str, Any], answer: list[bool]) -> None:
    if message.get("kind") == "symptom":
        answer.append(bool(message["shows"]))


def one_run(payload: Mapping[str, Any], wire: Any) -> None:
    """Run once and report, in the child."""
    function = load_target(payload["target"])
    try:
        shown = bool(function(payload["config"], payload["seed"]))
    except FirstbreakError as error:  # of the run, not of the target: one run that ended in another way
        raise RuntimeError(f"{type(error).__name__}: {error.message}") from error
    wire.tell("symptom", shows=shown)
