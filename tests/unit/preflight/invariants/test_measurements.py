"""The measurements against slow twins, and that a trainer is left as it was."""

from __future__ import annotations

import math

import pytest
import torch

from firstbreak.check import checks_of
from firstbreak.errors import InputError
from firstbreak.preflight.invariants.api import inspect_trainer
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.gae import slow_gae, synthetic_rollout
from firstbreak.preflight.invariants.pieces import Pieces
from firstbreak.preflight.invariants.policy_rows import policy_rows
from firstbreak.preflight.invariants.rows import fit
from firstbreak.preflight.invariants.subjects import subjects
from firstbreak.preflight.invariants.td_rows import right_bootstrap, targets

from .small_trainers import GAMMA, SmallDQN, SmallPPO, SmallSAC


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_gae_is_the_discounted_sum_of_deltas_up_to_the_end_of_the_episode(seed: int, lam: float) -> None:
    c = synthetic_rollout(seed).columns
    found = slow_gae(c, 0.9, lam)
    steps, envs = c["reward"].shape
    for n in range(envs):
        for t in range(steps):
            total = 0.0
            for k in range(t, steps):
                keep = 0.0 if c["terminated"][k, n] else 0.9
                delta = c["reward"][k, n] + keep * c["next_value"][k, n] - c["value"][k, n]
                total += (0.9 * lam) ** (k - t) * float(delta)
                if c["terminated"][k, n] or c["truncated"][k, n]:
                    break
            assert found[t, n] == pytest.approx(total, abs=1e-5)


def test_row_weights_are_solved_for_and_what_is_left_is_told() -> None:
    torch.manual_seed(0)
    rows, weights = torch.randn(6, 200, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    right = fit(weights @ rows, rows)
    assert torch.allclose(right.weights, weights, atol=1e-10)
    assert right.explained
    assert right.sure
    odd = fit(weights @ rows + torch.randn(200, dtype=torch.float64), rows)
    assert not odd.explained


def test_rows_that_are_alike_are_not_judged() -> None:
    rows = torch.randn(1, 50, dtype=torch.float64).repeat(3, 1)
    assert not fit(rows.sum(0), rows).sure


def test_targets_read_off_gradients_are_those_of_the_loop() -> None:
    for trainer in (SmallDQN(), SmallSAC()):
        bench = Bench(trainer.pieces())
        found = bench.once(targets)
        for i in range(12):
            known = found.known[i]
            value = float(known.max() if isinstance(trainer, SmallDQN) else known.min())
            expected = 0.0 if found.batch["terminated"][i] else GAMMA * value
            assert float(found.bootstrap[i]) == pytest.approx(expected, abs=found.error)
            assert float(right_bootstrap(bench, found)[i]) == pytest.approx(expected, abs=1e-6)


def test_clipping_is_measured_row_by_row() -> None:
    found = Bench(SmallPPO().pieces()).once(policy_rows)
    assert found.quadrants is not None
    assert found.log_ratio is not None
    assert found.quadrant_advantage is not None
    for weight, log_ratio, advantage in zip(
        found.quadrants.weights, found.log_ratio, found.quadrant_advantage, strict=True
    ):
        ratio = math.exp(float(log_ratio))
        beyond = (advantage > 0 and ratio > 1.2) or (advantage < 0 and ratio < 0.8)
        assert float(weight) * 12 == pytest.approx(0.0 if beyond else -float(advantage) * ratio, abs=1e-3)


@pytest.mark.parametrize("trainer", [SmallPPO, SmallDQN, SmallSAC])
def test_the_trainer_and_the_random_numbers_are_left_as_they_were(trainer: type) -> None:
    one = trainer()
    pieces = one.pieces()
    pieces.update(pieces.minibatch())
    weights = [w for o in pieces.optimisers for g in o.param_groups for w in g["params"]]
    before = [w.detach().clone() for w in weights]
    moments = [{k: v.clone() for k, v in pieces.optimisers[0].state[w].items()} for w in weights[:2]]
    torch.manual_seed(5)
    state = torch.get_rng_state()
    inspect_trainer(pieces)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(before, weights, strict=True))
    for w, held in zip(weights[:2], moments, strict=True):
        assert all(torch.equal(v, pieces.optimisers[0].state[w][k]) for k, v in held.items())


def test_pieces_with_nothing_in_them_are_skipped_with_what_would_unlock_them() -> None:
    seen = inspect_trainer(Pieces("PPO"))
    assert seen.findings == ()
    assert seen.errors == ()
    assert len(seen.skipped) + len(seen.clear) == len(checks_of("invariants"))
    assert any("pieces.log_prob" in s.unlock_with for s in seen.skipped)


def test_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="not a trainer"):
        subjects(3)
    with pytest.raises(InputError, match="not a class"):
        subjects(dict)
