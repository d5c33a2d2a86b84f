"""Settings that were set anew, and those that a schedule moves."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from firstbreak import synth
from firstbreak.setting_moved import far, setting_moved
from firstbreak.view import RunView


@dataclass(frozen=True)
class Params:
    times: float = 2.0
    rest: int = 8
    lasts: int = 2


SETTINGS = {"critic/loss_weight": "the weight", "critic/target_tau": "tau"}
PPO = synth.like("PPO")


@pytest.mark.parametrize(
    ("usual", "now", "apart"),
    [(1, 2, True), (1, 0.5, True), (1, 1.9, False), (1, 0, True), (0, 1, True), (0, 0, False), (1, -1, True),
     (-1, -2, True), (-1, -1, False)],
)  # fmt: skip
def test_far_is_a_factor_a_switch_or_a_sign(usual: float, now: float, apart: bool) -> None:
    assert far(usual, now, 2.0) is apart


def test_it_says_what_went_from_where_to_where() -> None:
    found = setting_moved(RunView(PPO({"critic/target_tau": synth.jump(0.01, 0.5, 0.6, 0.0)})), SETTINGS, Params())
    assert found is not None
    assert (found.metric, found.evidence) == ("critic/target_tau", {"before": 0.01, "now": 0.5})
    assert "tau went from 0.01 to 0.5" in found.message


def test_a_schedule_and_a_setting_that_is_not_there_are_no_move() -> None:
    assert setting_moved(RunView(PPO({"critic/loss_weight": synth.ramp(1.0, 0.1, 0.0)})), SETTINGS, Params()) is None
    assert setting_moved(RunView(PPO({})), SETTINGS, Params()) is None
