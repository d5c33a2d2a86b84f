"""The small tables that the reports of a reward and of a task print."""

from __future__ import annotations

import numpy as np
import pytest

from firstbreak.preflight.reward.api import inspect_reward
from firstbreak.preflight.reward.sample import RewardSample
from firstbreak.preflight.task.api import inspect_task
from firstbreak.preflight.task.remedies import REMEDIES
from firstbreak.report.inspection.text import render

WIDTH = 64
"""Characters of a remedy that fit beside its number on a page of 80."""


def test_components_come_by_share_of_variance() -> None:
    random = np.random.default_rng(0)
    parts = {"small": random.normal(0, 1, 400), "large": random.normal(7, 9, 400), "none": np.zeros(400)}
    found = inspect_reward(RewardSample(sum(parts.values()), episode=np.arange(400) // 20, components=parts))
    paid, shares = found.details["tables"]
    assert [row[0] for row in paid["rows"]] == ["each step", "return", "at gamma 0.99"]
    assert [row[0] for row in shares["rows"]] == ["large", "small", "none"]
    assert sum(row[1] for row in shares["rows"]) == pytest.approx(100)
    assert shares["rows"][2][4] == 100


def test_rewards_that_are_not_finite_have_tables_too() -> None:
    nothing = np.full(30, np.nan)
    found = inspect_reward(RewardSample(nothing, components={"a": nothing}))
    assert found.details["tables"][0]["rows"][0][2:] == [None] * 6
    assert found.details["tables"][1]["rows"] == [["a", None, None, None, None]]
    assert "components" in render([found])


def test_returns_gap_and_remedies_are_shown() -> None:
    random = np.random.default_rng(0)
    given = {"random": random.normal(20, 9, 100), "expert": random.normal(200, 20, 100)}
    found = inspect_task(**given, trained=given["random"] + 0.1)
    returns, *others = found.details["tables"]
    assert "% of the gap closed" in returns["title"]
    assert [row[0] for row in returns["rows"]] == ["random", "expert", "trained"]
    assert [t["title"].split(":")[0] for t in others] == ["trained-not-better-than-random"]
    shown = render([found])
    for remedy in REMEDIES["trained-not-better-than-random"]:
        assert remedy in shown


def test_remedies_fit_on_the_page() -> None:
    assert max(len(text) for texts in REMEDIES.values() for text in texts) <= WIDTH
