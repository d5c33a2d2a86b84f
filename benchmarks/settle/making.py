"""Make one experiment in a child process with limits, by firstbreak's own engine, and say what it cost.

The recorded runs' `cpu_s` leave out the time for importing torch, so it is left out here as well, and told beside it.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from firstbreak.errors import FirstbreakError
from firstbreak.experiments.subject import Subject
from firstbreak.isolation import How, Limits, run
from firstbreak.isolation.child import Wire

TASK = "benchmarks.settle.making:child"
SECONDS = 1800.0
"""Of one experiment, all trials together. The longest that is meant to be made, `batch-x4`, trains 25 times as long as
the run."""
MOST_PAIRS = 10
"""Pairs of seeds at most: a cheaper limit than a user's 20. Engineering default."""
IMPORTED = (
    "torch", "gymnasium", "benchmarks.settle.sb3", "benchmarks.settle.reference",
    "firstbreak.preflight.invariants.adapters.sb3_on_policy", "firstbreak.preflight.invariants.adapters.sb3_off_policy",
    "firstbreak.preflight.invariants.adapters.reference",
)  # fmt: skip
"""What an experiment may import on its way."""


def made(experiment: str, subject: Subject, seconds: float = SECONDS, first_seed: int = 0) -> dict[str, Any]:
    """Make an experiment, its seeds counted from `first_seed`; return it as plain data, with `cpu_s`, `startup_cpu_s`.

    What keeps it from ending is in `ended`; it is empty where there is a verdict, even an inconclusive one.
    """
    found: dict[str, Any] = {}

    def hear(message: dict[str, Any]) -> None:
        if message["kind"] == "result":
            found.update({k: v for k, v in message.items() if k != "kind"})

    payload = {"experiment": experiment, "subject": subject.plain(), "seconds": seconds, "first_seed": first_seed}
    limits = Limits(seconds=2 * seconds, silence_s=2 * seconds)  # a machine shared with others is slower by the clock
    try:
        ending = run(TASK, payload, limits=limits, hear=hear)
    except FirstbreakError as error:
        return {"result": None, "ended": f"refused: {error.message}"}
    if ending.how is not How.FINISHED or not found:
        return {"result": None, "ended": f"{ending.how.value}: {ending.message}"[:600]}
    return {**found, "ended": ""}


def child(payload: Mapping[str, Any], wire: Wire) -> None:
    """The child's side."""
    for module in IMPORTED:
        importlib.import_module(module)
    import torch

    torch.set_num_threads(1)
    weight = torch.nn.Parameter(torch.zeros(1))
    torch.optim.Adam([weight]).step()  # the first optimiser imports what all of them need
    subject = Subject(**payload["subject"])
    startup = time.process_time()
    seconds, first = float(payload["seconds"]), int(payload["first_seed"])
    result = experimented(payload["experiment"], subject, seconds, lambda: wire.tell("beat"), first)
    wire.tell("result", result=result, cpu_s=time.process_time() - startup, startup_cpu_s=startup)


def experimented(
    name: str, subject: Subject, seconds: float, beat: Callable[[], None], first_seed: int = 0
) -> dict[str, Any]:
    """Carry the experiment out as `firstbreak experiment` does, trial after trial in this process."""
    from firstbreak.experiments.api import run_experiment
    from firstbreak.experiments.plan import Protocol
    from firstbreak.experiments.result import to_plain
    from firstbreak.experiments.running.here import Here

    result = run_experiment(
        name,
        subject,
        Protocol(most=MOST_PAIRS, first_seed=first_seed),
        executor=Here(),
        limits=Limits(seconds=seconds),
        seconds=seconds,
        tell=lambda progress: beat(),
    )
    return to_plain(result)


def one_thread() -> None:
    """Keep numerical libraries of this process and its children to one thread."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path.cwd()), os.environ.get("PYTHONPATH")]))
