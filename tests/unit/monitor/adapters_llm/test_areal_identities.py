"""What must hold between a row of AReaL and its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from firstbreak.monitor.adapters import areal
from firstbreak.monitor.adapters.parts.areal_identities import CLIP_HIGH, CLIP_LOW, OFFSET, Identities
from firstbreak.monitor.core import Monitor


def config(**actor: Any) -> dict[str, Any]:
    return {"actor": {"eps_clip": 0.2, "eps_clip_higher": None, "adv_norm": {"mean_level": "batch"}, **actor}}


def row(a: torch.Tensor) -> dict[str, float]:
    values = {"avg": float(a.mean()), "min": float(a.min()), "max": float(a.max())}
    return {f"ppo_actor/advantages/{name}": value for name, value in values.items()}


def test_advantages_that_are_centred_have_no_mean() -> None:
    a = torch.tensor([0.0, 1.0, 0.0, 4.0])
    assert Identities(config()).row(row(a - a.mean()))[OFFSET] == pytest.approx(0.0, abs=1e-6)
    assert Identities(config()).row(row(a))[OFFSET] == pytest.approx(1.25 / 4)
    assert Identities(config()).row(row(a * 0)) == {}


@pytest.mark.parametrize(
    "settings",
    [None, {}, config(adv_norm=None), config(adv_norm={"mean_level": "group"}), config(adv_norm={"mean_level": None}),
     config(adv_norm={"mean_level": "batch", "mean_leave1out": True})],
)  # fmt: skip
def test_nothing_is_said_where_no_setting_centres_them(settings: Any) -> None:
    assert OFFSET not in Identities(settings).row(row(torch.tensor([0.0, 1.0])))


def test_the_clip_in_force_is_that_of_the_settings() -> None:
    identities = Identities(config())
    assert identities.row({"ppo_actor/eps_clip": 0.2}) == {CLIP_LOW: 0.0, CLIP_HIGH: 0.0}
    assert identities.row({"ppo_actor/eps_clip": 0.8})[CLIP_HIGH] == pytest.approx(3.0)
    assert set(Identities(config(eps_clip_higher=0.28)).row({"ppo_actor/eps_clip": 0.2})) == {CLIP_LOW}


@pytest.mark.parametrize("value", [None, "many", [1.0], float("nan")])
def test_what_is_no_number_does_no_harm(value: Any) -> None:
    names = [*row(torch.zeros(1)), "ppo_actor/eps_clip"]
    assert Identities(config()).row(dict.fromkeys(names, value)) == {}


def test_the_monitor_says_so_of_a_dataclass_of_settings() -> None:
    @dataclass
    class Actor:
        eps_clip: float = 0.2
        eps_clip_higher: float | None = None

    @dataclass
    class Experiment:
        actor: Actor = field(default_factory=Actor)

    logger: Any = SimpleNamespace(exp_config=Experiment(), commit=lambda **_: None)
    monitor = Monitor(framework="areal", algorithm="GRPO")
    areal.monitored(logger, monitor)
    for step in range(16):
        logger.commit(0, step, step, {"ppo_actor/eps_clip": 0.2 if step < 8 else 20.0})
    assert [alarm.finding.name for alarm in monitor.alarms] == ["clip-not-as-set"]
    assert monitor.faults == []
