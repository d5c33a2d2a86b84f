"""What two trainers of language models print: AReaL's tables, which are its only record on disk without a tracker, and
slime's dictionaries.

    Epoch 1/10 Step 3/116 Train step 3/1160 done.
    │ ppo_actor/task_reward/avg │ 4.0942e-01 │ ppo_actor/update/grad_norm │ 2.8641e-01 │

    rollout 3: {'rollout/raw_reward': 0.41, 'rollout/truncated': 0.0}
    step 3: {'train/pg_loss': 0.01, 'train/grad_norm': 0.2}

Formats: AReaL's StatsLogger (v0.3.4 to v1.0.4), slime's log_rollout_data and train (v0.1 to v0.3). Nothing is executed.
"""

from __future__ import annotations

import ast
import re
from typing import Any, cast

from .columns import as_number
from .jsonrows import flatten

Row = dict[str, Any]
MAX_LINE = 100_000
"""Longest line that is looked at, in characters."""
BAR = "│"
SCOPES = ("rollout/", "train/", "perf/", "eval/", "multi_turn/", "passrate/")
"""What slime's keys begin with; a dictionary without any such key is somebody else's."""
_DONE = re.compile(r"\bTrain step (\d+)/\d+ done\.")
_ROW = re.compile(r"\b(rollout|perf|eval|step) (\d+): (\{.*\})$")
_WRAPPED = re.compile(r"\b(?:np\.\w+|tensor)\(\s*([-+.\deEnaif]+)(?:,[^()]*)?\)")
_NOT_FINITE = re.compile(r": (-?(?:nan|inf))\b")


class Tables:
    """AReaL: a line that says which step is done, then the numbers of that step in a table of names and values."""

    def __init__(self) -> None:
        self._row: Row = {}

    def hear(self, line: str) -> tuple[bool, Row]:
        """Take one line; return whether it belonged to a table, and the row that it closes (empty: none)."""
        done = _DONE.search(line) if len(line) <= MAX_LINE else None
        if done is not None:
            closed, self._row = self.finish(), {"step": done[1]}
            return True, closed
        if not self._row or BAR not in line or len(line) > MAX_LINE:
            return False, {}
        cells = [cell.strip() for cell in line[line.index(BAR) + 1 :].split(BAR)]
        pairs = zip(cells[::2], cells[1::2], strict=False)
        self._row.update({name: value for name, value in pairs if name and as_number(value) is not None})
        return True, {}

    def finish(self) -> Row:
        """Return the row that is open, and close it."""
        row, self._row = self._row, {}
        return row if len(row) > 1 else {}


class Dictionaries:
    """slime: one dictionary for what a rollout was, and one for each update on it."""

    def __init__(self) -> None:
        self._rollout = ""

    def hear(self, line: str) -> Row:
        """Return the row that `line` holds (empty: none). Updates count with the rollout before them, so that both lie
        on one axis."""
        line = line.rstrip()
        found = _ROW.search(line) if line.endswith("}") and len(line) <= MAX_LINE else None
        if found is None:
            return {}
        text = _NOT_FINITE.sub(r": '\1'", _WRAPPED.sub(r"\1", found[3]))
        try:
            parsed = ast.literal_eval(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return {}
        given = {str(key): value for key, value in cast(dict[Any, Any], parsed).items()} if type(parsed) is dict else {}
        row = {key: value for key, value in flatten(given).items() if as_number(value) is not None}
        if not any(key.startswith(SCOPES) for key in row):
            return {}
        kind, number = found[1], found[2]
        if kind != "step":
            self._rollout = number
        return {**row, "step": self._rollout or number}
