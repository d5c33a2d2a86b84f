"""The help of every command fits the terminal, and its examples can be copied."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from firstbreak.cli.arguments import Parser
from firstbreak.cli.commands import COMMANDS
from firstbreak.cli.help_text import filled

PARAGRAPH = "one two three four\nfive six\n\nexamples:\n  firstbreak do a.py --with b=c\n\nseven"


def parsers(parser: Any) -> Iterator[Any]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action._name_parser_map.values():
                yield from parsers(inner)


@pytest.mark.parametrize("command", COMMANDS)
def test_no_line_of_the_help_is_wider_than_the_terminal(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = Parser(prog=f"firstbreak {command}")
    import_module(COMMANDS[command][0]).add(parser)
    for one in parsers(parser):
        text = one.format_help()
        assert "usage" in text
        assert [line for line in text.splitlines() if len(line) > 80] == [], one.prog


def test_paragraphs_are_filled_and_what_is_indented_stays_apart() -> None:
    assert filled(PARAGRAPH, 24) == [
        "one two three four five",
        "six",
        "",
        "examples:",
        "  firstbreak do a.py \\",
        "      --with b=c",
        "",
        "seven",
    ]
    assert filled(PARAGRAPH, 80)[0] == "one two three four five six"


def test_a_broken_command_is_the_same_command() -> None:
    command = "  firstbreak record --reward rewards.py:score -- python train.py --seed 7 --output-dir runs/grpo"
    lines = filled(command, 40)
    assert len(lines) > 2
    assert all(len(line) <= 40 for line in lines)
    assert shlex.split("\n".join(lines).replace("\\\n", "")) == shlex.split(command)


def test_columns_are_kept_and_deep_lines_go_on_with_them() -> None:
    text = "one of\n  name          what it is and more\n                of it"
    assert filled(text, 30) == ["one of", "  name          what it is and", "                more of it"]
    alone = "  a_name_without_a_column\n                what it is"
    assert filled(alone, 80) == alone.splitlines()
