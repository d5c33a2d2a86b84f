from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from firstbreak.cli import main

LOGS = Path(__file__).parents[2] / "data" / "logs"


class Answer:
    """What a command printed and how it ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run the command line in this process."""

    def run(*arguments: str | Path) -> Answer:
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a broken and a healthy run, apart from any settings file."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("sb3_ppo_lr01", "sb3_ppo_cartpole"):
        (folder / name).mkdir()
        shutil.copy(LOGS / name / "progress.csv", folder / name / "progress.csv")
    return folder
