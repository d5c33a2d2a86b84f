"""`inspect_environment` end to end: a healthy environment, those that hang, die or eat memory, and what is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Severity
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits
from firstbreak.preflight.environment.api import inspect_environment

WORLDS = "tests.unit.preflight.environment.contract_worlds"
QUICK = Limits(seconds=60.0, silence_s=2.5, memory_bytes=1200 << 20)


def inspect(name: str, **options: Any) -> Inspection:
    return inspect_environment(f"{WORLDS}:{name}", budget_s=1.0, limits=QUICK, **options)


def test_cartpole_is_healthy() -> None:
    seen = inspect_environment("CartPole-v1")
    assert seen.verdict is Verdict.HEALTHY
    assert not [f for f in seen.findings if f.severity is not Severity.INFO]
    assert not seen.errors
    assert seen.details["deep_episodes"] > 0


@pytest.mark.parametrize(
    ("name", "check", "words"),
    [
        ("HangsAt40", "environment-hangs", "step"),
        ("ExitsAt90", "environment-dies", "exit status 3"),
        ("HangsOnSecondReset", "environment-hangs", "second reset in a row"),
        ("Eats", "environment-eats-memory", "GiB"),
    ],
)
def test_what_kills_the_child_is_named_and_the_tool_lives(name: str, check: str, words: str) -> None:
    seen = inspect(name)
    found = {f.name: f for f in seen.findings}
    assert seen.verdict is Verdict.BROKEN
    assert words in found[check].message
    assert found[check].evidence["call"]


def test_processes_left_behind_are_told_and_stopped() -> None:
    assert "processes-left-behind" in {f.name for f in inspect("Forks").findings}


@pytest.mark.parametrize("name", ["ForksBare", "ForksAndRaises"])
def test_a_fork_that_returns_to_the_caller_is_named_and_not_taken_for_a_memory_excess(name: str) -> None:
    seen = inspect(name)
    assert seen.first_break is not None
    assert seen.first_break.name == "environment-forks"
    assert "reset forks and returns twice" in seen.findings[0].message
    assert "environment-eats-memory" not in {f.name for f in seen.findings}
    assert len(seen.clear) > 40  # the original was looked at to the end


def test_a_fork_that_ends_inside_the_environment_is_no_fault() -> None:
    assert not {"environment-forks", "processes-left-behind"} & {f.name for f in inspect("ForksAndEnds").findings}


def test_memory_of_processes_that_hid_is_counted_and_they_are_stopped() -> None:
    seen = inspect("ForksHoarders")
    assert seen.first_break is not None
    assert seen.first_break.name == "processes-left-behind"
    (eaten,) = [f for f in seen.findings if f.name == "environment-eats-memory"]
    assert "processes" in eaten.message
    assert eaten.consequence_of is not None


@pytest.mark.parametrize(
    ("name", "check", "steps"),
    [
        ("RaisesOnPair", "environment-raises", 2),
        ("FourValues", "reset-or-step-malformed", 1),
        ("BareReset", "reset-or-step-malformed", 0),
        ("BlindAfter60", "observation-not-finite", 61),
        ("UnpaidAfter60", "reward-not-finite", 61),
        ("SecondUnseen", "other-agent-malformed", 30),
    ],
)
def test_a_failure_is_saved_as_a_script_that_shows_it_again(tmp_path: Path, name: str, check: str, steps: int) -> None:
    seen = inspect(name, save_scripts=tmp_path)
    (found,) = [f for f in seen.findings if f.name == check]
    assert found.evidence["actions_steps"] == steps
    script = Path(str(found.evidence["script"]))
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "seen again" in ran.stdout


@pytest.mark.parametrize("target", ["NoSuchEnv-v0", f"{WORLDS}:NoSuchFactory", "no.such.module:make", f"{WORLDS}:KEPT"])
def test_what_is_no_environment_is_refused_with_a_hint(target: str) -> None:
    with pytest.raises((InputError, KeyError)) as caught:
        inspect_environment(target, budget_s=1.0)
    assert getattr(caught.value, "message", "")


def test_an_environment_that_cannot_be_made_is_a_finding() -> None:
    seen = inspect("wrong_make")
    assert "environment-raises" in {f.name for f in seen.findings}
