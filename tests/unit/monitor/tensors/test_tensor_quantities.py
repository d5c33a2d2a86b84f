"""Nothing reads a value before `numbers`, and then everything comes in one transfer."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from firstbreak.errors import InputError
from firstbreak.monitor.tensors import (
    Activations,
    OnHost,
    Quantities,
    Responses,
    WeightChange,
    adam_moments,
    dormant_units,
    feature_rank,
    gradient_norms,
    loss_term_gradients,
    mixed_prompts,
    padding_in_loss,
    prompt_variety,
    shares,
    token_gradients,
)
from firstbreak.monitor.tensors.reduced import Reduced
from firstbreak.vocabulary import metrics
from tests.unit.monitor.tensors.calls import CALLS

torch.set_num_threads(1)


WAITING = ("_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "_unique2", "repeat_interleave")


class Transfers(TorchDispatchMode):
    """Counts what makes a device wait: values read on the host, copies between devices, shapes that hang on values."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name.removeprefix("aten::")
        to = kwargs.get("device") if name == "_to_copy" else None
        moved = to is not None and torch.device(to) != args[0].device
        if name in WAITING or moved or (name == "index" and any(map(_is_mask, args[1]))):
            self.seen.append(name)
        return func(*args, **kwargs)


def _is_mask(index: Any) -> bool:
    return isinstance(index, Tensor) and index.dtype is torch.bool


