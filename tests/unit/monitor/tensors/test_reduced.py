"""A measure is the same finished on the host, after the transfer, and on its device, when asked for by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from firstbreak.monitor.tensors import Quantities, WeightChange, advantages, gradient_norms, value_fit
from firstbreak.monitor.tensors.reduced import Reduced, averages, larger, quotient, root, together, unless
from tests.unit.monitor.tensors.calls import CALLS, numbers

torch.set_num_threads(1)
Step = Callable[[Any, Any], Any]
any_float = st.floats(width=32)


def on_host(measures: Any) -> dict[str, float]:
    quantities = Quantities()
    quantities.add(measures)
    return quantities.numbers()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("spoilt", [None, math.nan, math.inf])
def test_the_host_finishes_as_the_device_does(name: str, masked: bool, spoilt: float | None) -> None:
    call = CALLS[name]
    inputs = {key: x.double() for key, x in call.inputs(24).items()}
    if spoilt is not None and name != "invalid_actions":
        next(iter(inputs.values())).view(-1)[3] = spoilt
    mask = torch.arange(24) < 20 if masked else None
    found = on_host(call.run(**inputs) if mask is None else call.run(**inputs, mask=mask))
    assert found == pytest.approx(numbers(call(inputs, mask)), rel=1e-6, nan_ok=True)


def test_norms_and_changes_of_weights_too() -> None:
    net = nn.Linear(3, 2)
    change = WeightChange({"actor": [net.weight], "critic": [net.bias], "other": [net.bias]})
    net(torch.ones(4, 3)).sum().backward()
    with torch.no_grad():
        net.weight += 1
    for measures in (gradient_norms({"actor": net, "critic": [net.bias]}), change.measure()):
        assert isinstance(measures, Reduced)
        assert on_host(measures) == pytest.approx(numbers(measures), rel=1e-6, nan_ok=True)


@given(any_float, any_float)
def test_the_steps_are_those_of_a_device(a: float, b: float) -> None:
    one, two = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    below: Step = lambda x, y: unless(x < y, y)
    steps: list[Step] = [quotient, larger, below]
    for step in steps:
        assert step(a, b) == pytest.approx(float(step(one, two)), nan_ok=True)
    assert root(a) == pytest.approx(float(root(one)), nan_ok=True)
    assert together([a, b]) == pytest.approx(float(together([one, two])), nan_ok=True)
    assert averages([a, b], 4.0) == pytest.approx(averages(torch.stack((one, two)), 4.0).tolist(), nan_ok=True)
    assert all(math.isnan(x) for x in averages([a, b], 0.0))


def test_a_name_of_several_that_is_added_again_is_replaced_and_the_others_stay() -> None:
    fit = value_fit(torch.arange(4.0), torch.arange(4.0) + 1)
    quantities = Quantities()
    quantities.add(fit)
    quantities.add({"critic/value_bias": 7.0})
    found = quantities.numbers()
    assert (found["critic/value_bias"], found["critic/value_mean"]) == (7.0, 1.5)
    assert list(found) == list(fit)


def test_it_is_averaged_and_merged_like_any_mapping() -> None:
    quantities = Quantities()
    for shift in (1.0, 3.0):
        quantities.average(value_fit(torch.arange(4.0) + shift, torch.arange(4.0)))
    assert quantities.numbers()["critic/value_bias"] == 2.0
    fit, gains = value_fit(torch.ones(3), torch.ones(3)), advantages(torch.ones(3))
    assert set(fit | gains) == {*fit, *gains}
    assert set({"x": torch.ones(())} | fit) == {"x", *fit}


def test_tails_of_advantages_too_small_for_float32_are_not_known() -> None:
    assert math.isnan(on_host(advantages(torch.tensor([1e-20, -1e-20, 3e-20])))["advantage/kurtosis"])
