"""Asks the reward functions of a TRL trainer again what they said before: a fixed set of responses must keep its score.

The responses of the first generated batch are the set. It is scored twice at a time, the second time with the rows of
each group the other way round, so that chance in the scorer, and scores that follow the place in the batch and not the
response, are told from a scorer that changed; and where the data name a reference answer, that is scored as well
(`trl_references`). The random state of the process is put back, and what reward functions log meanwhile is dropped.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

import numpy as np
import torch

from ..obeying import complain, harmless
from .references import References, column_of
from .rows import DataRows, texts_off
from .scorer_probes import ALTERED, REUSED
from .scores import weighted

if TYPE_CHECKING:
    from ....core import Monitor

KEPT = 64
"""Responses in the set at most."""
NOISY = 0.05
"""Share of chance above which a score says nothing of whose answer is paid. Engineering default."""
SAME = 1e-6
"""Difference of two scores that may be rounding."""
CHANCY = ("reward/reference_misplaced_frac", ALTERED, REUSED)
"""What then says nothing."""
OTHERWISE = "eval/scored_otherwise_frac"
LOGGED = ("_pending_extra_logs", "_pending_metrics")
Values = np.ndarray[Any, np.dtype[np.float64]]


class RewardTap:
    """Scores the fixed set again at every `every`-th generated batch; needs one process and no environments.

    Args:
        trainer: Its `_calculate_rewards` is wrapped; it returns what it did.
        monitor: Told where something could not be scored.
        every: Generated batches from one look to the next.
    """

    def __init__(self, trainer: Any, monitor: Monitor, every: int) -> None:
        self.trainer, self.monitor, self.every = trainer, monitor, every
        self._batches = 0
        self._set: tuple[list[Any], list[Any], list[Any], list[Any]] | None = None
        self._name = 0.0
        """Tells the set from another one, such as that of the process before a resume."""
        self._found: dict[str, float] = {}
        self._right: References | None = None
        self._rows: tuple[str, DataRows] | None = None
        self._last: Values | None = None
        """Scores of the set at the last look in training."""
        self._evaluated: dict[str, float] | None = None
        self._noisy = False
        self._score = getattr(trainer, "_calculate_rewards", None)
        alone = int(trainer.accelerator.num_processes) == 1 and getattr(trainer, "environments", None) is None
        if self._score is None or not alone:
            complain(
                monitor, "reward functions are not asked again: that needs TRL's own, one process, no environments"
            )
            return
        self._right = References(trainer, self._score, monitor)
        trainer._calculate_rewards = self._scoring

    def row(self) -> dict[str, float]:
        """Return what was found since the last call, and forget it."""
        found, self._found = self._found, {}
        return found

    def evaluated(self) -> dict[str, float]:
        """Return what the scorer made of the set in the evaluation that is over, and forget it."""
        found, self._evaluated = self._evaluated or {}, None
        return found

    def success(self) -> dict[str, float]:
        """Return the share of right responses of the newest batch, where the data tell it."""
        return self._right.success() if self._right is not None else {}

    def _scoring(self, inputs: Any, prompts: Any, completions: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
        found = cast(Any, self._score)(inputs, prompts, completions, ids, *args, **kwargs)
        if not self.trainer.model.training:
            with harmless(self.monitor, "score the fixed set in an evaluation"), unseen(self.trainer):
                self._evaluated = self._evaluated if self._evaluated is not None else self._in_evaluation()
            return found
        due, self._batches = self._batches % self.every == 0, self._batches + 1
        if self._right is not None:
            with harmless(self.monitor, "keep the reference answers"):
                self._right.note(inputs)
            with harmless(self.monitor, "compare with the data"):
                self._found |= self._as_given(inputs, completions, ids)
        if due:
            with harmless(self.monitor, "score the fixed set again"), unseen(self.trainer):
                if self._set is None:
                    self._set = list(inputs[:KEPT]), list(prompts[:KEPT]), list(completions[:KEPT]), list(ids[:KEPT])
                    self._name = float(crc32(repr(self._set[1:]).encode()))
                    first = weighted(found, self.trainer)[:KEPT]
                else:
                    first = self._scores(*self._set)
                self._last = first
                self._found |= {"reward/golden_set": self._name, **repeated(first, self._the_other_way_round())}
                paid = cast(References, self._right).look(inputs, prompts)
                self._noisy = self._found.get("reward/golden_noise_frac", 0.0) > NOISY
                if self._noisy:
                    paid = {name: value for name, value in paid.items() if name not in CHANCY}
                self._found |= paid
        return found

    def _in_evaluation(self) -> dict[str, float]:
        """Return the share of the set that an evaluation scores otherwise than training did at the last look.

        Nothing where training itself does not score the same twice.
        """
        if self._set is None or self._last is None or self._noisy:
            return {}
        now, last = self._scores(*self._set), self._last
        known = np.isfinite(now) & np.isfinite(last)
        return {OTHERWISE: float((np.abs(now - last) > SAME)[known].mean())} if known.any() else {}

    def _as_given(self, inputs: Any, completions: Any, ids: Any) -> dict[str, float]:
        """Return whether rows are those of the data, and texts those of the tokens."""
        column = column_of(inputs)
        row = texts_off(self.trainer, completions, ids)
        if column is None:
            return row
        if self._rows is None or self._rows[0] != column:
            self._rows = column, DataRows(getattr(self.trainer, "train_dataset", None), column)
        return row | self._rows[1].note(inputs, column)

    def _the_other_way_round(self) -> Values:
        """Score the set with the rows of each group reversed; groups stay together, since scores may compare them."""
        samples = cast("tuple[list[Any], ...]", self._set)
        order = reversed_groups(len(samples[0]), int(getattr(self.trainer, "num_generations", 1)))
        found = self._scores(*([column[place] for place in order] for column in samples))
        again = np.empty_like(found)
        again[order] = found
        return again

    def _scores(self, *samples: Any) -> Values:
        return weighted(cast(Any, self._score)(*samples), self.trainer)


def reversed_groups(rows: int, size: int) -> list[int]:
    """Return the places of `rows` rows, each group of `size` in a row turned round.

    >>> reversed_groups(5, 2)
    [1, 0, 3, 2, 4]
    """
    return [place for start in range(0, rows, size) for place in reversed(range(start, min(start + size, rows)))]


def repeated(first: Values, again: Values) -> dict[str, float]:
    """Mean score of the set, and the share of its variance that is chance: 1 - the retest reliability.

    Args:
        first: Scores [N] of the set; NaN where there is none.
        again: Scores [N] of the same responses at the same time.
    """
    known = np.isfinite(first) & np.isfinite(again)
    if not known.any():
        return {}
    one, two = first[known], again[known]
    whole = float(np.concatenate([one, two]).var())
    noise = float(np.square(one - two).mean()) / 2
    return {
        "reward/golden_mean": float((one + two).mean()) / 2,
        "reward/golden_noise_frac": min(1.0, noise / whole) if whole > 0 else 0.0,
    }


@contextmanager
def unseen(trainer: Any) -> Generator[None]:
    """Put random states and the trainer's pending log entries back as they were."""
    python, numbers, torches = random.getstate(), np.random.get_state(), torch.get_rng_state()
    logs = {name: dict(getattr(trainer, name)) for name in LOGGED if hasattr(trainer, name)}
    held = {name: {key: list(values) for key, values in rows.items()} for name, rows in logs.items()}
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numbers)
        torch.set_rng_state(torches)
        for name, rows in held.items():
            store = getattr(trainer, name)
            store.clear()
            store.update(rows)