class Reads:
    """Counts the calls of `Tensor.cpu` and `Tensor.tolist`, which a dispatch mode does not see."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        for name in ("cpu", "tolist"):
            patch.setattr(Tensor, name, self._counted(getattr(Tensor, name)))

    def _counted(self, read: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
        def counted(x: Tensor) -> Any:
            self.sizes.append(x.numel())
            return read(x)

        return counted


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 2))


def everything(quantities: Quantities, device: str, size: int = 12) -> None:
    """Add all there is, with masks and without, on `device`."""
    for name, call in CALLS.items():
        inputs = call.inputs(size, device=device)
        quantities.add({f"{name}/{key}": value for key, value in call(inputs).items()})
        mask = torch.ones(size, dtype=torch.bool, device=device)
        quantities.add({f"{name}/masked/{key}": value for key, value in call(inputs, mask).items()})
    ids = torch.ones(size, 3, device=device, dtype=torch.long)
    responses = Responses(ids, ids[0, :1], 1, torch.ones(size, device=device))
    quantities.add(shares(token_gradients(torch.ones(size, 4, device=device), responses)))
    quantities.add({**mixed_prompts(ids, 2), **prompt_variety(ids, 2)})
    quantities.add(padding_in_loss(torch.ones(2, 3, device=device), torch.ones(2, 3, device=device)))
    with torch.device(device):
        net = network()
    weights = WeightChange({"actor": net})
    with Activations(net) as seen:
        loss = net(torch.ones(size, 3, device=device)).sum()
    quantities.add(loss_term_gradients({"policy": loss}, net))
    loss.backward()
    quantities.add(gradient_norms({"actor": net, "critic": net[0]}))
    optimiser = torch.optim.AdamW(net.parameters(), foreach=False)
    for weight in net.parameters():
        optimiser.state[weight] = {"exp_avg_sq": torch.ones_like(weight), "step": torch.tensor(1.0)}
    quantities.add(adam_moments(optimiser))
    quantities.add(weights.measure())
    quantities.add(dormant_units(seen.outputs))
    quantities.add(feature_rank(seen.outputs["3"]))
    quantities.average({"loss": loss})
    quantities.average({"loss": loss})


def test_on_a_device_without_values_nothing_asks_for_one_until_numbers() -> None:
    """Tensors of the meta device have a shape and a type only: reading a value raises."""
    with Transfers() as transfers:
        quantities = Quantities()
        everything(quantities, "meta")
        assert transfers.seen == []
    held = [v.tensor if isinstance(v, OnHost) else v for v in quantities._latest.values()]
    assert {x.device.type for x in held if isinstance(x, (Tensor, Reduced))} == {"meta"}
    with pytest.raises(NotImplementedError, match="meta"):
        quantities.numbers()


def test_the_meta_device_and_the_counter_do_see_a_reader() -> None:
    x = torch.ones(4, device="meta")
    readers = [lambda x: x.mean().item(), lambda x: float(x.sum()), lambda x: bool(x.any()), lambda x: x[x > 0].sum()]
    for reads in readers:
        with pytest.raises((RuntimeError, NotImplementedError), match="meta"):
            reads(x)
        with Transfers() as transfers:
            reads(torch.ones(4))
        assert len(transfers.seen) == 1
    with Transfers() as transfers:
        torch.ones(4).to("meta")
    assert transfers.seen == ["_to_copy"]


def test_numbers_is_one_transfer_however_much_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Reads(monkeypatch)
    with Transfers() as transfers:
        quantities = Quantities()
        everything(quantities, "cpu")
        quantities.add({"known": 3, "flag": True})
        assert (transfers.seen, reads.sizes) == ([], [])
        numbers = quantities.numbers()
    assert transfers.seen == []
    assert len(reads.sizes) == 1
    assert len(numbers) > 100
    assert all(type(value) is float for value in numbers.values())
    assert quantities.numbers() == {}
    assert len(reads.sizes) == 1


values = st.floats(allow_nan=True, allow_infinity=True, width=32)


@given(st.dictionaries(st.text(max_size=5), values, max_size=20))
def test_values_arrive_as_they_were_under_their_names(measures: dict[str, float]) -> None:
    quantities = Quantities()
    quantities.add({name: torch.tensor(value) for name, value in measures.items()})
    found = quantities.numbers()
    assert list(found) == list(measures)
    assert np.array_equal(list(found.values()), list(measures.values()), equal_nan=True)


def test_types_mix_without_loss() -> None:
    quantities = Quantities()
    quantities.add(
        {
            "half": torch.tensor(0.5, dtype=torch.float16),
            "bfloat": torch.tensor(3.0, dtype=torch.bfloat16),
            "double": torch.tensor(0.1, dtype=torch.float64),
            "steps": torch.tensor(2**31 + 1),
            "flag": torch.tensor(True),
            "shaped": torch.tensor([[2.5]]),
            "array": np.float32(1.5),
            "host": OnHost(torch.arange(4), lambda flat: float(flat.sum())),
        }
    )
    expected = {"half": 0.5, "bfloat": 3, "double": 0.1, "steps": 2**31 + 1, "flag": 1, "shaped": 2.5, "array": 1.5}
    assert quantities.numbers() == expected | {"host": 6.0}


def test_a_name_added_again_replaces_and_averages_average() -> None:
    quantities = Quantities()
    for value in (1.0, 2.0, 6.0):
        quantities.add({"latest": torch.tensor(value)})
        quantities.average({"mean": torch.tensor(value)})
    quantities.average({"once": torch.tensor(math.nan)})
    found = quantities.numbers()
    assert (found["latest"], found["mean"]) == (6.0, 3.0)
    assert math.isnan(found["once"])
    quantities.average({"mean": torch.tensor(5.0)})
    assert quantities.numbers() == {"mean": 5.0}


def test_averaging_does_not_touch_the_tensors_it_was_given() -> None:
    first, quantities = torch.tensor(1.0), Quantities()
    quantities.average({"x": first})
    quantities.average({"x": torch.tensor(2.0)})
    assert first.item() == 1.0


def test_no_graph_is_kept_until_the_log() -> None:
    weight = torch.ones(3, requires_grad=True)
    quantities = Quantities()
    quantities.add({"loss": (weight * 2).sum()})
    quantities.average({"mean": (weight * 2).sum()})
    held = [*quantities._latest.values(), *quantities._sums.values()]
    assert all(isinstance(x, Tensor) and x.grad_fn is None for x in held)


def test_more_than_one_number_is_refused_by_name() -> None:
    for add in (Quantities().add, Quantities().average):
        with pytest.raises(InputError, match=r"critic/loss has shape \[2\]"):
            add({"critic/loss": torch.ones(2)})


def test_without_pytorch_the_install_line_is_given() -> None:
    code = "import sys; sys.modules['torch'] = None; import firstbreak.monitor.tensors"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in done.stderr
    assert "pip install 'firstbreak[torchrl]'" in done.stderr


OWN = {
    "advantage/kurtosis",
    "advantage/normalised_abs_max",
    "advantage/normalised_mean",
    "advantage/normalised_std",
    "advantage/positive_frac",
    "advantage/top1_share",
    "advantage/zero_frac",
    "critic/q_abs_max_over_bound",
    "critic/q_beyond_bound_frac",
    "critic/q_bias",
    "critic/q_bias_scaled",
    "critic/q_corr",
    "critic/q_slope",
    "critic/twin_gap_scaled",
    "critic/value_bias",
    "critic/value_corr",
    "critic/value_slope",
    "policy/action_mean",
    "policy/action_spread",
    "policy/action_spread_max",
    "policy/action_spread_min",
    "policy/action_std_range_frac",
    "policy/clip_binding_high_frac",
    "policy/clip_binding_low_frac",
    "policy/entropy_frac",
    "policy/entropy_to_uniform",
    "policy/invalid_action_frac",
    "policy/invalid_prob_mean",
    "policy/logprob_max",
    "policy/logprob_min",
    "policy/ratio_p01",
    "policy/ratio_p99",
}
"""Names that the vocabulary may not have yet; those of single dimensions end in `/<number>`."""


def test_every_name_is_canonical_or_one_of_ours() -> None:
    found = {name for call in CALLS.values() for name in call(call.inputs(4))}
    plain = {name.rpartition("/")[0] if name.rpartition("/")[2].isdigit() else name for name in found}
    assert plain - set(metrics()) <= OWN
    assert plain >= OWN
