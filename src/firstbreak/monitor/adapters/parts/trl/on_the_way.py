"""What becomes of a batch of a TRL trainer on its way from the loader through sampler and scorer to the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..obeying import harmless
from .asked import Asked
from .remembered import Remembered
from .rows import texts_off
from .scores import function_scores
from .trained import Trained

if TYPE_CHECKING:
    from ....core import Monitor


class OnTheWay:
    """Told when a batch is generated and trained; `row` says what was lost or exchanged.

    Args:
        trainer: Its `_calculate_rewards` and `_prepare_inputs` are wrapped; they return what they did.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._asked, self._remembered, self._trained = Asked(trainer, monitor), Remembered(), Trained()
        self._open = False
        self._found: dict[str, float] = {}
        score = getattr(trainer, "_calculate_rewards", None)
        if score is not None:
            trainer._calculate_rewards = self._scoring(score)

    def begin(self, inputs: Any) -> None:
        """Say that responses to these rows are about to be generated and scored."""
        self._open = True
        self._remembered.begin()
        with harmless(self.monitor, "compare with the rows that were drawn"):
            self._found |= self._asked.generates(inputs)

    def end(self, found: Mapping[str, Any], pad: int | None) -> None:
        """Take the batch as it was generated and scored."""
        self._open = False
        with harmless(self.monitor, "remember the scores"):
            self._found |= self._remembered.end(None if self._written_by_others() else self._counted(found))
        with harmless(self.monitor, "note what was drawn"):
            self._trained.generated(found, pad)

    def trained(self, inputs: Mapping[str, Any], pad: int | None) -> None:
        """Take a micro-batch of the loss; those of an evaluation are left alone."""
        with harmless(self.monitor, "compare with what was drawn"):
            if self.trainer.model.training:
                self._trained.trained(inputs, pad)

    def row(self) -> dict[str, float]:
        """Return what was found since the last call, and forget it."""
        row, self._found = {**self._found, **self._trained.row()}, {}
        return row

    def _scoring(self, score: Any) -> Any:
        def scored(inputs: Any, prompts: Any, completions: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
            if self._open:
                self._open = False  # what is scored afterwards is a look at the scorer
                with harmless(self.monitor, "note what is scored"):
                    self._found |= self._asked.scored(inputs)
                    self._remembered.scored(inputs, prompts, ids)
                    self._found |= {} if self._written_by_others() else texts_off(self.trainer, completions, ids)
            return score(inputs, prompts, completions, ids, *args, **kwargs)

        return scored

    def _counted(self, found: Mapping[str, Any]) -> Tensor | None:
        """Return the scores of this process's responses by the functions that have a weight [N, F]."""
        scores, count = function_scores(self.trainer), len(found["completion_ids"])
        if scores is None:
            return None
        first = int(self.trainer.accelerator.process_index) * count
        return scores[first : first + count, self.trainer.reward_weights.to(scores) != 0]

    def _written_by_others(self) -> bool:
        names = "tools", "rollout_func", "environments", "environment_factories"
        return any(getattr(self.trainer, name, None) for name in names)
