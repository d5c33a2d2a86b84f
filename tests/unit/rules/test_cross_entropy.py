"""A critic's cross-entropy is known by where it begins, where no setting says how many atoms there are."""

from __future__ import annotations

import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import find_rule

DQN = synth.like("DQN", config={"gamma": 0.99})
RETURN, LOSS, VALUE = "reward/episode_return_mean", "critic/loss", "critic/q_mean"


@pytest.mark.parametrize(
    ("opening", "latest", "told"),
    [
        (3.9, 1.7, False),  # ln 51 = 3.93
        (4.6, 2.0, False),  # ln 101 = 4.62
        (8.0, 4.0, True),  # no number of atoms that anybody uses
        (3.9, 3.95, True),  # a cross-entropy that is minimised falls
    ],
)
def test_a_loss_that_begins_at_the_logarithm_of_the_atoms_and_falls_is_no_error_of_rewards(
    opening: float, latest: float, told: bool
) -> None:
    log = DQN(
        {
            RETURN: synth.flat(-1.2, 0.1),
            LOSS: synth.ramp(opening, latest, 0.0),
            VALUE: synth.flat(4.0, 0.05),
        }
    )
    (outcome,) = run_rules(log, [find_rule("reward-scale-mismatch")])
    assert bool(outcome.findings) is told
