"""A real PPO script with a TensorBoard log as a black box: its steps are judged, and its log beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firstbreak.finding import Link
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.probes.api import probe

SCRIPT = Path(__file__).parent / "black_box_ppo.py"
LIMITS = Limits(seconds=300.0, silence_s=120.0)


def climb(mistake: str, log: str) -> Inspection:
    blanks = "--env-id {env_id} --total-timesteps {steps} --seed {seed}"
    command = f"{sys.executable} {SCRIPT} {blanks} --mistake {mistake} --log {log}"
    return probe(script=command, steps=4096, limits=LIMITS)


@pytest.mark.parametrize(
    ("mistake", "log", "rule", "link"),
    [
        ("nan", "tensorboard", "nonfinite-metric", Link.NUMERICS),
        ("leap", "csv", "kl-overshoot", Link.POLICY_UPDATE),
    ],
)
def test_a_rung_that_fails_is_told_with_what_the_log_shows(mistake: str, log: str, rule: str, link: Link) -> None:
    seen = climb(mistake, log)
    assert seen.first_break is not None
    assert seen.first_break.name == "best-action-not-found"
    (told,) = [f for f in seen.findings if f.name == "script-log-shows-fault"]
    assert (told.evidence["rule"], told.link) == (rule, link)
    assert any(rule in row for table in seen.details["tables"] for row in table["rows"])
