"""What is made of the ending of a child that inspects."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.errors import InputError
from firstbreak.isolation import Limits
from firstbreak.preflight.child import built, last_lines


def test_a_trainer_that_cannot_be_built_is_told_with_the_users_own_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def make():\n    raise ValueError('no weights')\n")
    with pytest.raises(InputError, match="could not be looked at: raised in building the trainer") as caught:
        built("tokens", f"{path}:make", "firstbreak.preflight.tokens.api:inspect_in_child", 0, Limits(seconds=60.0))
    assert "raise ValueError('no weights')" in caught.value.hint
    assert caught.value.hint.endswith("ValueError: no weights")


def test_the_end_of_a_trace_begins_with_a_whole_line() -> None:
    trace = "\n".join(f"  File {i}\n    call()\n    ^^^^~~" for i in range(200)) + "\nError: x"
    told = last_lines(trace, 100)
    assert len(told) <= 110
    assert told.splitlines()[0].strip() in ("call()", *(f"File {i}" for i in range(200)))
    assert "^" not in told
    assert last_lines("x" * 1000) == "x" * 600
