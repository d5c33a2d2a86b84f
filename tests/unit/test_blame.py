"""Whose code raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.blame import YOURS, blamed, whose_fault
from firstbreak.check import Check, look_at
from firstbreak.errors import unknown_name
from firstbreak.finding import Component, Link, Severity


def caught(call: Callable[[], Any]) -> Exception:
    """What `call` raises, as if firstbreak had called it: without the frames of this file."""
    try:
        call()
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        return error.with_traceback(trace)
    raise AssertionError("nothing was raised")


def users(tmp_path: Path, source: str) -> Callable[[], Any]:
    path = tmp_path / "mine.py"
    path.write_text(source, "utf-8")
    space: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), space)
    return space["call"]


def test_the_line_of_the_users_code_is_named(tmp_path: Path) -> None:
    call = users(tmp_path, "def call():\n    x = 1\n    raise ValueError('no loss')\n")
    assert blamed(caught(call)) == f"{YOURS}mine.py:3: ValueError: no loss"


def test_code_that_makes_a_library_raise_is_the_users(tmp_path: Path) -> None:
    call = users(tmp_path, "import json\n\ndef call():\n    return json.loads('{')\n")
    assert blamed(caught(call)).startswith(f"{YOURS}mine.py:4: JSONDecodeError")


@pytest.mark.parametrize("call", [lambda: json.loads("{"), lambda: np.zeros(2) + np.zeros(3)], ids=["json", "numpy"])
def test_a_library_that_raises_by_itself_is_not(call: Callable[[], Any]) -> None:
    error = caught(call)
    assert not blamed(error).startswith(YOURS)
    assert "fault of firstbreak" in whose_fault(blamed(error), "run")


def test_our_own_exceptions_are_not(tmp_path: Path) -> None:
    def ours() -> None:
        int(unknown_name("rule", "x", ["y"]))  # pyright: ignore[reportArgumentType]

    assert not blamed(caught(ours)).startswith(YOURS)


def test_a_check_that_calls_the_users_code_says_where_it_raised(tmp_path: Path) -> None:
    call = users(tmp_path, "def call():\n    raise RuntimeError('mine')\n")

    def look(subject: Any) -> None:
        subject()

    made = Check("X001", "a-check", Link.POLICY_UPDATE, Component.LOSS, Severity.ERROR, "Mend it.", look)
    error = look_at(made, call).error
    assert error == f"{YOURS}mine.py:2: RuntimeError: mine"
    assert whose_fault(error, "target") == ""
