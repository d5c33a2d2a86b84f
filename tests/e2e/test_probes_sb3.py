"""SB3's own algorithms pass the ladder, in child processes."""

from __future__ import annotations

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.probes.api import probe

pytestmark = pytest.mark.full


@pytest.mark.parametrize("name", ["PPO", "A2C", "DQN", "SAC"])
def test_sb3_passes_every_rung(name: str) -> None:
    seen = probe(f"sb3:{name}")
    assert seen.verdict is Verdict.HEALTHY, (seen.findings, seen.details["rungs"], seen.errors)
