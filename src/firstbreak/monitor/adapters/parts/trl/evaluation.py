"""What a TRL trainer's evaluation asks, with which weights and by which scorer: the same trainer's own are compared.

Prompts of an evaluation are not those that are trained on, its responses are draws from the policy as it is now, and
what its scorer gives to one and the same responses is what it gives them in training (see `trl_rewards`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..obeying import harmless
from .data import hashes, prompts_of

if TYPE_CHECKING:
    from ....core import Monitor
    from .drawing import Drawing
    from .own_scores import OwnScores

TRAINED_ON = "eval/prompts_trained_frac"


class Evaluations:
    """Looks at the batches of one evaluation after the other.

    Args:
        trainer: Its data sets are compared.
        monitor: Told where something could not be read.
        scores: What scores responses by itself; None where that is not possible.
        drawing: What watches the weights while responses are drawn.
    """

    def __init__(self, trainer: Any, monitor: Monitor, scores: OwnScores | None, drawing: Drawing) -> None:
        self.trainer, self.monitor, self._scores, self._drawing = trainer, monitor, scores, drawing
        self._trained: set[bytes] | None = None
        self._asked: set[bytes] = set()
        self._found: dict[str, float] = {}

    def note(self, inputs: Sequence[Mapping[str, Any]], found: Mapping[str, Any], pad: int | None, end: Any) -> None:
        """Take a batch of an evaluation."""
        with harmless(self.monitor, "compare the prompts of the evaluation"):
            self._asked |= hashes(row["prompt"] for row in inputs if "prompt" in row)
        with harmless(self.monitor, "score responses of the evaluation"):
            if self._scores is not None and pad is not None and end is not None:
                self._found |= self._scores.evaluated(found, pad, end)

    def row(self) -> dict[str, float]:
        """Return what was found in the evaluation that is over."""
        row, self._found = {**self._found, **self._drawing.evaluated()}, {}
        asked, self._asked = self._asked, set()
        with harmless(self.monitor, "compare the prompts of the evaluation"):
            if self._trained is None:
                self._trained = hashes(prompts_of(getattr(self.trainer, "train_dataset", None)))
            if asked and self._trained:
                row[TRAINED_ON] = len(asked & self._trained) / len(asked)
        return row
