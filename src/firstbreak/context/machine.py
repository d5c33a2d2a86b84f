"""What a run runs on: packages, hardware, and the environment variables that change results."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from .secrets import NAMED, without_keys

ALLOWED = frozenset(
    {
        "PYTHONHASHSEED", "PYTHONPATH", "PYTHONOPTIMIZE", "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING",
        "CUBLAS_WORKSPACE_CONFIG", "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "OMP_NUM_THREADS",
        "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "MKL_CBWR", "OMP_PROC_BIND", "MUJOCO_GL",
        "PYOPENGL_PLATFORM", "SDL_VIDEODRIVER", "TOKENIZERS_PARALLELISM", "TRANSFORMERS_OFFLINE", "HF_HUB_OFFLINE",
        "TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC", "XLA_FLAGS", "JAX_ENABLE_X64", "JAX_PLATFORMS",
        "JAX_DEFAULT_MATMUL_PRECISION", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "NCCL_ALGO", "NCCL_PROTO",
        "NCCL_P2P_DISABLE", "WORLD_SIZE", "RANK", "LOCAL_RANK", "VLLM_ATTENTION_BACKEND", "VLLM_USE_V1", "LC_ALL",
        "VLLM_BATCH_INVARIANT", "RAY_DEDUP_LOGS", "LANG", "TZ", "SEED",
    }
)  # fmt: skip
"""Environment variables that are written down; no other is, whatever its name."""
_QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits")


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the allowed environment variables that are set."""
    found = os.environ if variables is None else variables
    return {name: without_keys(found[name])[:1000] for name in sorted(ALLOWED & set(found)) if not NAMED.search(name)}


_LIST = (
    "import importlib.metadata as m, json; "
    "print(json.dumps([[d.metadata['Name'], d.version] for d in m.distributions()]))"
)


def packages_of(interpreter: str) -> dict[str, str]:
    """Return the packages of another Python, asked by running it; empty when it does not answer."""
    if not interpreter or _is_ours(interpreter):
        return packages()
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter that the user's own command starts
            [interpreter, "-c", _LIST], capture_output=True, text=True, timeout=30, check=True
        )
        pairs: list[list[Any]] = json.loads(done.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {}
    found = {str(name).lower().replace("_", "-"): str(version) for name, version in reversed(pairs) if name}
    return dict(sorted(found.items()))


def _is_ours(interpreter: str) -> bool:
    """Whether a Python is ours: the same file in the same place, since two environments link to one file."""
    return (
        Path(interpreter).resolve() == Path(sys.executable).resolve()
        and Path(interpreter).parent.absolute() == Path(sys.executable).parent.absolute()
    )


def packages() -> dict[str, str]:
    """Return every installed distribution and its version, names in lower case with dashes."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    found: dict[str, str] = {}
    for one in metadata.distributions():
        name = str(one.metadata["Name"] or "") if one.metadata else ""
        if name:
            found.setdefault(name.lower().replace("_", "-"), str(one.version))
    return dict(sorted(found.items()))


def hardware() -> dict[str, Any]:
    """Return processor, memory, system, interpreter and GPUs; the machine's name is left out."""
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cpus": os.cpu_count() or 0,
        "memory_bytes": _memory(),
        "system": platform.system(),
        "release": platform.release(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "python": platform.python_version(),
        "implementation": sys.implementation.name,
        "gpus": _gpus(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 0


def _gpus() -> list[dict[str, Any]]:
    """Ask the driver's own tool: importing torch for this would cost seconds and start CUDA."""
    try:
        done = subprocess.run(  # noqa: S603 - a command of ours
            _QUERY, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[part.strip() for part in line.split(",")] for line in done.stdout.splitlines()]
    return [{"name": row[0], "memory_mib": _whole(row[1]), "driver": row[2]} for row in rows if len(row) == 3]


def _whole(text: str) -> int | None:
    return int(text) if text.isdigit() else None
