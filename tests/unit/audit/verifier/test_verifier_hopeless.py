"""Verifiers that never come back, or cannot be called at all: the first must be named, the second is bad input."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.audit.verifier.api import audit_verifier
from firstbreak.audit.verifier.builtin import TASKS
from firstbreak.audit.verifier.calling import misfit
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.isolation import Limits

SOURCE = """
import os, time
def leaves(response, answer): os._exit(3)
def hangs(response, answer): time.sleep(600)
def of_nothing(): return 1.0
def of_columns(completions, difficulty, **columns): return [1.0] * len(completions)
number = 3
"""


@pytest.fixture
def verifiers(tmp_path: Path) -> Path:
    path = tmp_path / "verifiers.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize(
    ("name", "seconds", "found"), [("leaves", 10.0, "verifier-ends-process"), ("hangs", 0.3, "verifier-hangs")]
)
def test_a_verifier_that_never_comes_back_is_named(verifiers: Path, name: str, seconds: float, found: str) -> None:
    seen = audit_verifier(f"{verifiers}:{name}", seconds=seconds, rows=2, limits=Limits(60))
    assert seen.verdict is Verdict.BROKEN
    assert found in {f.name for f in seen.findings}
    assert seen.details["calls"] <= 6


@pytest.mark.parametrize("name", ["of_nothing", "of_columns", "number"])
def test_what_cannot_be_called_is_bad_input_and_no_broken_verifier(verifiers: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        audit_verifier(f"{verifiers}:{name}", rows=2, limits=Limits(60))


def test_a_signature_that_fits_or_is_unknown_is_left_alone() -> None:
    question = TASKS["number"][0] if "number" in TASKS else next(iter(TASKS.values()))[0]

    def plain(response: str, answer: str) -> float:
        raise AssertionError("nothing of the user's may run")

    def columns(completions: list[str], **more: object) -> list[float]:
        raise AssertionError("nothing of the user's may run")

    assert misfit(plain, "plain", question) == ""
    assert misfit(columns, "trl", question) == ""
    assert misfit(print, "plain", question) == ""

    def demanding(completions: list[str], difficulty: list[int]) -> list[float]:
        raise AssertionError("nothing of the user's may run")

    assert "difficulty" in misfit(demanding, "trl", question)
