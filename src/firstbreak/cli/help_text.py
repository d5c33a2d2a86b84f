"""Help that fits the terminal: paragraphs are filled, tables keep their columns, commands end their lines with a \\."""

from __future__ import annotations

import argparse
import re
from textwrap import wrap

MOST = 100
"""Columns beyond which lines are hard to read. Engineering default."""
DEEP = 12
"""A line indented by so much goes on with the line before it."""
COLUMN = re.compile(r"\S {2,}(?=\S)")
"""Where the second column of a line of a table begins."""

OPTION = re.compile(r"( -[\w-]+) (?!-)")
"""An option of a command, which stays with its value."""


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Lines of at most the terminal's width, and at most `MOST`."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._width = min(self._width, MOST)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Fill what may be filled."""
        return "\n".join(indent + line for line in filled(text, width - len(indent)))


def filled(text: str, width: int) -> list[str]:
    """Return `text` in lines of `width`, as far as its words allow.

    Lines without indentation form paragraphs; indented ones stay apart, except that a deep indentation goes on with
    the line above.
    """
    lines: list[str] = []
    for line in _joined(text):
        lines += _one(line, width)
    return lines


def _joined(text: str) -> list[str]:
    joined: list[str] = []
    for line in text.splitlines():
        last = joined[-1] if joined else ""
        paragraph = line[:1].strip() and last[:1].strip() and not last.endswith(":")
        if paragraph or (line.startswith(" " * DEEP) and COLUMN.search(last)):
            joined[-1] = f"{last} {line.strip()}"
        else:
            joined.append(line.rstrip())
    return joined


def _one(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    if re.match(r" +firstbreak ", line):
        return _command(line, width, indent + "    ")
    column = COLUMN.search(line, len(indent))
    if column is None:
        return wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    head, body = line[: column.end()], line[column.end() :]
    hanging = " " * len(head)
    found = wrap(body, width, initial_indent=hanging, subsequent_indent=hanging, break_long_words=False)
    return [head + found[0].lstrip(), *found[1:]]


def _command(line: str, width: int, indent: str) -> list[str]:
    """Return a command in lines that a shell reads as one."""
    whole = OPTION.sub("\\1\0", line)
    found = wrap(whole, width - 2, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    *firsts, last = (part.replace("\0", " ") for part in found)
    return [*(f"{part} \\" for part in firsts), last]
