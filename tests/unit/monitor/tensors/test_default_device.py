"""`torch.set_default_device("cuda")` is common: nothing that the monitor makes for itself may land there.

Here the default device is "meta", whose tensors hold no values, so that one that landed there would raise when read.
"""

from __future__ import annotations

import torch
from torch import nn

from firstbreak.monitor.adapters.parts.weights.kept_gradients import KeptGradients
from firstbreak.monitor.adapters.parts.weights.sampled_weights import SampledWeights
from firstbreak.monitor.tensors import Quantities, feature_rank
from tests.unit.monitor.tensors.calls import CALLS

torch.set_num_threads(1)


def test_quantities_do_not_depend_on_the_default_device():
    inputs = {name: call.inputs(12) for name, call in CALLS.items()}
    features = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))

    def numbers() -> dict[str, float]:
        quantities = Quantities()
        for name, call in CALLS.items():
            quantities.add({f"{name}/{key}": value for key, value in call(inputs[name]).items()})
        quantities.add(feature_rank(features))
        return quantities.numbers()

    here = numbers()
    with torch.device("meta"):
        there = numbers()
    assert str(here) == str(there)  # NaN included
    assert here["net/feature_rank"] == 5


def test_samples_of_weights_and_gradients_do_not_depend_on_it():
    net = nn.Linear(4, 3)
    with torch.device("meta"):
        weights, gradients = SampledWeights(net.parameters()), KeptGradients(list(net.parameters()))
        gradients.before_loss()
        net(torch.ones(2, 4, device="cpu")).sum().backward()
        gradients.after_backward()
        weights.before()
        with torch.no_grad():
            for weight in net.parameters():
                assert weight.grad is not None
                weight.sub_(0.1 * weight.grad)
        assert float(weights.after()["optim/still_frac"]) == 0.0
        assert gradients.row()["optim/gradient_altered_frac"] < 1e-3
