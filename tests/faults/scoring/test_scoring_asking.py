"""What is asked anew of a log that differs in settings or in the runs beside it: all that may differ, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.faults.scoring import asking
from benchmarks.faults.scoring.answer import answer_beside, answer_from, answer_of, standing, summary
from benchmarks.faults.scoring.asking import HELD_AGAINST, Asked, Noted, alike
from benchmarks.faults.scoring.assessing import answer_unnamed, unnamed
from benchmarks.faults.scoring.logs import load_log
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.departure import Bands, against
from firstbreak.engine import Outcome, run_rules
from firstbreak.registry import all_rules
from firstbreak.rule import Expect, Rule
from firstbreak.runlog import ClockMap, Event, RunLog
from firstbreak.series import Curve

from .recorded import recorded

RULES = all_rules()
HEALTHY = [load_log(recorded(f"clean/{seed}")) for seed in range(5)]
FAULTY = ("learning-rate-x30/1", "observation-zero/1")


def words(outcomes: list[Outcome]) -> list[str]:
    """Outcomes as texts: NaN is NaN there."""
    return [repr(replace(o, looks=())) for o in outcomes]


def without(settings: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name != key}


@pytest.mark.parametrize("name", FAULTY)
def test_beside_healthy_runs_only_the_rules_that_hold_against_them_are_asked_anew(name: str) -> None:
    asked = Asked(load_log(recorded(name)), RULES)
    held = against(asked.log, HEALTHY)
    assert {rule.name for rule in asked.concerned(held)} == {r.name for r in RULES if r.name.endswith(HELD_AGAINST)}
    assert words(asked.of(held)) == words(run_rules(held, RULES))
    whole = diagnose_log(asked.log, Settings(), baseline=HEALTHY)
    assert answer_beside(asked, HEALTHY, Bands()) == summary(whole, tuple(standing(whole, ())))


def test_no_other_rule_reads_what_healthy_runs_show() -> None:
    folder = Path(asking.__file__).parents[3] / "src" / "firstbreak" / "rules"
    readers = {path.stem for path in folder.glob("*/*.py") if "departure" in path.read_text("utf-8")}
    assert {r.module.rpartition(".")[2] for r in RULES if r.name.endswith(HELD_AGAINST)} == readers
    assert not [path for path in folder.glob("**/*.py") if "log.against" in path.read_text("utf-8")]


@pytest.mark.parametrize("name", ["clean/1", *FAULTY])
def test_without_the_tasks_name_few_rules_are_asked_anew(name: str) -> None:
    run = replace(recorded(name), config={**recorded(name).config, "env_id": "CartPole-v1"})
    asked = Asked(load_log(run), RULES)
    bare = unnamed(run)
    assert 0 < len(asked.concerned(bare)) < len(RULES) / 4
    assert words(asked.of(bare)) == words(run_rules(bare, RULES))
    assert answer_unnamed(asked, run) == answer_of(bare)
    assert answer_from(asked.log, asked.outcomes) == answer_of(asked.log)


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_each_setting_that_a_rule_reads_has_it_asked_anew(rule: Rule) -> None:
    for case in rule.cases:
        log = case.run()
        asked = Asked(log, [rule])
        assert words(asked.outcomes) == words(run_rules(log, [rule]))
        others = [without(log.config, key) for key in log.config] if case.expect is not Expect.HEALTHY else []
        for settings in [{}, *others]:
            other = replace(log, config=settings)
            assert words(asked.of(other)) == words(run_rules(other, [rule])), (case.name, settings)


def test_another_run_is_asked_about_from_the_start() -> None:
    log = HEALTHY[0]
    asked, first = Asked(log, RULES[:3]), log.series[0]
    assert asked.concerned(replace(log, path="elsewhere")) == []
    assert log.clocks is not None
    late = replace(first, curve=Curve(first.step, np.where(first.step < 9000, first.value, 0.5), first.wall))
    for other in (
        HEALTHY[1],
        replace(log, series=log.series[1:]),
        replace(log, series=(late, *log.series[1:])),
        replace(log, series=(replace(first, lag_rows=1), *log.series[1:])),
        replace(log, events=(Event("resume", 5.0),)),
        replace(log, state="crashed"),
        replace(log, clocks=ClockMap(log.clock, np.arange(3.0), {})),
        replace(log, clocks=None),
    ):
        assert asked.concerned(other) == list(RULES[:3])


def test_a_run_that_is_read_again_is_the_same_run() -> None:
    assert alike(HEALTHY[0], load_log(recorded("clean/0")))
    nan = Curve(np.arange(2.0), np.array([np.nan, 1.0]))
    one, two = (RunLog("t", series=(replace(HEALTHY[0].series[0], curve=c),)) for c in (nan, replace(nan)))
    assert alike(one, two)


def test_settings_note_what_was_asked_for() -> None:
    noted = Noted({"lr": 0.1})
    assert (noted.get("lr"), noted["lr"], noted.get("gamma", 3), "seed" in noted) == (0.1, 0.1, 3, False)
    assert noted.read == {"lr", "gamma", "seed"}
    assert list(noted) == ["lr"]
    assert asking.EVERYTHING in noted.read
