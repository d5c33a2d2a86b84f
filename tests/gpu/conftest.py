"""These tests need a GPU; everywhere else they are left out, and tests/unit/monitor/tensors counts with a stub."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def on_a_gpu() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU here; tests/unit/monitor/tensors/test_tensor_quantities.py counts waits with a stub")


@pytest.fixture
def waiting_raises() -> Iterator[None]:
    """Any operation that makes the host wait for the GPU raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the debug mode is a prototype, said once a process
        torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")
