"""What makes the host wait for a GPU: counted by PyTorch's profiler, and where, by the warnings of its debug mode."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import torch

WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
"""Calls of the CUDA runtime that return when a stream, the device or all up to an event is done."""
OWN = "/src/firstbreak/"
"""In the path of a file whose waits are ours."""


def waits(work: Callable[[], Any]) -> dict[str, int]:
    """Return how often `work` waits for the GPU (`waits`) and copies from it to the host (`copies`).

    What the profiler does by itself, as seen around nothing, is taken off.
    """
    around = _counted(lambda: None, _activities())
    return {name: count - around[name] for name, count in _counted(work, _activities()).items()}


@contextmanager
def sites() -> Generator[Counter[str]]:
    """Count, by line of firstbreak's own code, what waits for the GPU inside, copies to it included."""
    found: Counter[str] = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cast(Any, torch).cuda.set_sync_debug_mode("warn")
        try:
            yield found
        finally:
            cast(Any, torch).cuda.set_sync_debug_mode("default")
            for one in caught:
                if "synchroniz" in str(one.message) and OWN in one.filename:
                    found[f"{one.filename.split(OWN)[1]}:{one.lineno}"] += 1


def grown(once: Counter[str], more: Counter[str]) -> dict[str, tuple[int, int]]:
    """Return the lines that wait more often where a row holds more gradient steps, with both counts."""
    return {line: (once[line], count) for line, count in more.items() if count > once[line]}


@cache
def _activities() -> tuple[Any, ...]:
    """What is profiled: the device alone where that shows the runtime's calls, since all operations are far more."""
    kinds = cast(Any, torch).profiler.ProfilerActivity
    seen = _counted(lambda: torch.ones(8, device="cuda").sum().item(), (kinds.CUDA,))
    nothing = _counted(lambda: None, (kinds.CUDA,))
    alone = seen["waits"] > nothing["waits"] and seen["copies"] > nothing["copies"]
    return (kinds.CUDA,) if alone else (kinds.CPU, kinds.CUDA)


def _counted(work: Callable[[], Any], activities: tuple[Any, ...]) -> dict[str, int]:
    cast(Any, torch).cuda.synchronize()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Warning: Profiler clears events")  # of cycles, of which there is one here
        profile = cast(Any, torch).profiler.profile(activities=list(activities))
        profile.start()
    try:
        work()
    finally:
        profile.stop()
    # Not `profile.events()`, which makes a tree of them: of a training of TRL that takes minutes.
    seen = Counter(str(event.name()) for event in profile.profiler.kineto_results.events())
    copies = sum(count for name, count in seen.items() if name.startswith("Memcpy DtoH"))
    return {"waits": sum(seen[name] for name in WAITS), "copies": copies}
