"""Samples what the process and its machine use: memory, files, threads, GPU."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GB = 1024.0**3
"""As verl and PyTorch's own reports count."""


class HostSampler:
    """Memory of process and machine, open files, threads and GPU, at most every `every_s` seconds.

    What the machine does not tell is left out; nothing raises. The GPU is only asked when the process uses it already.

    Args:
        every_s: Seconds between two looks; in between `numbers` is empty and costs nothing.
        now: Seconds that never run backwards; replaced in tests.
        root: Where `proc` and `sys` are found.
    """

    def __init__(
        self, every_s: float = 1.0, *, now: Callable[[], float] = time.monotonic, root: Path = Path("/")
    ) -> None:
        self._every_s = every_s
        self._now = now
        self._root = root
        self._next = -float("inf")

    def numbers(self) -> dict[str, float]:
        """One look, or nothing when the last was less than `every_s` ago."""
        now = self._now()
        if now < self._next and self._next - now <= self._every_s:
            return {}
        self._next = now + self._every_s
        looks = (self._process, self._memory, _peak, lambda: gpu_numbers(sys.modules.get("torch")))
        return {name: value for look in looks for name, value in _tried(look).items()}

    def _process(self) -> dict[str, float]:
        own = self._root / "proc/self"
        found = {"system/threads": float(threading.active_count())}
        if own.joinpath("statm").exists():
            pages = int(own.joinpath("statm").read_text("ascii").split()[1])
            found["system/rss_gb"] = pages * os.sysconf("SC_PAGE_SIZE") / GB
            found["system/threads"] = _field(own / "status", "Threads", found["system/threads"])
        if own.joinpath("fd").is_dir():
            found["system/open_files"] = float(len(os.listdir(own / "fd")))
        return found

    def _memory(self) -> dict[str, float]:
        """Memory of the machine in use and left; less is left where the container has a limit of its own."""
        path = self._root / "proc/meminfo"
        if not path.exists():
            return {}
        total, left = (_field(path, name) / 1024**2 for name in ("MemTotal", "MemAvailable"))
        return {"system/cpu_mem_gb": total - left, "system/cpu_mem_available_gb": min(left, self._container_left())}

    def _container_left(self) -> float:
        """What the control group (version 2) may still take; file pages that can be dropped count as free."""
        group = self._root / "sys/fs/cgroup"
        limit = group / "memory.max"
        if not limit.exists() or not limit.read_text("ascii").strip().isdigit():
            return float("inf")
        used = int(group.joinpath("memory.current").read_text("ascii"))
        droppable = _field(group / "memory.stat", "inactive_file", 0.0)
        return max(0.0, (int(limit.read_text("ascii")) - used + droppable) / GB)


def gpu_numbers(torch: Any) -> dict[str, float]:
    """Memory and utilisation of the current GPU, read from PyTorch's books and the driver without waiting for the GPU.

    Args:
        torch: The module if it has been imported, else None; it is never imported for this.
    """
    cuda = getattr(torch, "cuda", None)
    if cuda is None or not cuda.is_available() or not cuda.is_initialized():
        return {}
    found = {
        "system/gpu_mem_gb": cuda.max_memory_allocated() / GB,
        "system/gpu_mem_reserved_gb": cuda.max_memory_reserved() / GB,
    }
    if importlib.util.find_spec("pynvml") is not None:
        found |= _tried(lambda: {"perf/gpu_util": float(cuda.utilization())})
    return found


def _peak() -> dict[str, float]:
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"system/rss_peak_gb": peak / GB * (1 if sys.platform == "darwin" else 1024)}


def _tried(look: Callable[[], dict[str, float]]) -> dict[str, float]:
    """What a look finds; nothing when it fails: a monitor must not stop a run because a file looks different."""
    try:
        return look()
    except Exception:
        return {}


def _field(path: Path, name: str, default: float | None = None) -> float:
    """The first number after `name` in a file of lines `name: number` or `name number`."""
    for line in path.read_text("ascii").splitlines():
        words = line.replace(":", " ").split()
        if len(words) > 1 and words[0] == name:
            return float(words[1])
    if default is None:
        raise KeyError(name)
    return default
