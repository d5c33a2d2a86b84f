"""On a GPU: the same numbers as on the CPU, no wait before `numbers`, and one copy then."""

from __future__ import annotations

import pytest
import torch

from firstbreak.monitor.host.sampler import HostSampler
from firstbreak.monitor.tensors import Quantities
from tests.gpu.waits import waits
from tests.unit.monitor.tensors.calls import CALLS, Call
from tests.unit.monitor.tensors.test_tensor_quantities import everything


def test_the_counter_counts():
    x = torch.ones(8, device="cuda")
    assert waits(x.sum) == {"waits": 0, "copies": 0}
    assert waits(lambda: [x.sum().item() for _ in range(3)]) == {"waits": 3, "copies": 3}


def test_a_wait_is_refused_where_none_is_allowed(waiting_raises: None):
    with pytest.raises(RuntimeError, match="synchroniz"):
        torch.ones(8, device="cuda").sum().item()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_same_numbers_as_on_the_cpu(name: str, dtype: torch.dtype):
    call: Call = CALLS[name]
    inputs = {key: x.to(dtype) for key, x in call.inputs(64).items()}
    there = {key: x.cuda() for key, x in inputs.items()}
    for mask in (None, torch.arange(64) % 3 > 0):
        here, measured = Quantities(), Quantities()
        here.add(call(inputs, mask))
        torch.cuda.set_sync_debug_mode("error")
        try:
            measured.add(call(there, None if mask is None else mask.cuda(non_blocking=True)))
        finally:
            torch.cuda.set_sync_debug_mode("default")
        assert measured.numbers() == pytest.approx(here.numbers(), rel=2e-3, abs=2e-4, nan_ok=True)


def test_nothing_waits_before_the_numbers(waiting_raises: None):
    quantities = Quantities()
    everything(quantities, "cuda")
    torch.cuda.set_sync_debug_mode("default")
    assert len(quantities.numbers()) > 100


def test_the_numbers_are_one_copy_however_much_there_is():
    quantities = Quantities()
    everything(quantities, "cuda")
    quantities.numbers()  # whatever is made at first use
    assert waits(lambda: everything(quantities, "cuda")) == {"waits": 0, "copies": 0}
    assert waits(quantities.numbers) == {"waits": 1, "copies": 1}


def test_the_sampler_reads_memory_and_load_without_waiting():
    held = torch.ones(256, 1024, 1024, device="cuda")  # 1 GiB
    sampler = HostSampler(every_s=0.0)
    first = sampler.numbers()
    assert first["system/gpu_mem_gb"] >= 1.0
    assert first["system/gpu_mem_reserved_gb"] >= first["system/gpu_mem_gb"]
    assert 0 <= first.get("perf/gpu_util", 0) <= 100
    assert waits(sampler.numbers) == {"waits": 0, "copies": 0}
    assert float(held[0, 0, 0]) == 1.0
