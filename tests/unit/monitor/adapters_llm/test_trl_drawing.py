"""Weights and random numbers while responses are drawn, with a model of one layer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch

from firstbreak.monitor.adapters.parts.trl.drawing import AGAIN, ELSE, MOVED, Drawing
from firstbreak.monitor.core import Monitor


def trainer() -> Any:
    torch.manual_seed(0)
    settings = SimpleNamespace(do_sample=True)
    return SimpleNamespace(model=torch.nn.Linear(4, 4), generation_config=settings, use_vllm=False, rollout_func=None)


def drawing(subject: Any) -> Drawing:
    return Drawing(subject, Monitor(framework="trl", algorithm="GRPO"))


def draw(subject: Any) -> None:
    torch.multinomial(subject.model(torch.ones(2, 4)).softmax(1), 1)


def test_drawing_moves_no_weight_and_goes_on_with_its_random_numbers():
    subject = trainer()
    looks = drawing(subject)
    for _ in range(3):
        with looks.watched():
            draw(subject)
        assert looks.row() == {MOVED: 0.0, AGAIN: 0.0}
    assert not subject.model._forward_pre_hooks


def test_a_seed_that_is_set_anew_shows():
    subject = trainer()
    looks, found = drawing(subject), list[float]()
    for _ in range(3):
        with looks.watched():
            torch.manual_seed(7)
            draw(subject)
        found.append(looks.row()[AGAIN])
    assert found == [0.0, 1.0, 1.0]


def test_greedy_decoding_and_an_engine_draw_no_random_numbers_here():
    for name, value in (("generation_config", SimpleNamespace(do_sample=False)), ("use_vllm", True)):
        subject = trainer()
        setattr(subject, name, value)
        looks = drawing(subject)
        with looks.watched():
            draw(subject)
        assert AGAIN not in looks.row()


def test_a_handover_that_scales_in_place_moves_weights():
    subject = trainer()
    looks = drawing(subject)
    with looks.watched(), torch.no_grad():
        subject.model.weight.mul_(1.03)
    assert 0.01 < looks.row()[MOVED] < 0.03


def test_an_evaluation_with_other_weights_for_a_while():
    subject = trainer()
    looks = drawing(subject)
    with looks.evaluating():
        draw(subject)
    assert looks.evaluated() == {ELSE: 0.0}
    kept = subject.model.weight.detach().clone()
    with looks.evaluating(), torch.no_grad():
        subject.model.weight.mul_(0.9)
        draw(subject)
        subject.model.weight.copy_(kept)
    assert looks.evaluated()[ELSE] > 0.05
    assert looks.evaluated() == {}


def test_what_is_drawn_raises_and_no_hook_stays():
    subject = trainer()
    try:
        with drawing(subject).watched():
            raise RuntimeError
    except RuntimeError:
        assert not subject.model._forward_pre_hooks
