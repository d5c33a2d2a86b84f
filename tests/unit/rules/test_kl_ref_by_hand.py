"""A loop of one's own logs KL to the reference under a key that does not say of what: a token, or a response."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.api import diagnose
from firstbreak.diagnosis import Diagnosis

ROWS = 120


def told(kl: float, length: float | None) -> set[str]:
    """Rules that fire on a run whose KL climbs to `kl` nats, of responses of `length` tokens."""
    rng, share = np.random.default_rng(0), np.linspace(0, 1, ROWS)
    log = {"step": np.arange(ROWS), "kl_to_ref": kl * share**0.5, "reward_mean": share + rng.normal(0, 0.1, ROWS)}
    log |= {"policy_loss": rng.normal(0, 0.02, ROWS), "value_loss": rng.lognormal(-1, 0.1, ROWS), "kl_coef": 0.2}
    log |= {"entropy": rng.normal(2.2, 0.05, ROWS), "clipfrac": rng.uniform(0.04, 0.06, ROWS)}
    log |= {} if length is None else {"response_length": rng.normal(length, 2, ROWS)}
    rows = {name: np.broadcast_to(values, ROWS).tolist() for name, values in log.items()}
    found = diagnose(rows, config={"algorithm": "RLHF-PPO"})
    assert isinstance(found, Diagnosis)
    return {finding.name for finding in found.findings}


@pytest.mark.parametrize("length", [60.0, None])
def test_nats_of_a_whole_response_are_no_runaway(length: float | None) -> None:
    assert "kl-ref-runaway" not in told(9.0, length)


@pytest.mark.parametrize("length", [60.0, None])
def test_too_many_for_a_whole_response_are_one(length: float | None) -> None:
    assert "kl-ref-runaway" in told(900.0, length)
