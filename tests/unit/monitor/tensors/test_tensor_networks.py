"""Gradients, weights and activations of networks, against loops over parameters and numpy's decompositions."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from firstbreak.errors import InputError
from firstbreak.monitor.tensors import (
    Activations,
    Quantities,
    WeightChange,
    dormant_units,
    feature_rank,
    gradient_norms,
    loss_term_gradients,
)
from tests.unit.monitor.tensors.calls import numbers

torch.set_num_threads(1)
fast = settings(deadline=None, max_examples=25)


def network(seed: int = 0, activation: type[nn.Module] = nn.Tanh, outputs: int = 2) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 16), activation(), nn.Linear(16, 8), activation(), nn.Linear(8, outputs))


def slow_norm(tensors: list[Tensor | None]) -> float:
    return math.sqrt(sum(float((x.double() ** 2).sum()) for x in tensors if x is not None))


def rank_of(features: Tensor, delta: float = 0.01) -> float:
    quantities = Quantities()
    quantities.add(feature_rank(features, delta))
    return quantities.numbers()["net/feature_rank"]


@fast
@given(st.integers(0, 1000), st.sampled_from([torch.float32, torch.bfloat16, torch.float64]))
def test_gradient_norms_of_networks_and_of_all(seed: int, dtype: torch.dtype) -> None:
    actor, critic = network(seed).to(dtype), network(seed + 1, outputs=1).to(dtype)
    obs = torch.randn(8, 4, dtype=dtype)
    (actor(obs).square().mean() + 3 * critic(obs).mean()).backward()
    found = numbers(gradient_norms({"actor": actor, "critic": critic, "encoder": actor[0].parameters()}))
    parts = {"actor": actor, "critic": critic, "encoder": actor[0]}
    for name, part in parts.items():
        assert found[f"optim/{name}_grad_norm"] == pytest.approx(slow_norm([p.grad for p in part.parameters()]), 1e-2)
    whole = slow_norm([p.grad for p in [*actor.parameters(), *critic.parameters()]])
    assert found["optim/grad_norm"] == pytest.approx(whole, 1e-3)


def test_the_norm_is_that_of_pytorch_before_it_clips() -> None:
    net = network()
    (100 * net(torch.randn(8, 4)).mean()).backward()
    before = numbers(gradient_norms({"policy": net}))
    assert before["optim/actor_grad_norm"] == pytest.approx(float(nn.utils.clip_grad_norm_(net.parameters(), 0.5)))
    assert numbers(gradient_norms({"policy": net}))["optim/grad_norm"] == pytest.approx(0.5, rel=1e-3)


def test_a_network_that_nothing_reaches_is_left_out_and_nan_shows() -> None:
    reached, other = network(), network()
    reached(torch.ones(1, 4)).sum().backward()
    assert gradient_norms({"critic": other}) == {}
    assert "optim/critic_grad_norm" not in gradient_norms({"actor": reached, "critic": other})
    bias = reached[0].bias
    assert isinstance(bias, nn.Parameter)
    assert bias.grad is not None
    bias.grad[0] = math.nan
    found = numbers(gradient_norms({"actor": reached}))
    assert math.isnan(found["optim/actor_grad_norm"])
    assert math.isnan(found["optim/grad_norm"])


def test_large_half_gradients_do_not_overflow_and_sparse_ones_count() -> None:
    weight = nn.Parameter(torch.zeros(4, dtype=torch.float16))
    weight.grad = torch.full((4,), 60000.0, dtype=torch.float16)
    assert numbers(gradient_norms({"x": [weight]}))["optim/x_grad_norm"] == pytest.approx(120000, rel=1e-3)
    table = nn.Embedding(5, 2, sparse=True)
    table(torch.tensor([1, 1, 3])).sum().backward()
    assert numbers(gradient_norms({"x": table}))["optim/grad_norm"] == pytest.approx(math.sqrt(2 * 4 + 2 * 1))


def test_each_term_of_a_loss_has_its_norm_and_the_backward_pass_is_untouched() -> None:
    net, twin = network(3), network(3)
    obs = torch.randn(16, 4)

    def terms(of: nn.Module) -> dict[str, Tensor]:
        out = of(obs)
        return {"policy": out[:, 0].mean(), "entropy": -0.01 * out.square().mean(), "constant": torch.tensor(1.0)}

    parts = terms(net)
    found = numbers(loss_term_gradients(parts, net))
    assert all(p.grad is None for p in net.parameters())
    torch.stack(list(parts.values())).sum().backward()
    torch.stack(list(terms(twin).values())).sum().backward()
    for p, q in zip(net.parameters(), twin.parameters(), strict=True):
        assert p.grad is not None
        assert q.grad is not None
        assert torch.equal(p.grad, q.grad)
    for name in ("policy", "entropy"):
        alone = copy.deepcopy(twin)
        alone.zero_grad()
        terms(alone)[name].backward()
        expected = slow_norm([p.grad for p in alone.parameters()])
        assert found[f"optim/{name}_term_grad_norm"] == pytest.approx(expected, rel=1e-5)
    assert found["optim/constant_term_grad_norm"] == 0
    with pytest.raises(InputError, match="'policy' has shape"):
        loss_term_gradients({"policy": net(obs)}, net)


@fast
@given(st.integers(0, 1000), st.floats(1e-6, 10))
def test_change_of_the_weights(seed: int, step: float) -> None:
    actor, critic, head = network(seed), network(seed + 1), nn.Parameter(torch.ones(1))
    change = WeightChange({"actor": actor, "critic": critic, "alpha": [head]})
    for _ in range(2):  # the second time from where the first ended
        before = {n: copy.deepcopy(list(m.parameters())) for n, m in (("actor", actor), ("critic", critic))}
        with torch.no_grad():
            for p in [*actor.parameters(), *critic.parameters(), head]:
                p.add_(step * torch.randn_like(p))
        found = numbers(change.measure())
        for name, module in (("actor", actor), ("critic", critic)):
            moved = slow_norm([p.detach() - q.detach() for p, q in zip(module.parameters(), before[name], strict=True)])
            size = slow_norm([p.detach() for p in before[name]])
            assert found["optim/weight_delta" if name == "actor" else "critic/weight_delta_frac"] == pytest.approx(
                moved / size, rel=1e-2, abs=1e-6
            )
            if name == "critic":
                assert found["critic/weight_delta"] == pytest.approx(moved, rel=1e-2, abs=1e-6)
    still = numbers(change.measure())
    assert still["optim/weight_delta"] == still["critic/weight_delta"] == still["optim/alpha_weight_delta"] == 0


def test_the_copy_of_one_parameter_is_a_copy_and_frozen_networks_are_left_out() -> None:
    weight, frozen = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(2), requires_grad=False)
    change = WeightChange({"policy": [weight], "reference": [frozen]})
    with torch.no_grad():
        weight.mul_(1.5)
    assert numbers(change.measure()) == {"optim/weight_delta": 0.5, "net/weight_norm": 2.0}


@fast
@given(st.integers(0, 1000), st.integers(1, 6), st.sampled_from([0.0, 0.025, 0.5]))
def test_dormant_units(seed: int, dead: int, threshold: float) -> None:
    made = torch.Generator().manual_seed(seed)
    layers = {"one": torch.randn(9, 8, generator=made), "two": torch.rand(9, 5, generator=made)}
    layers["one"][:, :dead] *= 0.01
    layers["two"][:, 0] = 0
    expected = 0
    for x in layers.values():
        means = [sum(abs(float(v)) for v in column) / len(column) for column in x.t()]
        expected += sum(m / (sum(means) / len(means)) <= threshold for m in means)
    assert numbers(dormant_units(layers, threshold)) == {"net/dormant_fraction": pytest.approx(expected / 13)}


def test_a_layer_of_zeros_is_dormant_and_one_with_nan_is_unknown() -> None:
    assert numbers(dormant_units({"a": torch.zeros(3, 4)}))["net/dormant_fraction"] == 1
    for wrong in (math.nan, math.inf):
        spoilt = torch.ones(3, 4)
        spoilt[0, 0] = wrong
        assert math.isnan(numbers(dormant_units({"a": torch.ones(3, 4), "b": spoilt}))["net/dormant_fraction"])
    assert math.isnan(numbers(dormant_units({"a": torch.ones(0, 4)}))["net/dormant_fraction"])
    with pytest.raises(InputError, match="inside the `with` block"):
        dormant_units({})
    with pytest.raises(InputError, match="a batch"):
        dormant_units({"a": torch.ones(4)})


@fast
@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 20), st.sampled_from([0.01, 0.1, 0.5]))
def test_feature_rank_is_that_of_the_singular_values(seed: int, rows: int, width: int, delta: float) -> None:
    x = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed)) ** 3
    values = np.linalg.svd(x.double().numpy(), compute_uv=False)
    held, k = 0.0, 0
    while held < (1 - delta) * values.sum() - 1e-9:
        held += values[k]
        k += 1
    assert rank_of(x, delta) == k


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_feature_rank_of_known_features(rank: int) -> None:
    made = torch.Generator().manual_seed(0)
    directions = torch.linalg.qr(torch.randn(64, rank, generator=made)).Q
    signals = torch.linalg.qr(torch.randn(256, rank, generator=made)).Q
    assert rank_of(signals @ directions.t()) == rank
    assert rank_of(signals.half() @ directions.t().half(), 0.05) == rank
    assert rank_of(torch.zeros(5, 3)) == 0
    assert math.isnan(rank_of(torch.full((5, 3), math.nan)))
    assert math.isnan(rank_of(torch.ones(0, 3)))
    with pytest.raises(InputError, match="a batch"):
        rank_of(torch.ones(4, 0))


def test_hooks_catch_the_activations_only_inside_the_block() -> None:
    net = network(activation=nn.ReLU)
    obs = torch.randn(10, 4)
    with Activations(net) as seen:
        net(obs).sum().backward()
    assert list(seen.outputs) == ["1", "3"]
    assert torch.equal(seen.outputs["1"], net[0](obs).relu())
    assert not any(x.requires_grad for x in seen.outputs.values())
    assert all(not module._forward_hooks for module in net.modules())
    kept = seen.outputs["1"].clone()
    net(obs * 2)
    assert torch.equal(seen.outputs["1"], kept)


def test_hooks_go_when_the_block_raises_and_can_be_used_again() -> None:
    net = network()
    catcher = Activations(net, layers=("0",), rows=4)
    with pytest.raises(ValueError, match="of ours"), catcher:
        raise ValueError("of ours")
    assert all(not module._forward_hooks for module in net.modules())
    x = torch.randn(2, 5, 4)
    with catcher:
        net(x)
    assert torch.equal(catcher.outputs["0"], net[0](x).reshape(10, 16)[::3])


def test_rows_are_taken_evenly_and_never_more_than_asked() -> None:
    from firstbreak.monitor.tensors.representation import sampled

    for size in (1, 2, 3, 4, 5, 7, 8, 9, 100):
        rows = sampled(torch.arange(size).unsqueeze(1), 4)
        assert 1 <= len(rows) <= 4
        assert len(rows) == size or len(rows) >= 2
    net = network()
    features = sampled(torch.ones(3, 4), 8)
    assert features.shape == (3, 4)
    assert list(dict(net.named_modules()))


def test_layers_that_do_not_exist_and_networks_without_activations_are_refused() -> None:
    with pytest.raises(InputError, match="No layer named 'torso'"):
        Activations(network(), layers=("torso",))
    with pytest.raises(InputError, match="no activation layers"):
        Activations(nn.Linear(2, 2))
