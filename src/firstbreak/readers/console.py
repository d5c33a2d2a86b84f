"""What a training prints: rsl_rl blocks, verl's `step:N - k:v` lines, SB3's boxes, transformers' dictionaries,
CleanRL's `global_step=N, episodic_return=R`, AReaL's tables and slime's dictionaries (`printed_frameworks`); where none
of these is heard, the `name: number` lines of a loop of one's own (`printed_pairs`).

Printed numbers are rounded, so any other log of the run is preferred. Nothing of the text is executed: dictionaries are
parsed as literals.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..runlog import Recording
from .columns import Columns, as_number
from .jsonrows import flatten
from .printed_blocks import Blocks
from .printed_frameworks import Dictionaries, Tables
from .printed_pairs import Pairs
from .protocol import Options, Reader
from .step_axis import recording_of
from .textfile import TextFile, head_lines

ENDINGS = frozenset({".log", ".txt", ".out", ".stdout", ""})
MAX_DICT = 100_000
"""Longest printed dictionary that is parsed, in characters."""
HEAD = 1 << 18
PAIRS = 0.45
"""How surely plain pairs are a log: read where they are named themselves, or where nothing else is there."""
METRICS = frozenset({"loss", "epoch", "reward", "step", "grad_norm", "eval_loss"})
"""A printed dictionary without any of these is no row of metrics (it may be the configuration)."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_ITERATION = re.compile(r"Learning iteration (\d+)/(\d+)")
_LABELLED = re.compile(r"^\s*([A-Za-z][\w /().*\[\]-]*?):\s+(\S+?)(?:\s*(?:s|steps/s))?\s*(?:\(.*\))?$")
_STEP = re.compile(r"\bstep:(\d+) - ")
_VALUE = re.compile(r"^(?:np\.\w+\(|tensor\()?([^()\s,]+)\)?$")
_GLOBAL = re.compile(r"Global step (\d+): (\{.*\})")
_EPISODE = re.compile(r"\bglobal_step=(\d+), episod(?:ic|e)_(return|length)=\D*?([-+.\d][-+.\deE]*|nan|[-+]?inf)")
_BOX = re.compile(r"^\|\s*(.+?)\s*\|\s*(\S*)\s*\|$")


