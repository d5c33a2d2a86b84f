"""How many rows `actor-unled` waits for: two where every step was led until then, else five."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak import synth
from firstbreak.engine import run_rules
from firstbreak.registry import find_rule
from firstbreak.rules.policy_update.actor_unled import LED


def rows(*values: float) -> synth.Shape:
    return lambda t, rng: np.array(values)


@pytest.mark.parametrize(
    ("before", "unled", "said"),
    [
        ([1.0] * 20, 1, False),
        ([1.0] * 20, 2, True),
        ([1.0] * 20 + [0.3], 1, True),
        ([1.0] * 19 + [0.3], 1, False),
        ([1.0] * 20 + [0.5, 0.3], 1, False),
        ([1.0] * 19, 4, False),
        ([1.0] * 19, 5, True),
        ([1.0] * 10 + [0.9] + [1.0] * 19, 4, False),
        ([1.0] * 10 + [0.9] + [1.0] * 19, 5, True),
        ([], 4, False),
        ([], 5, True),
    ],
)
def test_rows_that_it_waits_for(before: list[float], unled: int, said: bool):
    values = [*before, *[0.0] * unled]
    log = synth.like("SAC", n=len(values))({LED: rows(*values)})
    (outcome,) = run_rules(log, [find_rule("actor-unled")])
    assert bool(outcome.findings) is said
    if said:
        assert outcome.findings[0].onset.hi == float(log.get(LED).step[len(before)])
