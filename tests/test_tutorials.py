"""What the tutorials show is what the tool prints, and what the how-to pages write can be run."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from firstbreak.cli import main
from firstbreak.cli.commands import COMMANDS
from firstbreak.config import read_settings

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
HOW_TO = sorted((ROOT / "docs" / "how-to").glob("*.md"))
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A command of a tutorial with the output printed below it."""

    page: str
    command: str
    output: str

    def __str__(self) -> str:
        return f"{self.page}: {self.command}"


def shown() -> list[Shown]:
    found: list[Shown] = []
    for page in PAGES:
        for block in FENCE.findall(page.read_text("utf-8")):
            if block.startswith("$ "):
                command, _, output = block[2:].partition("\n")
                found.append(Shown(page.stem, command, output))
    return found


def pattern(output: str) -> str:
    """Return the regular expression of an output: `...` alone stands for any lines, within a line for any text."""
    parts: list[str] = []
    for line in output.splitlines():
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(re.escape(line).replace(re.escape("..."), ".*") + r"\n")
    return "".join(parts)


@pytest.mark.parametrize("example", shown(), ids=str)
def test_a_tutorial_shows_what_the_command_prints(
    example: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    name, *arguments = shlex.split(example.command)
    assert name == "firstbreak"
    status = main([*arguments, "--no-progress"] if arguments[0] == "diagnose" else arguments)
    printed = capsys.readouterr().out
    assert status in (0, 1)
    assert status == (1 if "BROKEN" in printed else 0)
    assert re.fullmatch(pattern(example.output), printed), printed


def test_every_tutorial_shows_at_least_three_commands() -> None:
    pages = [example.page for example in shown()]
    assert PAGES
    assert all(pages.count(page.stem) >= 3 for page in PAGES)


@pytest.mark.parametrize(
    ("output", "printed", "same"),
    [
        ("a\n...\nz", "a\nb\nc\nz\n", True),
        ("a\nz", "a\nb\nz\n", False),
        ("a ... z", "a b z\n", True),
        ("a ... z", "a b y\n", False),
        ("a\n...", "a\n", True),
    ],
)
def test_the_comparison_can_fail(output: str, printed: str, same: bool) -> None:
    assert bool(re.fullmatch(pattern(output), printed)) is same


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_python_of_the_how_to_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "my_run").symlink_to(ROOT / "tests" / "data" / "logs" / "sb3_ppo_lr01")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"data_frame": pd.DataFrame({"step": range(40), "train/reward": range(40)})}
    code = blocks(ROOT / "docs" / "how-to" / "python_and_notebooks.md", "python")
    assert len(code) == 3
    for block in code:
        exec(block, names)
    assert names["diagnosis"].first_break.name == "kl-overshoot"
    assert names["log"].metrics == ("policy/loss", "reward/train_mean")
    assert "BROKEN" in names["diagnosis"]._repr_html_()


def test_the_settings_of_the_how_to_are_accepted(tmp_path: Path) -> None:
    found = [block for page in HOW_TO for block in blocks(page, "toml")]
    assert len(found) >= 2
    for block in found:
        (tmp_path / "firstbreak.toml").write_text(block, "utf-8")
        settings = read_settings(tmp_path / "firstbreak.toml")
        assert settings.names or settings.ignore


def test_every_command_of_the_how_to_is_understood() -> None:
    lines = [line for page in HOW_TO for block in blocks(page, "sh") for line in block.splitlines()]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("firstbreak ")]
    assert len(commands) >= 8
    for name, *arguments in commands:
        parser = argparse.ArgumentParser(exit_on_error=False)
        importlib.import_module(COMMANDS[name][0]).add(parser)
        assert parser.parse_known_args(arguments)[1] == []
