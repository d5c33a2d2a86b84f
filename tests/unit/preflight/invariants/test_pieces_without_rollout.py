"""A trainer that shows its minibatches and no rollout is asked for its ratio all the same; absolute advantages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from firstbreak.check import find_check, look_at
from firstbreak.preflight.invariants.bench import Bench
from firstbreak.preflight.invariants.pieces import Pieces

from .small_trainers import SmallPPO


def put_to(name: str, pieces: Pieces) -> Any:
    found = look_at(find_check(name), Bench(pieces))
    assert found.error == ""
    return found


def with_batches(change: Any) -> Pieces:
    pieces = SmallPPO().pieces()
    minibatch: Any = pieces.minibatch
    return replace(pieces, minibatch=lambda: change(minibatch()))


def test_the_ratio_is_read_off_a_minibatch() -> None:
    found = put_to("ratio-not-one-on-fresh-data", SmallPPO().pieces())
    assert (found.symptom, found.skip) == (None, None)


def test_a_log_prob_of_another_action_shows_in_a_minibatch() -> None:
    wrong = with_batches(lambda batch: {**batch, "action": batch["action"].roll(1)})
    assert put_to("ratio-not-one-on-fresh-data", wrong).symptom is not None


def test_without_stored_log_probs_the_ratio_cannot_be_asked() -> None:
    bare = with_batches(lambda batch: {k: v for k, v in batch.items() if k != "log_prob"})
    assert "no log-probs" in put_to("ratio-not-one-on-fresh-data", bare).skip.reason


class Changed(SmallPPO):
    """Works on changed advantages."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change = change

    def losses(self, b: Any) -> dict[str, Any]:
        return super().losses({**b, "advantage": self.change(b["advantage"])})


def test_absolute_advantages_are_distorted_ones() -> None:
    assert put_to("advantage-weights-distorted", Changed(torch.abs).pieces()).symptom is not None
    turned = put_to("advantage-weights-distorted", Changed(torch.neg).pieces())
    assert turned.symptom is None  # there is a check for that


def test_sorted_advantages_are_not_said_to_broadcast() -> None:
    found = put_to("policy-loss-broadcasts", Changed(lambda a: a.sort()[0]).pieces()).symptom
    assert "sorted" in found.message
    assert "[B, 1]" not in found.message
