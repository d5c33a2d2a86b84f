"""The sampler against the real machine, and against files and a GPU as other machines have them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from firstbreak.monitor.host import HostSampler
from firstbreak.monitor.host.sampler import GB, gpu_numbers

linux = sys.platform == "linux"


def test_what_this_machine_tells() -> None:
    found = HostSampler().numbers()
    assert all(np.isfinite(value) and value >= 0 for value in found.values())
    if linux:
        assert {"system/rss_gb", "system/cpu_mem_gb", "system/cpu_mem_available_gb", "system/open_files"} <= set(found)
        assert 0.001 < found["system/rss_gb"] <= found["system/rss_peak_gb"] * 1.5


def test_memory_that_is_taken_shows() -> None:
    sampler = HostSampler(0)
    before = sampler.numbers()
    block = np.ones(32 * 2**20)  # 256 MiB, every page written
    after = sampler.numbers()
    assert block[-1] == 1
    grown = "system/rss_gb" if "system/rss_gb" in after else "system/rss_peak_gb"
    assert after[grown] - before[grown] > 0.2


def test_files_and_threads_that_are_opened_show(tmp_path: Path) -> None:
    sampler = HostSampler(0)
    before, done = sampler.numbers(), threading.Event()
    thread = threading.Thread(target=done.wait, args=(20,))
    thread.start()
    files = [open(tmp_path / str(i), "w") for i in range(5)]  # noqa: SIM115
    after = sampler.numbers()
    done.set()
    thread.join(20)
    for file in files:
        file.close()
    assert after["system/threads"] == before["system/threads"] + 1
    if linux:
        assert after["system/open_files"] == before["system/open_files"] + 5


def test_it_looks_no_more_often_than_asked() -> None:
    times: Iterator[float] = iter([0.0, 0.5, 0.99, 1.0, 1.5, 2.1, -100.0])
    sampler = HostSampler(1.0, now=lambda: next(times))
    assert [bool(sampler.numbers()) for _ in range(7)] == [True, False, False, True, False, True, True]


def machine(root: Path, **files: str) -> HostSampler:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")
    return HostSampler(0, root=root)


MEMINFO = "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n"


def test_memory_of_the_machine_and_the_limit_of_its_container(tmp_path: Path) -> None:
    found = machine(tmp_path, proc__meminfo=MEMINFO).numbers()
    assert (found["system/cpu_mem_gb"], found["system/cpu_mem_available_gb"]) == (8.0, 8.0)
    limited = {
        "sys__fs__cgroup__memory_dot_max": f"{4 * 2**30}\n",
        "sys__fs__cgroup__memory_dot_current": f"{3 * 2**30}\n",
        "sys__fs__cgroup__memory_dot_stat": f"anon 1\ninactive_file {2**29}\n",
    }
    found = machine(tmp_path, **limited).numbers()
    assert found["system/cpu_mem_available_gb"] == 1.5
    found = machine(tmp_path, sys__fs__cgroup__memory_dot_max="max\n").numbers()
    assert found["system/cpu_mem_available_gb"] == 8.0


@pytest.mark.parametrize("meminfo", ["", "MemTotal: many kB\n", "MemTotal: 5 kB\n", "\x00\x01"])
def test_files_that_look_different_are_left_out_and_never_raise(tmp_path: Path, meminfo: str) -> None:
    found = machine(tmp_path, proc__meminfo=meminfo, proc__self__statm="x").numbers()
    assert "system/cpu_mem_gb" not in found
    assert "system/rss_gb" not in found


def test_a_machine_without_proc_tells_less(tmp_path: Path) -> None:
    found = machine(tmp_path).numbers()
    assert "system/threads" in found
    assert "system/cpu_mem_gb" not in found


def gpu(**changes: object) -> SimpleNamespace:
    cuda = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "max_memory_allocated": lambda: 3 * GB,
        "max_memory_reserved": lambda: 4 * GB,
        "utilization": lambda: 87,
    }
    return SimpleNamespace(cuda=SimpleNamespace(**(cuda | changes)))


def test_a_gpu_in_use_is_asked_for_memory_and_with_the_driver_for_utilisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no GPU where tests run: the calls are those of `torch.cuda`, the answers ours."""
    expected = {"system/gpu_mem_gb": 3.0, "system/gpu_mem_reserved_gb": 4.0}
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert gpu_numbers(gpu()) == expected
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: object())
    assert gpu_numbers(gpu()) == expected | {"perf/gpu_util": 87.0}

    def broken() -> int:
        raise RuntimeError("driver gone")

    assert gpu_numbers(gpu(utilization=broken)) == expected
    for name in ("is_available", "is_initialized"):
        assert gpu_numbers(gpu(**{name: lambda: False, "max_memory_allocated": broken})) == {}
    assert gpu_numbers(None) == {}
    monkeypatch.setitem(sys.modules, "torch", gpu(max_memory_allocated=broken))
    assert "system/threads" in HostSampler(0, root=tmp_path).numbers()


def test_the_calls_on_cuda_exist_in_pytorch() -> None:
    import torch

    for name in ("is_available", "is_initialized", "max_memory_allocated", "max_memory_reserved", "utilization"):
        assert callable(getattr(torch.cuda, name))
    assert gpu_numbers(torch) == {} or torch.cuda.is_initialized()


def test_pytorch_is_never_imported_for_it() -> None:
    code = (
        "import sys; from firstbreak.monitor.host import HostSampler, Phases; HostSampler().numbers(); "
        "print(*[n for n in ('torch', 'pynvml', 'psutil') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.split() == []