class Console:
    """Collects rows from lines. `framework` is set by the dialect that was heard."""

    def __init__(self) -> None:
        self.columns = Columns()
        self.framework = ""
        self.clock = ""
        self._row: dict[str, Any] = {}
        self._group = ""
        self._pairs, self._blocks = Pairs(), Blocks()
        self._tables, self._dictionaries = Tables(), Dictionaries()
        self._dialects: tuple[Callable[[str], bool], ...] = (
            self._verl,
            self._areal,
            self._slime,
            self._rsl_rl,
            self._box,
            self._dictionary,
            self._cleanrl,
        )

    def hear(self, raw: str) -> bool:
        """Take one line; say whether it belonged to a row of metrics."""
        line = _COLOUR.sub("", raw).rstrip("\r\n")
        if any(dialect(line) for dialect in self._dialects):
            return True
        self._pairs.hear(line)
        self._blocks.hear(line)
        return False

    def finish(self) -> None:
        """Close the row that is still open."""
        self._add(self._tables.finish(), "areal", "updates")
        if self._row.keys() - {"Learning iteration"}:
            self.columns.add(tuple(self._row), list(self._row.values()))
        self._row = {}

    def heard(self) -> Columns:
        """Return what was heard when the text has ended: plain pairs count where no logger wrote any, by line or else
        by block."""
        self.finish()
        self._blocks.finish()
        found = (self.columns, self._pairs.rows.columns, self._blocks.rows.columns)
        for columns in found:
            columns.flush()
        return next((columns for columns in found if columns.keys), self.columns)

    def aside(self) -> Columns:
        """Return the plain pairs of a script in CleanRL's manner: it prints episodes by one line, losses by another."""
        return self._pairs.rows.columns if self.framework == "cleanrl" else Columns()

    def _add(self, row: dict[str, Any], framework: str, clock: str) -> None:
        if row:
            self.columns.add(tuple(row), list(row.values()))
            self.framework, self.clock = self.framework or framework, self.clock or clock

    def _verl(self, line: str) -> bool:
        match = _STEP.search(line)
        if match is None:
            return False
        row: dict[str, Any] = {"step": match.group(1)}
        for part in line[match.end() :].split(" - "):
            key, colon, text = part.rpartition(":")
            value = _VALUE.match(text.strip())
            if colon and value and as_number(value.group(1)) is not None:
                row[key.strip()] = value.group(1)
        self._add(row, "verl", "updates")
        return True

    def _areal(self, line: str) -> bool:
        heard, closed = self._tables.hear(line)
        self._add(closed, "areal", "updates")
        return heard

    def _slime(self, line: str) -> bool:
        row = self._dictionaries.hear(line)
        self._add(row, "", "updates")
        return bool(row)

    def _rsl_rl(self, line: str) -> bool:
        match = _ITERATION.search(line)
        if match is not None:
            self.finish()
            self._row = {"Learning iteration": match.group(1)}
            self.framework, self.clock = self.framework or "rsl_rl", self.clock or "updates"
            return True
        if "Learning iteration" not in self._row:
            return False
        pair = _LABELLED.match(line)
        if pair is not None and as_number(pair.group(2)) is not None:
            self._row[pair.group(1).strip()] = pair.group(2)
            return True
        return False

    def _box(self, line: str) -> bool:
        if line.startswith("---") and set(line) <= {"-"}:
            if self._group or (self._row and "Learning iteration" not in self._row):
                self.framework = self.framework or "stable_baselines3"
                self.clock = self.clock or "env_steps"
                self.finish()
                self._group = ""
            return False
        match = _BOX.match(line)
        if match is None:
            return False
        name, value = match.groups()
        if name.endswith("/") and not value:
            self._group = name
        elif as_number(value) is not None:
            self._row[f"{self._group}{name}"] = value
        return True

    def _dictionary(self, line: str) -> bool:
        text = line.strip()
        step = _GLOBAL.search(text)
        if step is not None:
            text = step.group(2)
        if not (text.startswith("{'") and text.endswith("}")) or len(text) > MAX_DICT:
            return False
        try:
            parsed = ast.literal_eval(text.replace(": nan", ": 'nan'").replace(": inf", ": 'inf'"))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return False
        if not isinstance(parsed, dict):
            return False
        row = flatten({str(key): value for key, value in cast(dict[Any, Any], parsed).items()})
        row = {key: value for key, value in row.items() if as_number(value) is not None}
        if step is not None:
            row["step"] = step.group(1)
        if step is None and not (METRICS & row.keys() and "train_runtime" not in row):
            return False  # a loop of one's own may print one at every step; a configuration is printed once
        self._add(row, "openrlhf" if step else "", "updates" if step else "")
        return True

    def _cleanrl(self, line: str) -> bool:
        """A finished episode; NumPy prints its return as 12.0, [12.] or array([12.], dtype=float32)."""
        match = _EPISODE.search(line)
        if match is None or as_number(match.group(3)) is None:
            return False
        row = {"global_step": match.group(1), f"charts/episodic_{match.group(2)}": match.group(3)}
        self._add(row, "cleanrl", "env_steps")
        return True


def sniff(path: Path) -> float:
    """Say how surely `path` is a console text with metrics, from its first lines."""
    if path.suffix.lower() not in ENDINGS:
        return 0.0
    lines = head_lines(path, HEAD)
    console = Console()
    heard = sum(console.hear(line) for line in lines[:5000])
    keys = set(console.heard().keys)
    if not heard:
        return PAIRS if keys else 0.0
    return 0.55 if keys and (console.framework or METRICS & keys) else 0.0


def read(path: Path, options: Options) -> Recording:
    """Read every row of metrics that the text holds."""
    text = TextFile(path, options)
    console = Console()
    for line in text:
        console.hear(line)
    columns = console.heard()
    aside = console.aside()
    step = next(
        (k for k in ("step", "Learning iteration", "time/total_timesteps", "global_step") if k in columns.keys), ""
    )
    found = recording_of(columns, path, READER.name, step=step, clock=console.clock if step else "rows")
    found.curves.pop("Learning iteration", None)
    if step and step in aside.keys:
        found.curves = {**recording_of(aside, path, READER.name, step=step).curves, **found.curves}
    found.framework = console.framework
    found.problems.extend(text.problems())
    if not found.curves:
        raise InputError(f"{path}: no metrics in this text.", "Give the log file of the run instead.")
    return found


READER = Reader("console", "console text", sniff, read, rank=20)
