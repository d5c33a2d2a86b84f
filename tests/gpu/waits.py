"""What makes the host wait for a GPU, counted by PyTorch's profiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import torch

WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
"""Calls of the CUDA runtime that return when a stream, the device or all up to an event is done."""


def waits(work: Callable[[], Any]) -> dict[str, int]:
    """Return how often `work` waits for the GPU (`waits`) and copies from it to the host (`copies`).

    What the profiler does by itself, as seen around nothing, is taken off.
    """
    around = _counted(lambda: None)
    return {name: count - around[name] for name, count in _counted(work).items()}


def _counted(work: Callable[[], Any]) -> dict[str, int]:
    profiler = cast(Any, torch).profiler
    cast(Any, torch).cuda.synchronize()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]) as profile:
        work()
    seen = Counter(str(event.name) for event in profile.events())
    copies = sum(count for name, count in seen.items() if name.startswith("Memcpy DtoH"))
    return {"waits": sum(seen[name] for name in WAITS), "copies": copies}
