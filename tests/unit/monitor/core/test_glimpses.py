"""What a policy is shown within a rollout, held against the scale of the row before."""

from __future__ import annotations

import numpy as np

from firstbreak.monitor.exchange.exchanged import Exchanged
from firstbreak.monitor.exchange.glimpses import AT_ONCE, EVERY, FIT, SHIFT, Glimpses
from firstbreak.monitor.exchange.handed_on import HandedOn, Stored

COPIES = 8


class Rollouts:
    """Copies of an environment whose observations are shown to a policy by some scale."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)
        self.exchanged, self.handed = Exchanged(), HandedOn()
        self.glimpses = Glimpses(self.handed)
        self.steps = 0

    def play(self, steps: int, scale: float, *, offset: float = 0.0) -> list[dict[str, float]]:
        """Take steps of all copies and return what is told at once; the policy's array is written over each time."""
        found, written = list[dict[str, float]](), np.zeros((COPIES, 3))
        for _ in range(steps):
            rows = self.rng.normal(size=(COPIES, 3))
            written[:] = scale * rows + offset
            if row := self.glimpses.look(self.exchanged):
                found.append(row)
            self.glimpses.show(written, self.exchanged)
            for one in rows:
                self.exchanged.add((one, np.zeros(1), 0.0, False, False, one))
        self.steps += steps * COPIES
        return found

    def row(self, scale: float) -> dict[str, float]:
        """Give a row of the trainer, whose rollout had one scale."""
        count = self.handed.due(self.exchanged, self.steps, 512)
        self.glimpses.row()
        taken = self.exchanged.last(count)
        return {} if taken is None else self.handed.numbers(taken, Stored(obs=scale * taken.obs))


def known(rows: int = 3) -> Rollouts:
    rollouts = Rollouts()
    for number in range(rows):
        assert rollouts.play(32, 1 + 0.01 / (1 + number)) == []
        rollouts.row(1 + 0.01 / (1 + number))
    return rollouts


def test_another_scale_is_told_within_two_looks() -> None:
    """Given rollouts on one scale, when the next is divided by 255 half-way, then it is told before it is over."""
    rollouts = known()
    assert rollouts.play(12, 1.0) == []
    found = rollouts.play(2 * EVERY // COPIES + 1, 1 / 255)
    assert len(found) == 1
    assert found[0][SHIFT] > 0.9
    assert found[0][FIT] > 0.99


def test_no_more_than_some_looks_are_told_a_row() -> None:
    rollouts = known()
    assert len(rollouts.play(20 * EVERY // COPIES, 1 / 255)) == AT_ONCE


def test_a_normaliser_that_moves_on_is_no_news() -> None:
    rollouts = known()
    assert rollouts.play(20 * EVERY // COPIES, 1.05, offset=0.02) == []


def test_nothing_is_said_before_the_first_row_or_of_steps_that_nobody_saw() -> None:
    fresh = Rollouts()
    assert fresh.play(4 * EVERY // COPIES, 1 / 255) == []
    rollouts = known()
    for _ in range(20):
        rollouts.glimpses.show(np.zeros((COPIES, 3)), rollouts.exchanged)
        assert rollouts.glimpses.look(rollouts.exchanged) == {}
        rollouts.exchanged.count += COPIES + 1  # an evaluation between
    assert rollouts.glimpses.look(None) == {}
