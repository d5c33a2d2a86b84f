"""Actor and critic in one module, discrete actions that nobody counted: what is sound stays quiet, bugs are named."""

from __future__ import annotations

import itertools

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.density import density, summed
from firstbreak.preflight.invariants.draws import redrawn_frac
from firstbreak.preflight.invariants.owned import actor_weights, critic_weights
from firstbreak.preflight.invariants.rows import blur_frac, most_different
from firstbreak.preflight.invariants.torch_types import load_torch

from .one_module_ppo import OneModulePPO

torch = load_torch()


def test_a_sound_trainer_is_healthy_and_its_rows_can_be_told_apart() -> None:
    seen = inspect_trainer(OneModulePPO().pieces())
    assert (seen.verdict, seen.findings) == (Verdict.HEALTHY, ())
    looked = {"advantage-weights-distorted", "value-loss-rows-distorted", "stored-log-prob-ignored"}
    assert looked | {"zero-advantage-moves-policy", "log-prob-not-a-density"} <= set(seen.clear)


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        ("no_head", "parameter-not-in-optimiser"),
        ("broadcast", "value-loss-broadcasts"),
        ("leak", "value-loss-moves-actor"),
        ("old_recomputed", "stored-log-prob-ignored"),
        ("resampled", "policy-loss-scores-other-action"),
    ],
)
def test_a_bug_is_named_and_all_else_is_its_consequence(bug: str, name: str) -> None:
    seen = inspect_trainer(OneModulePPO(bug).pieces())
    assert seen.first_break is not None
    assert [f.name for f in seen.findings if f.severity.rank and f.consequence_of is None] == [name]


def test_one_module_is_divided_by_what_log_prob_and_value_depend_on() -> None:
    trainer = OneModulePPO()
    bench = Bench(trainer.pieces())
    named = {id(p): n for n, p in trainer.net.named_parameters()}
    assert {named[id(w)][:2] for w in actor_weights(bench)} == {"pi"}
    assert {named[id(w)][:2] for w in critic_weights(bench)} == {"v."}


def test_probabilities_of_drawn_actions_are_summed_where_nobody_counted_them() -> None:
    found = density(Bench(OneModulePPO().pieces()))
    assert found.counted
    assert found.ratio == pytest.approx(1.0, abs=1e-6)
    action = torch.tensor([[0, 1]] * 30 + [[1, 1]] * 60 + [[1, 0]] * 10).double()
    log_prob = torch.tensor([0.3] * 30 + [0.6] * 60 + [0.1] * 10).log().double()
    assert summed(action, log_prob).ratio == pytest.approx(1.0)
    assert summed(action, log_prob / 2).ratio > 1.5


def test_the_loss_that_draws_is_told_from_the_one_that_does_not() -> None:
    assert redrawn_frac(Bench(OneModulePPO().pieces())) < 1e-6
    assert redrawn_frac(Bench(OneModulePPO("resampled").pieces())) > 0.3


def test_most_different_rows_span_more_than_most_choices() -> None:
    rows = torch.randn(9, 5, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    rows[:6] = rows[0] + 1e-3 * rows[:6]

    def volume(chosen: tuple[int, ...]) -> float:
        return float(torch.linalg.det(rows[list(chosen)] @ rows[list(chosen)].T))

    chosen = most_different(rows, 4)
    every = sorted(volume(c) for c in itertools.combinations(range(9), 4))
    assert volume(tuple(chosen)) >= 0.5 * every[-1]
    assert len(set(chosen)) == 4
    assert blur_frac(rows[chosen]) < 0.1 * blur_frac(rows[:4])
