"""First weights, shapes and distributions of the networks."""

from __future__ import annotations

import pytest
import torch

from firstbreak.trainers.networks import CategoricalActor, DiscreteQNetwork, GaussianActor, QNetwork, ValueNetwork, mlp

torch.set_num_threads(1)


@pytest.mark.parametrize(("sizes", "gain"), [((5, 3, (8, 4)), 0.01), ((2, 6, (4,)), 1.0)])
def test_weights_are_orthogonal_with_their_gain_and_biases_are_zero(sizes: tuple, gain: float) -> None:
    layers = [layer for layer in mlp(*sizes, last_gain=gain) if isinstance(layer, torch.nn.Linear)]
    for layer in layers:
        weight = layer.weight.detach()
        short = weight if weight.shape[0] <= weight.shape[1] else weight.T
        scale = gain**2 if layer is layers[-1] else 2.0
        assert torch.allclose(short @ short.T, scale * torch.eye(len(short)), atol=1e-5)
        assert not layer.bias.any()


def test_a_fresh_categorical_actor_is_almost_uniform() -> None:
    policy = CategoricalActor(4, 3, (16, 16)).distribution(torch.randn(50, 4))
    assert (policy.probs - 1 / 3).abs().max() < 0.02
    assert policy.log_prob(policy.sample()).shape == (50,)


def test_a_gaussian_actor_starts_in_the_middle_with_half_the_range() -> None:
    low, high = torch.tensor([-2.0, 0.0, -torch.inf]), torch.tensor([1.0, 4.0, torch.inf])
    policy = GaussianActor(4, low, high, (16, 16)).distribution(torch.randn(50, 4))
    middle, half_range = torch.tensor([-0.5, 2.0, 0.0]), torch.tensor([1.5, 2.0, 1.0])
    assert torch.allclose(policy.mean, middle.expand(50, 3), atol=0.1)
    assert torch.equal(policy.stddev, half_range.expand(50, 3))
    action = policy.sample()
    by_hand = torch.distributions.Normal(policy.mean, policy.stddev).log_prob(action).sum(-1)
    assert torch.allclose(policy.log_prob(action), by_hand)


def test_values_have_one_number_a_row() -> None:
    obs, action = torch.randn(7, 4), torch.randn(7, 2)
    assert ValueNetwork(4, (8,))(obs).shape == (7,)
    assert QNetwork(4, 2, (8,))(obs, action).shape == (7,)
    assert DiscreteQNetwork(4, 3, (8,))(obs).shape == (7, 3)
