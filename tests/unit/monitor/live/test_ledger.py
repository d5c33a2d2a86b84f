"""The ledger of alarms: who is in time, who is alone, and who alarms where nothing is broken."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "benchmarks" / "live"))

from ledger import Worth, of_faults, together

FAULTS = {"jam": {"link": "environment_data", "also_right": ("reward_signal",)}}
GROWS, FALLS = [(float(n), float(n)) for n in range(1, 61)], [(60.0 + n, 60.0 - 3 * n) for n in range(1, 20)]


def alarm(name: str, at: float, link: str = "environment_data") -> dict[str, Any]:
    return {"name": name, "at": at, "link": link}


def run(*alarms: dict[str, Any], fault: str = "jam") -> dict[str, Any]:
    """A return that rises to 60 and falls from there on, the fault at 60 steps."""
    rows = [[float(step), {}] for step in range(1, 80)]
    return {
        "subject": "ppo", "fault": fault, "seed": 0, "began": 60.0 if fault else math.nan, "window": 5, "died": "",
        "episodes": GROWS + FALLS, "rows": rows, "alarms": list(alarms),
    }  # fmt: skip


def test_one_that_is_in_time_with_no_other_beside_it_is_alone() -> None:
    found = of_faults([run(alarm("a", 61)), run(alarm("a", 61), alarm("b", 62, "reward_signal"))], FAULTS)
    assert (len(found["a"].named), len(found["a"].alone)) == (2, 1)
    assert (len(found["b"].named), len(found["b"].alone)) == (1, 0)


def test_what_comes_late_or_at_another_link_names_nothing() -> None:
    found = of_faults([run(alarm("late", 79), alarm("else", 61, "critic"))], FAULTS)
    assert all(not worth.named for worth in found.values())


def test_what_alarms_on_a_twin_or_before_the_fault_is_counted_there_and_names_nothing() -> None:
    found = of_faults([run(alarm("noisy", 61)), run(alarm("noisy", 30), fault=""), run(alarm("early", 30))], FAULTS)
    assert (found["noisy"].unbroken, found["noisy"].named) == (["ppo twin 0"], [])
    assert found["early"].unbroken == ["ppo jam 0"]


def test_ledgers_are_added_and_those_that_are_needed_come_first() -> None:
    one, other = {"a": Worth(named=["x"])}, {"b": Worth(named=["y"], alone=["y"]), "a": Worth(healthy=["h"])}
    found = together([one, other])
    assert list(found) == ["b", "a"]
    assert (found["a"].named, found["a"].healthy) == (["x"], ["h"])
    assert one["a"].healthy == []
