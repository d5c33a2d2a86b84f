"""What forty updates on one batch do, against sums by hand; bugs between the gradient and the weights."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from firstbreak.check import find_check, look_at
from firstbreak.finding import Component, Severity
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.learning import STEPS, climb, step_lengths
from firstbreak.preflight.invariants.pieces import Pieces

from .odd_ppo import OddPPO
from .small_trainers import SmallDQN, SmallSAC


def put_to(name: str, pieces: Pieces) -> Any:
    found = look_at(find_check(name), Bench(pieces))
    assert found.error == ""
    return found


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.RMSprop])
def test_the_length_of_a_step_is_what_the_weights_moved(kind: Any) -> None:
    torch.manual_seed(0)
    mine, others = torch.nn.Parameter(torch.randn(4, 3)), torch.nn.Parameter(torch.randn(2))
    optimiser = kind([mine, others], lr=0.1)
    with step_lengths(Pieces("PPO"), [mine]) as lengths:
        for _ in range(3):
            before = mine.detach().clone()
            optimiser.zero_grad()
            ((mine**2).sum() + (others**3).sum()).backward()
            optimiser.step()
            moved = sum((float(a) - float(b)) ** 2 for a, b in zip(mine.detach().ravel(), before.ravel(), strict=True))
            assert lengths[-1] == pytest.approx(moved**0.5, rel=1e-5)
    assert len(lengths) == 3


def test_a_stacked_weight_is_counted_by_its_parts() -> None:
    both = torch.nn.Parameter(torch.ones(2, 3))
    parts = [torch.nn.Parameter(both.data[i]) for i in range(2)]
    optimiser = torch.optim.SGD([both], lr=1.0)
    both.grad = torch.ones(2, 3)
    with step_lengths(Pieces("SAC", stacks={id(both): parts}), parts) as lengths:
        optimiser.step()
    assert lengths == [pytest.approx(6**0.5)]


@pytest.mark.parametrize(("maximise", "sign"), [(True, 1.0), (False, -1.0)])
def test_along_a_straight_slope_the_gain_is_the_budget(maximise: bool, sign: float) -> None:
    weight, slope = torch.nn.Parameter(torch.zeros(3)), torch.tensor([1.0, -2.0, 0.5])
    optimiser = torch.optim.SGD([weight], lr=0.01, maximize=maximise)

    def update() -> None:
        optimiser.zero_grad()
        (slope @ weight).backward()
        optimiser.step()

    found = climb(Bench(Pieces("PPO")), lambda: slope @ weight, [weight], update)
    assert found.budget == pytest.approx(STEPS * 0.01 * 5.25, rel=1e-4)
    assert found.after - found.before == pytest.approx(sign * found.budget, rel=1e-4)


def test_a_policy_that_goes_down_is_an_error_of_the_optimiser() -> None:
    found = put_to("policy-does-not-fit-batch", OddPPO("climbs_the_loss").pieces()).symptom
    assert found.severity is Severity.ERROR
    assert find_check("policy-does-not-fit-batch").component is Component.OPTIMISER
    assert found.evidence["gain"] < 0


def test_a_policy_whose_steps_are_undone_is_told_too() -> None:
    found = put_to("policy-does-not-fit-batch", OddPPO("forgets_actor").pieces()).symptom
    assert found.severity is None
    assert found.evidence["gain"] == pytest.approx(0.0, abs=1e-6)
    assert found.evidence["budget"] > 0.1


def test_steps_too_short_to_gain_anything_are_not_judged() -> None:
    trainer = OddPPO()
    trainer.optimiser.param_groups[0]["lr"] = 1e-8
    assert "could gain only" in put_to("policy-does-not-fit-batch", trainer.pieces()).skip.reason


def test_plain_sgd_fits_the_critic_as_far_as_its_steps_go() -> None:
    found = put_to("critic-does-not-fit-batch", OddPPO("plain_sgd").pieces())
    assert found.symptom is None


def small(kind: Any, place: int | None) -> Pieces:
    trainer = kind()
    held = trainer.optimiser if place is None else trainer.optimisers[place]
    held.param_groups[0]["maximize"] = True
    return trainer.pieces()


@pytest.mark.parametrize("kind", [SmallDQN, SmallSAC])
def test_the_critics_of_off_policy_trainers_fit_rewards_where_all_is_over(kind: Any) -> None:
    found = put_to("critic-does-not-fit-batch", kind().pieces())
    assert (found.symptom, found.skip) == (None, None)
    wrong = small(kind, None if kind is SmallDQN else 1)
    assert put_to("critic-does-not-fit-batch", wrong).symptom is not None


def test_an_actor_climbs_a_rising_q_and_not_down() -> None:
    found = put_to("policy-does-not-fit-batch", SmallSAC().pieces())
    assert (found.symptom, found.skip) == (None, None)
    down = put_to("policy-does-not-fit-batch", small(SmallSAC, 0)).symptom
    assert down.severity is Severity.ERROR
    assert "mean action" in down.message
