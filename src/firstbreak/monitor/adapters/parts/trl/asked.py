"""Whether a TRL trainer asks what its loader drew and what its data hold: rows that are lost or exchanged on the way.

Rows go from the loader to generation and on to the reward functions. Nothing may change them there, and each prompt is
one of the data's. Order does not count: rows of another group are seen by `mixed_prompts`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ..obeying import harmless
from .data import hashes, prompts_of
from .rows import FOREIGN

if TYPE_CHECKING:
    from ....core import Monitor

CHANGED = "data/rows_changed_frac"
PLAIN = (str, int, float, bool, list, dict, type(None))
"""Values of a row that are compared; images and arrays are not."""
Rows = Sequence[Mapping[str, Any]]


class Asked:
    """Compares the rows of each generated batch with those that the loader drew, and with the data set.

    Args:
        trainer: Its `_prepare_inputs` is wrapped; it returns what it did.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._drawn: list[str] = []
        self._names: frozenset[str] = frozenset()
        """Columns that are compared."""
        self._known: set[bytes] | None = None
        self._off = 0.0
        prepare = getattr(trainer, "_prepare_inputs", None)
        if prepare is not None:
            trainer._prepare_inputs = self._preparing(prepare)

    def generates(self, inputs: Any) -> dict[str, float]:
        """Return the share of the rows that are generated for, of training, that the data and the loader lack."""
        self._off = 0.0
        row = self._of_data(inputs)
        if self._drawn and not self._by_environment():
            self._off = self._unlike(inputs)
            row[CHANGED] = self._off
        return row

    def scored(self, inputs: Any) -> dict[str, float]:
        """Return the share of the rows that were drawn otherwise than they are scored, if that is larger."""
        if not self._drawn or self._by_environment():
            return {}
        self._off = max(self._off, self._unlike(inputs))
        return {CHANGED: self._off}

    def _unlike(self, inputs: Rows) -> float:
        left, own = Counter(self._drawn), Counter(_text(row, self._names) for row in inputs)
        return (own - left).total() / max(own.total(), 1)

    def _of_data(self, inputs: Rows) -> dict[str, float]:
        """Return the share of prompts that the data set lacks; nothing if it lacked some of the first batch.

        Then prompts are made on the way by intent.
        """
        if self._known is None:
            self._known = hashes(prompts_of(getattr(self.trainer, "train_dataset", None)))
            if not hashes(row["prompt"] for row in inputs if "prompt" in row) <= self._known:
                self._known = set()
        asked = hashes(row["prompt"] for row in inputs if "prompt" in row)
        return {FOREIGN: len(asked - self._known) / len(asked)} if asked and self._known else {}

    def _preparing(self, prepare: Any) -> Any:
        def prepared(batch: Any, *args: Any, **kwargs: Any) -> Any:
            with harmless(self.monitor, "note the rows that were drawn"):
                self._note(batch)
            return prepare(batch, *args, **kwargs)

        return prepared

    def _note(self, batch: Any) -> None:
        self._drawn = []
        rows = cast("list[Any]", batch if isinstance(batch, list) else [])
        if rows and all(isinstance(row, dict) and "prompt" in row for row in rows):
            self._names = _plain(rows[0]).intersection(*(_plain(row) for row in rows))
            self._drawn = [_text(row, self._names) for row in rows]

    def _by_environment(self) -> bool:
        names = "rollout_func", "environments", "environment_factories"
        return any(getattr(self.trainer, name, None) for name in names)


def _plain(row: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns of a row that are plain."""
    return frozenset(name for name, value in row.items() if isinstance(value, PLAIN))


def _text(row: Mapping[str, Any], names: frozenset[str]) -> str:
    return json.dumps({name: row.get(name) for name in names}, sort_keys=True, default=str)
