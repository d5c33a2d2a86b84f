"""What must hold between the numbers of a row of verl."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters import verl
from firstbreak.monitor.adapters.parts.verl_identities import ALTERED, KL_OFF, LEARNT, Identities
from firstbreak.monitor.core import Monitor

POSTED = Path(__file__).parents[3] / "data" / "rows" / "verl_posted.jsonl"


def config(estimator: str = "grpo", n: int = 5, **algorithm: Any) -> dict[str, Any]:
    actor = {"use_kl_loss": True, "kl_loss_coef": 0.001}
    return {
        "algorithm": {"adv_estimator": estimator, **algorithm},
        "actor_rollout_ref": {"rollout": {"n": n}, "actor": actor},
    }


def row(
    a: tuple[float, float, float] = (-0.04, 1.7, -1.7), r: tuple[float, float, float] | None = None
) -> dict[str, float]:
    r = a if r is None else r
    names = ("mean", "max", "min")
    tables = {"advantages": a, "returns": r}
    found = {f"critic/{table}/{name}": x for table, xs in tables.items() for name, x in zip(names, xs, strict=True)}
    return {**found, "critic/score/max": 1.0, "critic/score/min": 0.0}


def test_rows_that_users_posted_agree_with_themselves() -> None:
    for line in POSTED.read_text().splitlines():
        given = json.loads(line)["data"]
        found = Identities(config()).row(given)
        if "critic/values/mean" not in given and "critic/advantages/min" in given:
            assert found[ALTERED] == 0.0
        assert found.get(KL_OFF, 0.0) == 0.0


def test_no_advantage_of_a_group_is_beyond_the_bound() -> None:
    for rewards in ([1.0, 0, 0, 0, 0], [1.0, 1, 1, 1, 0], [0.3, 0.1, 7.0, 0.2, 0.0]):
        group = torch.tensor(rewards)
        a = (group - group.mean()) / (group.std() + 1e-6)
        extremes = float(a.mean()), float(a.max()), float(a.min())
        assert Identities(config()).row(row(extremes) | {"critic/score/max": 1.0})[ALTERED] == 0.0
    assert Identities(config()).row(row((0.0, 4 / math.sqrt(5), -1.0)))[ALTERED] == 0.0


@pytest.mark.parametrize(
    ("of_advantages", "of_returns"),
    [((0.0, 3.4, -3.4), None), ((0.1, 1.7, -0.7), (0.0, 1.6, -0.8)), ((0.04, 1.7, -1.0), (-0.04, 1.0, -1.7))],
    ids=["twice as large", "shifted", "turned round"],
)
def test_advantages_that_somebody_wrote_over_show(of_advantages: Any, of_returns: Any) -> None:
    assert Identities(config()).row(row(of_advantages, of_returns))[ALTERED] == 1.0


def test_where_advantages_are_not_divided_by_their_spread_there_is_no_bound() -> None:
    given = row((0.0, 9.0, -9.0))
    assert Identities(config(norm_adv_by_std_in_grpo=False)).row(given)[ALTERED] == 0.0
    assert Identities(config("rloo")).row(given)[ALTERED] == 0.0
    assert ALTERED not in Identities(config("gae")).row(given)


def test_a_response_alone_in_its_group_keeps_its_score() -> None:
    assert Identities(config()).row(row((0.0, 9.0, -1.0)) | {"critic/score/max": 9.0})[ALTERED] == 0.0


def test_without_settings_both_tables_are_taken_for_one_once_they_were_alike_for_a_while() -> None:
    fresh = Identities(None)
    assert [fresh.row(row()) for _ in range(LEARNT)][-1] == {}
    assert fresh.row(row())[ALTERED] == 0.0
    assert fresh.row(row(r=(0.0, 1.0, -1.0)))[ALTERED] == 1.0
    never = Identities(None)
    assert all(never.row(row(r=(0.5, 2.0, 0.0))) == {} for _ in range(20))


def test_with_a_critic_nothing_is_learnt() -> None:
    fresh = Identities(None)
    for _ in range(20):
        assert fresh.row(row() | {"critic/values/mean": 0.0}) == {}


def test_the_coefficient_of_the_divergence_is_that_of_the_settings() -> None:
    identities = Identities(config())
    assert identities.row({"actor/kl_coef": 0.001}) == {KL_OFF: 0.0}
    assert identities.row({"actor/kl_coef": 0.004})[KL_OFF] == pytest.approx(3.0)
    assert Identities(None).row({"actor/kl_coef": 0.004}) == {}


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "many", [1.0], True])
def test_what_is_no_number_does_no_harm(value: Any) -> None:
    given = dict.fromkeys(row(), value) | {"actor/kl_coef": value}
    found = Identities(config()).row(given)
    assert ALTERED not in found or found[ALTERED] in (0.0, 1.0)


def test_the_monitor_says_so_within_two_rows_and_the_logger_gets_what_it_was_given() -> None:
    class Tracking:
        def __init__(self) -> None:
            self.logged: list[Any] = []

        def log(self, data: Any, step: Any, backend: Any = None) -> None:
            self.logged.append(data)

    monitor = Monitor(framework="verl", algorithm="GRPO")
    logger = verl.monitored(Tracking(), monitor, config=config())
    for step in range(12):
        logger.log(row() if step < 8 else row(r=(0.04, 1.7, -1.7)), step)
    alarms = [alarm for alarm in monitor.alarms if alarm.finding.name == "advantages-changed-on-the-way"]
    assert len(alarms) == 1
    assert alarms[0].at == 9
    assert all(ALTERED not in data for data in logger.logged)
    assert monitor.faults == []
