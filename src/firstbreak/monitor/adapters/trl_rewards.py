"""Asks the reward functions of a TRL trainer again what they said before: a fixed set of responses must keep its score.

The responses of the first generated batch are the set. It is scored twice at a time, so that chance in the scorer is
told from a scorer that changed; and where the data name a reference answer, that is scored beside those of other
prompts, and both in one response. The random state of the process is put back, and what reward functions log meanwhile
is dropped.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast
from zlib import crc32

import numpy as np
import torch

from .obeying import complain, harmless
from .trl_loss import weighted

if TYPE_CHECKING:
    from ..core import Monitor

KEPT = 64
"""Responses in the set at most."""
REFERENCE = ("answer", "solution", "ground_truth", "reference", "target", "reference_answer")
"""Columns of the data that usually hold a right answer."""
JOINTS = (" or ", "")
"""Between two answers in one response: as a hedge is written, and for alphabets without spaces."""
FULL = 0.9
"""Of what a right answer earns above a wrong one, the share that counts as paid in full. Engineering default: recall of
words or overlap with the reference pays a hedge in part."""
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
        self._score = getattr(trainer, "_calculate_rewards", None)
        alone = int(trainer.accelerator.num_processes) == 1 and getattr(trainer, "environments", None) is None
        if self._score is None or not alone:
            complain(
                monitor, "reward functions are not asked again: that needs TRL's own, one process, no environments"
            )
            return
        trainer._calculate_rewards = self._scoring

    def row(self) -> dict[str, float]:
        """Return what was found since the last call, and forget it."""
        found, self._found = self._found, {}
        return found

    def _scoring(self, inputs: Any, prompts: Any, completions: Any, ids: Any, *args: Any, **kwargs: Any) -> Any:
        found = cast(Any, self._score)(inputs, prompts, completions, ids, *args, **kwargs)
        if not self.trainer.model.training:
            return found
        due, self._batches = self._batches % self.every == 0, self._batches + 1
        if due:
            with harmless(self.monitor, "score the fixed set again"), unseen(self.trainer):
                if self._set is None:
                    self._set = list(inputs[:KEPT]), list(prompts[:KEPT]), list(completions[:KEPT]), list(ids[:KEPT])
                    self._name = float(crc32(repr(self._set[1:]).encode()))
                    first = weighted(found, self.trainer)[:KEPT]
                else:
                    first = self._scores(*self._set)
                again = self._scores(*self._set)
                self._found = {"reward/golden_set": self._name, **repeated(first, again)}
                self._found |= self._references(inputs, prompts)
        return found

    def _scores(self, *samples: Any) -> Values:
        return weighted(cast(Any, self._score)(*samples), self.trainer)

    def _references(self, inputs: Sequence[Mapping[str, Any]], prompts: Sequence[Any]) -> dict[str, float]:
        """Score each prompt's reference answer, and that of the next prompt in the batch, as responses to it."""
        rows = {str(prompt): row for prompt, row in zip(prompts, inputs, strict=True)}
        column = next((name for name in REFERENCE if isinstance(inputs[0].get(name), str)), None)
        if column is None or len(rows) < 2:
            return {}
        asked, answers = list(rows.values()), [str(row[column]) for row in rows.values()]
        others = answers[1:] + answers[:1]
        own, other = (self._answered(asked, part) for part in (answers, others))
        differ = np.array([a != b for a, b in zip(answers, others, strict=True)])
        if not differ.any():
            return {}
        pairs = list(zip(answers, others, strict=True))
        hedged = [
            [self._answered(asked, [joint.join(pair[::turn]) for pair in pairs]) for turn in (1, -1)]
            for joint in JOINTS
        ]
        found = {"reward/reference_margin": float(np.sign(own - other)[differ].mean())}
        return found | hedges(own, other, np.array(hedged), differ)

    def _answered(self, rows: Sequence[Mapping[str, Any]], answers: Sequence[str]) -> Values:
        """Score `answers` as responses to the prompts of `rows`."""
        tokenizer = self.trainer.processing_class
        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        prompts = [row["prompt"] for row in rows]
        ids = [[*tokenizer(a, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id] for a in answers]
        talk = isinstance(prompts[0], list)
        completions = [[{"role": "assistant", "content": a}] if talk else a for a in answers]
        return self._scores(list(rows), prompts, completions, ids)


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


def hedges(own: Values, other: Values, hedged: Values, differ: np.ndarray[Any, np.dtype[np.bool_]]) -> dict[str, float]:
    """Share of prompts at which a response that names the right answer and another is paid in full, in either order.

    Args:
        own: Scores [P] of each prompt's own reference answer.
        other: Scores [P] of another prompt's.
        hedged: Scores [J, 2, P] of both in one response: joined in J ways, the own one first and last. The joint that
            pays best counts; of the two orders the one that pays less: a scorer of the last answer is not meant.
        differ: [P], where the two answers are not the same.

    Asked are prompts whose own answer is paid more than the other; nothing is returned where there are none.
    """
    asked = differ & (own > other) & np.isfinite(hedged).all(axis=(0, 1))
    if not asked.any():
        return {}
    worst = hedged.min(axis=1).max(axis=0)[asked]
    full = other[asked] + FULL * (own - other)[asked]
    return {"reward/hedged_paid_frac": float((worst >= full).mean())}


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
