"""A stretch of each witness is the same as the faulty run beside it; one with another motor is found out."""

from __future__ import annotations

import pytest

from benchmarks.faults.scoring import witnessed
from benchmarks.faults.witnesses.comparing import compare, planted_log, witness_log
from benchmarks.faults.witnesses.witness import Witness, witnesses

ROWS = {"ppo": 4, "sb3_sac": 14, "grpo": 12, "trl_grpo": 6}
"""Of grpo so many that an evaluation is among them, of sb3_sac that it has learned."""

pytestmark = pytest.mark.full


def compared(witness: Witness):
    rows = ROWS[witness.subject]
    return compare(witness_log(witness, 0, rows), planted_log(witness, 0, rows))


def known(fault: str, subject: str) -> Witness:
    return next(one for one in witnesses() if (one.fault, one.subject) == (fault, subject))


def test_what_is_written_down_is_of_these_witnesses():
    assert {one.kind for one in witnesses()} == set(witnessed.kinds())


@pytest.mark.parametrize(
    ("fault", "subject"),
    [
        ("action-scale-dropped", "ppo"),
        ("action-scale-dropped", "sb3_sac"),
        ("question-dropped", "grpo"),
        ("eval-on-training-set", "grpo"),
        ("reward-flipped", "trl_grpo"),
        ("verifier-fails", "trl_grpo"),
    ],
)
def test_a_witness_leaves_the_log_of_the_faulty_run(fault: str, subject: str):
    witness = known(fault, subject)
    found = compared(witness)
    assert found.equal, found.different
    assert found.rows >= ROWS[witness.subject] - 1
    assert found.own_keys + found.monitor_keys >= 60


def test_a_motor_that_is_a_little_stronger_is_no_witness(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.faults.witnesses.weak_motor.STRENGTH", 0.101)
    found = compared(known("action-scale-dropped", "ppo"))
    assert not found.equal
    assert "own:reward/step_mean at row 0" in found.different
