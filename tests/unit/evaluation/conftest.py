from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firstbreak.cli import main

Called = tuple[int, str, str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Run `firstbreak eval …` in this process; return status, output and complaints."""

    def run(*arguments: str | Path) -> Called:
        capsys.readouterr()
        status = main(["eval", *[str(a) for a in arguments]])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run
