"""What the reward functions of a TRL trainer pay for the right answers that its data name.

Each prompt's reference answer is scored as a response to it, beside those of other prompts, and both in one response.
Functions that pay every prompt's own answer one and the same, and no other so much, tell which responses are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch

from ..obeying import harmless
from .scorer_probes import ScorerProbes
from .scores import floats, weighted
from .verified import cut, cut_paid, unpaid

REFERENCE = ("answer", "solution", "ground_truth", "reference", "target", "reference_answer")
"""Columns of the data that usually hold a right answer."""
JOINTS = (" or ", "")
"""Between two answers in one response: as a hedge is written, and for alphabets without spaces."""
FULL = 0.9
"""Of what a right answer earns above a wrong one, the share that counts as paid in full. Engineering default: recall of
words or overlap with the reference pays a hedge in part."""
ASKED, OFFERED = 4, 16
"""Prompts at a look, and answers to each, among which the paid one is sought. Engineering default: 64 scores."""
UNPAID = "reward/reference_unpaid_frac"
KEPT = 1024
"""Answers of earlier batches at most, from which those are drawn."""
LEAST = 3
"""Different answers, or prompts, below which nothing is sought."""
TELLS = 0.9
"""Share of prompts at which a function must pay the own answer more, to be taken for one that tells right from wrong.
Engineering default."""
Values = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Rows = Sequence[Mapping[str, Any]]


class References:
    """Scores reference answers with `score`, the trainer's own `_calculate_rewards`."""

    def __init__(self, trainer: Any, score: Any, monitor: Any = None) -> None:
        self.trainer, self._score, self.monitor = trainer, score, monitor
        self._known: dict[str, None] = {}
        """Answers met so far, oldest first."""
        self._right: dict[int, float] = {}
        """Of each reward function that tells right from wrong, what it gives a right answer."""
        self._rng = np.random.default_rng(0)
        self._probes = ScorerProbes(self._sums, FULL)

    def note(self, inputs: Rows) -> None:
        """Remember the answers of a generated batch."""
        column = column_of(inputs)
        if column is not None:
            self._known |= dict.fromkeys(str(row[column]) for row in inputs)
            for old in list(self._known)[:-KEPT]:
                del self._known[old]

    def look(self, inputs: Rows, prompts: Sequence[Any]) -> dict[str, float]:
        """Return what is paid for the references of one generated batch."""
        self._right = {}
        rows = {str(prompt): row for prompt, row in zip(prompts, inputs, strict=True)}
        column = column_of(inputs)
        if column is None or len(rows) < 2:
            return {}
        asked, answers = list(rows.values()), [str(row[column]) for row in rows.values()]
        others = answers[1:] + answers[:1]
        own, other = (self._answered(asked, part) for part in (answers, others))
        differ = np.array([a != b for a, b in zip(answers, others, strict=True)])
        if not differ.any():
            return {}
        self._right = tell_right(own[differ], other[differ])
        left = unpaid(own[differ], other[differ])
        own, other = (weighted(torch.tensor(part, device="cpu"), self.trainer) for part in (own, other))
        found = {"reward/reference_margin": float(np.sign(own - other)[differ].mean())}
        found |= self._probes.standing(asked, answers) | self._probes.altered(asked, answers, own, other)
        found |= self._probes.reused(asked, answers, own, other, differ)
        found |= self._halves(asked, answers, own, other) | ({} if left is None else {UNPAID: left})
        hedged = np.array(
            [[self._hedged(asked, answers, others, joint, swap) for swap in (False, True)] for joint in JOINTS]
        )
        found |= hedges(own, other, hedged, differ) | self._sought(asked, answers)
        # Last: some scorers raise at what holds no answer.
        with harmless(self.monitor, "put responses without an answer to the scorer"):
            found |= self._probes.nothing(asked, answers, own, other)
            found |= self._probes.question(asked, answers, own, other)
        return found

    def success(self) -> dict[str, float]:
        """Return the share of the newest responses that earn what a right answer earned at the last look."""
        logs = getattr(self.trainer, "_logs", None)
        if not self._right or not logs or not logs.get("rewards"):
            return {}
        names = self.trainer.reward_func_names
        given = {place: np.array(floats(logs["rewards"][names[place]])) for place in self._right}
        right = np.all([given[place] >= self._right[place] - 1e-9 for place in given], axis=0)
        return {"reward/success_rate": float(right.mean())} if right.size else {}

    def _sought(self, asked: Rows, answers: Sequence[str]) -> dict[str, float]:
        """Score several answers as responses to a few prompts, and see whose is the one that is paid."""
        some = [int(place) for place in self._rng.permutation(len(asked))[:ASKED]]
        offered = list(dict.fromkeys(answers[place] for place in some))
        rest = [answer for answer in self._known if answer not in offered]
        offered += [rest[place] for place in self._rng.permutation(len(rest))[: OFFERED - len(offered)]]
        if len(offered) < LEAST:
            return {}
        repeated = [asked[place] for place in some for _ in offered]
        scores = self._sums(repeated, offered * len(some))
        own = np.array([offered.index(answers[place]) for place in some])
        return misplaced(scores.reshape(len(some), len(offered)), own)

    def _halves(self, rows: Rows, answers: Sequence[str], own: Values, other: Values) -> dict[str, float]:
        """Score the first half of each answer that is no answer any more."""
        half = cut(answers)
        some = [place for place, text in enumerate(half) if text is not None]
        if not some:
            return {}
        scores = self._sums([rows[place] for place in some], [str(half[place]) for place in some])
        return cut_paid(own[some], other[some], scores, FULL)

    def _hedged(self, rows: Rows, one: Sequence[str], other: Sequence[str], joint: str, swap: bool) -> Values:
        """Score both answers in one response to each prompt, in the one order or the other."""
        return self._sums(rows, [joint.join((b, a) if swap else (a, b)) for a, b in zip(one, other, strict=True)])

    def _sums(self, rows: Rows, answers: Sequence[str]) -> Values:
        return cast(Values, weighted(torch.tensor(self._answered(rows, answers), device="cpu"), self.trainer))

    def _answered(self, rows: Rows, answers: Sequence[str]) -> Values:
        """Score `answers` as responses to the prompts of `rows`: [N, F], one column a reward function."""
        tokenizer = self.trainer.processing_class
        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        prompts = [row["prompt"] for row in rows]
        ids = [[*tokenizer(a, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id] for a in answers]
        talk = isinstance(prompts[0], list)
        completions = [[{"role": "assistant", "content": a}] if talk else a for a in answers]
        scores = self._score(list(rows), prompts, completions, ids)
        return cast(Values, scores.detach().double().cpu().numpy())


def column_of(inputs: Rows) -> str | None:
    """Return the name of the column that holds right answers, None where there is none."""
    return next((name for name in REFERENCE if isinstance(inputs[0].get(name), str)), None)


def tell_right(own: Values, other: Values) -> dict[int, float]:
    """Return what each function that tells right from wrong gives a right answer.

    Args:
        own: Scores [P, F] of each prompt's own reference answer.
        other: Scores [P, F] of another prompt's, which is a different one.
    """
    return {
        place: float(own[0, place])
        for place in range(own.shape[1])
        if len(own) >= LEAST and np.ptp(own[:, place]) == 0 and (own[:, place] > other[:, place]).mean() >= TELLS
    }


def misplaced(scores: Values, own: np.ndarray[Any, np.dtype[np.int64]]) -> dict[str, float]:
    """Share of prompts at which the one answer that is paid belongs to another prompt.

    Args:
        scores: [P, D], of D different answers as responses to each prompt.
        own: [P], which of them is the prompt's own.

    Asked are prompts at which one answer earns more than all others, which earn the same: then the scorer knows one
    right answer. Nothing is returned where there are none, or where it is one and the same at several prompts: that is
    an answer paid everywhere.
    """
    best = scores.argmax(1)
    rest = scores.copy()
    rest[np.arange(len(best)), best] = np.nan
    low, high = np.nanmin(rest, axis=1), np.nanmax(rest, axis=1)
    clear = np.isfinite(scores).all(axis=1) & (low == high) & (scores.max(axis=1) > high)
    if not clear.any():
        return {}
    wrong = clear & (best != own)
    if wrong.sum() > 1 and len(set(best[wrong].tolist())) == 1:
        return {}
    return {"reward/reference_misplaced_frac": float(wrong[clear].mean())}


def hedges(own: Values, other: Values, hedged: Values, differ: Flags) -> dict[str, float]:
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
