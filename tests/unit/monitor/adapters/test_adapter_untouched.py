import random

import numpy as np
import torch

from firstbreak.monitor.adapters.parts.weights.untouched import untouched

torch.set_num_threads(1)


def draws():
    return random.random(), np.random.random(), float(torch.rand(()))


def seed():
    random.seed(1), np.random.seed(1), torch.manual_seed(1)


def test_random_numbers_go_on_as_if_nothing_had_been_measured():
    seed()
    expected = draws()
    seed()
    with untouched(torch.nn.Dropout()):
        draws()
    assert draws() == expected


def test_modes_statistics_and_gradients_are_as_before():
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(), torch.nn.Identity())
    net.train()
    net[3].eval()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    with untouched(net):
        assert not net[2].training
        out = net(torch.randn(8, 3))
        assert not out.requires_grad
    assert [m.training for m in net.modules()] == [True, True, True, True, False]
    assert all(torch.equal(v, before[k]) for k, v in net.state_dict().items())


def test_also_after_an_error():
    net = torch.nn.Dropout()
    seed()
    expected = draws()
    seed()
    try:
        with untouched(net):
            draws()
            raise ValueError
    except ValueError:
        pass
    assert net.training
    assert draws() == expected
