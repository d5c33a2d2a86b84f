"""How much of a small model is trained."""

from __future__ import annotations

import pytest
import torch

from firstbreak.monitor.adapters.parts.weights.trained_share import MAY, WITHOUT, trained_share


def model() -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(3, 3), torch.nn.LayerNorm(3), torch.nn.Linear(3, 3), torch.nn.Linear(3, 2)
    )


def test_all_of_it():
    subject = model()
    subject(torch.ones(1, 3)).sum().backward()
    assert trained_share(subject) == {MAY: 1.0, WITHOUT: 0.0}


def test_all_but_the_head_is_frozen():
    subject = model()
    for layer in subject[:3]:
        layer.requires_grad_(False)
    subject(torch.ones(1, 3)).sum().backward()
    assert trained_share(subject) == {MAY: 1 / 3, WITHOUT: 0.0}


def test_a_detach_cuts_layers_off():
    subject = model()
    subject[3](subject[:3](torch.ones(1, 3)).detach()).sum().backward()
    assert trained_share(subject) == pytest.approx({MAY: 1.0, WITHOUT: 2 / 3})


def test_where_nothing_was_better_than_anything_no_gradient_says_nothing():
    subject = model()
    (0 * subject(torch.ones(1, 3))).sum().backward()
    assert trained_share(subject) == {MAY: 1.0}


def test_a_model_with_adapters_is_frozen_on_purpose():
    subject = model()
    subject.register_parameter("lora_A", torch.nn.Parameter(torch.zeros(2, 3)))
    assert trained_share(subject) == {}
