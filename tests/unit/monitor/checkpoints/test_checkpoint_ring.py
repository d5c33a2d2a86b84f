"""The laws of pruning and of the roles, for any course of a run, against a slow independent model."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from firstbreak.monitor.checkpoints import CheckpointError, Checkpoints

LIMIT = 3


@dataclass
class Saved:
    """What the model knows of one save that was ever made."""

    number: int
    at: float
    score: float | None
    healthy: bool


class Store(RuleBasedStateMachine):
    """Saves, breaks, recoveries, roll-backs and restarts in any order."""

    @initialize(keep=st.integers(1, 5), higher=st.booleans())
    def start(self, keep: int, higher: bool) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.keep, self.higher = keep, higher
        self.ever: list[Saved] = []
        self.went: list[int] = []
        self.broke_at: float | None = None
        self.reopen()

    @rule()
    def reopen(self) -> None:
        self.store = Checkpoints(self.folder, keep=self.keep, higher_is_better=self.higher, max_roll_backs=LIMIT)
        self.broke_at = None

    @rule(at=st.integers(0, 9), score=st.none() | st.integers(0, 4))
    def save(self, at: int, score: int | None) -> None:
        path = self.store.save({"n": len(self.ever)}, step=at, score=score)
        assert path is not None
        healthy = self.broke_at is None or at < self.broke_at
        self.ever.append(Saved(int(path.name.split("-")[1]), at, score, healthy))

    @rule(at=st.integers(0, 9))
    def broke(self, at: int) -> None:
        self.store.broke(at)
        self.broke_at = at if self.broke_at is None else min(self.broke_at, at)
        for one in self.ever:
            one.healthy = one.healthy and one.at < at

    @rule()
    def mended(self) -> None:
        self.store.mended()
        self.broke_at = None

    @precondition(lambda self: self.ever)
    @rule()
    def roll_back(self) -> None:
        target = self.newest_healthy()
        if target is None or self.stuck(target.number):
            try:
                self.store.roll_back()
            except CheckpointError:
                return
            raise AssertionError("it must be refused")
        state, step = self.store.roll_back()
        assert (self.ever[state["n"]].number, step) == (target.number, target.at)
        self.went.append(target.number)
        self.broke_at = None

    def stuck(self, to: int) -> bool:
        """Whether the newest roll-backs, as many as are allowed, and the next one got nowhere."""
        row = [*self.went[-LIMIT:], to]
        return len(row) > LIMIT and row == sorted(row, reverse=True)

    @rule()
    def fail(self) -> None:
        assert self.store.fail({"n": 0}, step=1, reason="r") is not None

    def newest_healthy(self) -> Saved | None:
        good = [one for one in self.ever if one.healthy and one.number in self.here()]
        return good[-1] if good else None

    def here(self) -> set[int]:
        return {int(path.name.split("-")[1]) for path in self.folder.glob("save-*")}

    @invariant()
    def the_roles_are_there_and_the_number_is_bounded(self) -> None:
        if not getattr(self, "ever", None):
            return
        here = self.here()
        assert len(here) <= max(self.keep, 3)
        assert len(here) >= min(self.keep, len(self.ever))
        assert len(list(self.folder.glob("failed-*"))) <= self.keep
        assert self.ever[-1].number in here
        assert self.store.last is not None
        assert self.store.last.number == self.ever[-1].number
        scored = [one for one in self.ever if one.score is not None]
        best = self.store.best
        assert (best is None) == (not scored)
        if best is not None:
            assert best.score == (max if self.higher else min)(one.score for one in scored)  # type: ignore[type-var]
        assert not self.store.faults

    @invariant()
    def health_is_what_was_told(self) -> None:
        if getattr(self, "ever", None):
            known = {one.number: one.healthy for one in self.ever}
            assert {one.number: one.healthy for one in self.store.all} == {n: known[n] for n in self.here()}

    @invariant()
    def no_healthy_one_was_given_up_for_an_unhealthy_one(self) -> None:
        if not getattr(self, "ever", None):
            return
        here, found = self.here(), self.store.last_healthy
        assert found is None or found.number == max(
            one.number for one in self.ever if one.healthy and one.number in here
        )

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


class NeverBroken(RuleBasedStateMachine):
    """Only saves and breaks that lie after the first save: then a healthy one is always left."""

    @initialize(keep=st.integers(1, 3))
    def start(self, keep: int) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.store = Checkpoints(self.folder, keep=keep)
        assert self.store.save({}, step=0)
        self.good = [0.0]

    @rule(score=st.none() | st.floats(allow_nan=True))
    def save(self, score: float | None) -> None:
        last = self.store.last
        assert last is not None
        path = self.store.save({}, step=last.step + 1, score=score)
        assert path is not None

    @rule()
    def breaks_after_the_last_healthy_one(self) -> None:
        found = self.store.last_healthy
        assert found is not None
        self.store.broke(found.at + 0.5)

    @invariant()
    def one_to_go_back_to_is_always_there(self) -> None:
        if hasattr(self, "store"):
            assert self.store.last_healthy is not None

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)


TestStore = Store.TestCase
TestStore.settings = settings(max_examples=15, stateful_step_count=15)
TestNeverBroken = NeverBroken.TestCase
TestNeverBroken.settings = settings(max_examples=8, stateful_step_count=8)
