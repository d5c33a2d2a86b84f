import copy
import math

import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.gradients import GradientNorm, WeightChange, norm_in_one_go, total_norm

torch.set_num_threads(1)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))


def slow_norm(tensors):
    return math.sqrt(sum(float(v) ** 2 for t in tensors for v in t.flatten().double()))


def one_step(net, optimiser, data, clip=0.01, backwards=1):
    optimiser.zero_grad()
    for _ in range(backwards):
        (net(data) ** 2).mean().backward()
    before = slow_norm([p.grad for p in net.parameters() if p.grad is not None])
    returned = torch.nn.utils.clip_grad_norm_(net.parameters(), clip)
    optimiser.step()
    return before, returned


@pytest.mark.parametrize("backwards", [1, 3])
def test_norm_is_that_before_clipping(backwards):
    net = network()
    optimiser = torch.optim.Adam(net.parameters())
    watch = GradientNorm(optimiser)
    data = torch.randn(6, 5)
    pairs = [one_step(net, optimiser, data, backwards=backwards) for _ in range(4)]
    norms = watch.take()
    assert len(norms) == 4 == watch.steps
    for norm, (slow, returned) in zip(norms, pairs, strict=True):
        assert float(norm) == pytest.approx(float(returned), rel=3e-7)  # but for the last digits, what clipping saw
        assert float(norm) == pytest.approx(slow, rel=1e-5)
        assert float(norm) > 0.01
    assert watch.take() == []


def test_a_network_without_clipping_and_weights_without_gradient():
    net = network()
    net[0].weight.requires_grad_(False)
    unused = torch.nn.Parameter(torch.ones(2))
    optimiser = torch.optim.SGD([*net.parameters(), unused], lr=0.1)
    watch = GradientNorm(optimiser)
    (net(torch.randn(6, 5)) ** 2).mean().backward()
    slow = slow_norm([p.grad for p in net.parameters() if p.grad is not None])
    optimiser.step()
    assert float(watch.take()[0]) == pytest.approx(slow, rel=1e-5)


def test_a_gradient_made_for_another_optimiser_does_not_count_as_a_step():
    critic, actor = network(), torch.nn.Linear(5, 5)
    optimisers = [torch.optim.Adam(m.parameters()) for m in (critic, actor)]
    watches = [GradientNorm(o) for o in optimisers]
    data = torch.randn(6, 5)
    critic(actor(data)).mean().backward()  # fills the critic's gradients too, as SAC's actor loss does
    optimisers[1].step()
    assert len(watches[1].take()) == 1
    assert watches[0].take() == []


def test_training_is_the_same_bit_for_bit():
    left, right = network(), network()
    data = torch.randn(6, 5)
    for net, watched in ((left, True), (right, False)):
        optimiser = torch.optim.Adam(net.parameters(), lr=0.1)
        if watched:
            GradientNorm(optimiser, allow=lambda norm: True)
        for _ in range(5):
            one_step(net, optimiser, data)
    assert all(torch.equal(a, b) for a, b in zip(left.parameters(), right.parameters(), strict=True))


def test_a_step_that_is_not_allowed_changes_neither_weight_nor_moment():
    net = network()
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.1, weight_decay=0.1)
    data = torch.randn(6, 5)
    one_step(net, optimiser, data)
    weights, moments = copy.deepcopy(net.state_dict()), copy.deepcopy(optimiser.state_dict()["state"])
    watch = GradientNorm(optimiser, allow=lambda norm: False)
    one_step(net, optimiser, data)
    assert all(torch.equal(v, weights[k]) for k, v in net.state_dict().items())
    now = optimiser.state_dict()["state"]
    assert all(torch.equal(now[i][k], moments[i][k]) for i in moments for k in moments[i])
    watch.remove()
    one_step(net, optimiser, data)
    assert not torch.equal(net[0].weight, weights["0.weight"])
    assert len(watch.take()) == 1


def test_not_finite_is_seen():
    net = network()
    optimiser = torch.optim.Adam(net.parameters())
    seen = []
    GradientNorm(optimiser, allow=lambda norm: seen.append(float(norm)) or math.isfinite(float(norm)))
    one_step(net, optimiser, torch.full((2, 5), math.inf))
    assert math.isnan(seen[0])
    assert all(p.isfinite().all() for p in net.parameters())


@pytest.mark.parametrize("many", [10, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_norm_of_few_numbers_and_of_many(many, dtype):
    torch.manual_seed(0)
    tensors = [torch.randn(many, many, dtype=dtype), torch.randn(many, dtype=dtype), torch.randn((), dtype=dtype)]
    for some in (tensors, tensors[:1], [tensors[0].t(), tensors[2].float()]):
        assert float(norm_in_one_go(some)) == pytest.approx(slow_norm(some), rel=1e-6)
    assert math.isnan(float(norm_in_one_go([*tensors, torch.tensor(math.nan, dtype=dtype)])))
    assert float(norm_in_one_go([*tensors, torch.tensor(math.inf, dtype=dtype)])) == math.inf


def test_weight_change():
    net = network()
    change = WeightChange(list(net.parameters()))
    before = [p.detach().clone() for p in net.parameters()]
    with torch.no_grad():
        for p in net.parameters():
            p.add_(torch.randn_like(p))
    moved, norm = change.take()
    after = [p.detach() for p in net.parameters()]
    assert float(moved) == pytest.approx(slow_norm([a - b for a, b in zip(after, before, strict=True)]), rel=1e-5)
    assert float(norm) == pytest.approx(slow_norm(before), rel=1e-5)
    assert float(total_norm(before)) == float(norm)
