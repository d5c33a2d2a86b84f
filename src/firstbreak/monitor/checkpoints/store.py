"""`Checkpoints`: the few checkpoints of a run that are worth keeping."""

from __future__ import annotations

import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from . import disk, files, ring
from .errors import CheckpointError
from .files import Load, Opened, Save
from .ledger import Ledger, read_ledger
from .manifest import Checkpoint, describe, plain_number
from .rng import set_rng_state

_log = logging.getLogger("firstbreak")
_T = TypeVar("_T")
_ROLES = ("best", "last", "last_healthy", "failed")


class Checkpoints:
    """A folder of verified checkpoints, few at a time: the best, the last, the last healthy one, and failed states.

    Saving never raises into training: a save that fails returns None, and `faults` says why (`strict` makes it raise).
    A checkpoint appears whole or not at all; a process killed at any moment leaves a store that loads.
    Processes must not share a store: give each its `rank`.

    Args:
        folder: Where the checkpoints lie; made when needed.
        keep: How many are kept, beside as many failed states. Best, last and last healthy always are.
        higher_is_better: What `score` means.
        max_roll_backs: Roll-backs in a row, to one checkpoint or to ever older ones, after which the next is refused:
            it would go on for ever.
        clock: What `step` counts, for the record.
        rank: This process among many; its checkpoints go to `<folder>/rank-<rank>`.
        save: Writes a state into an empty folder, instead of `state_dict()`, numpy and `torch.save`.
        load: Reads back what `save` wrote.
        strict: Whether a failing save raises.
        now: Seconds since the epoch; replaced in tests.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        keep: int = 3,
        higher_is_better: bool = True,
        max_roll_backs: int = 3,
        clock: str = "",
        rank: int | None = None,
        save: Save | None = None,
        load: Load | None = None,
        strict: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        if keep < 1:
            raise CheckpointError(f"keep is {keep}.", "At least one checkpoint must be kept.")
        if (save is None) != (load is None):
            raise CheckpointError("Only one of save and load was given.", "Give both, or neither.")
        self.folder = Path(folder) if rank is None else Path(folder) / f"rank-{rank:04d}"
        self.faults: deque[str] = deque(maxlen=100)
        """What went wrong, newest last."""
        self._keep, self._higher, self._limit, self._clock = keep, higher_is_better, max_roll_backs, clock
        self._save, self._load, self._strict, self._now = save, load, strict, now
        self._broke_at: float | None = None
        self._mine: Ledger | None = None
        """The ledger once this process changed it; the one on disk until then."""
        self._number = 0
        if os.path.isdir(self.folder):
            self._try("clean up", lambda: disk.clean(self.folder))

    def save(self, state: Any, *, step: float, at: float | None = None, score: float | None = None) -> Path | None:
        """Write a checkpoint, then delete what is no longer worth keeping.

        Args:
            state: Name -> anything with `state_dict()`, a generator, an array, a tensor or plain data; the global
                random generators are added. With a `save` function: what that function takes.
            step: Where training is.
            at: The same on the run's clock (what `Monitor.log` gets as `step`), if `step` counts something else.
            score: Of an evaluation of this state. NaN and infinities count as none.

        Returns:
            Its folder, or None if it could not be written.
        """
        return self._try("save", lambda: self._write("save", state, step, at, {"score": _score(score)}), self._strict)

    def fail(
        self, state: Any, *, step: float, batch: Any = None, reason: str, notice: Any = None, at: float | None = None
    ) -> Path | None:
        """Keep a failed state, with the batch, the random generators and the reason, in a ring of its own.

        Returns:
            Its folder, or None if it could not be written.
        """

        def write() -> Path:
            told = notice.to_dict() if hasattr(notice, "to_dict") else dict(notice or {})
            return self._write("failed", state, step, at, {"reason": str(reason), "notice": told}, batch)

        return self._try("keep the failed state", write, self._strict)

    def broke(self, at: float) -> None:
        """Take note that the run may be broken from `at` on, a position on the run's clock.

        Checkpoints at or after it count as unhealthy, as do all that follow until `mended` or a roll-back.
        """
        self._broke_at = at if self._broke_at is None else min(at, self._broke_at)
        self._change("mark what is unhealthy", self._ledger.marked(one.name for one in self.all if one.at >= at))

    def mended(self) -> None:
        """Take note that the run recovered: checkpoints from now on count as healthy again."""
        self._broke_at = None

    @property
    def all(self) -> list[Checkpoint]:
        """Every checkpoint whose manifest can be read, oldest first; failed states apart."""
        bad = self._ledger.unhealthy
        found = self._find("save")
        return [replace(one, healthy=one.healthy and one.name not in bad) for one in reversed(ring.last(found))]

    @property
    def best(self) -> Checkpoint | None:
        """The one with the best score, whatever became of the run."""
        return next(iter(ring.best(self.all, self._higher)), None)

    @property
    def last(self) -> Checkpoint | None:
        """The one written last."""
        return next(iter(ring.last(self.all)), None)

    @property
    def last_healthy(self) -> Checkpoint | None:
        """The newest from before the earliest moment at which the run can have broken."""
        return next(iter(ring.healthy(self.all)), None)

    @property
    def failed(self) -> Checkpoint | None:
        """The failed state kept last."""
        return next(iter(ring.last(self._find("failed"))), None)

    @property
    def roll_backs(self) -> tuple[Mapping[str, Any], ...]:
        """The roll-backs on record, oldest first: to which checkpoint, its step, when, and where the run had broken."""
        return self._ledger.roll_backs

    def open(self, which: str | Path = "last_healthy", *, step: float | None = None) -> Opened:
        """Verify and read a checkpoint: `best`, `last`, `last_healthy`, `failed` (of one `step`), or the folder of one.

        One that is damaged is passed over for the next of the same role, and `faults` says so.

        Raises:
            CheckpointError: None can be read; the message says what is wrong with each.
        """
        wrong: list[str] = []
        for one in self._candidates(which):
            if step is not None and one.step != step:
                continue
            try:
                return files.read(one, self._load)
            except CheckpointError as error:
                wrong.append(error.message)
                self._note(f"{error.message} The next of the same role is tried.")
        kind = "failed" if which == "failed" else "save"
        wrong += files.find(self.folder, kind)[1]
        why = "\n".join(wrong) or ("There is none." if step is None else f"There is none of step {step}.")
        raise CheckpointError(
            f"No checkpoint can be loaded as {str(which)!r} from {self.folder}.\n{why}", ring.listed(self.all)
        )

    def load(self, which: str | Path = "last_healthy") -> Any:
        """Return the state of a checkpoint, see `open`."""
        return self.open(which).state

    def resume(self, *, step: float | None = None) -> tuple[Any, float]:
        """Return state and step of the last healthy checkpoint and put the random generators back: for a new process.

        Call it when everything is built, since building draws random numbers. Ranks give the `step` that all of them
        have, see `shared_step`.
        """
        return self._go_back(self.open("last_healthy", step=step))

    def roll_back(self, *, step: float | None = None) -> tuple[Any, float]:
        """Do as `resume`, and put it on record.

        Raises:
            CheckpointError: There is no healthy checkpoint, or the run broke again and again after this one.
        """
        opened = self.open("last_healthy", step=step)
        to, step = opened.checkpoint.name, opened.checkpoint.step
        times = self._ledger.in_a_row(to)
        if times >= self._limit:
            raise CheckpointError(
                f"The run was rolled back {times} times in a row and broke again, without a newer healthy checkpoint; "
                f"the next would be {opened.checkpoint.path} (step {step}).",
                "The cause is still there: change the settings before going on, or load an older checkpoint.",
            )
        self._change("note the roll-back", self._ledger.rolled_back(to, step, self._now(), self._broke_at))
        return self._go_back(opened)

    def _go_back(self, opened: Opened) -> tuple[Any, float]:
        left = self._try("put the random generators back as saved", lambda: set_rng_state(opened.rng))
        if left:
            self._note(f"These random generators could not be put back here: {', '.join(left)}.")
        self._broke_at = None
        return opened.state, opened.checkpoint.step

    def _write(
        self, kind: str, state: Any, step: float, at: float | None, more: Mapping[str, Any], batch: Any = None
    ) -> Path:
        step = plain_number(step, "step")
        at = step if at is None else plain_number(at, "position")
        where = {"step": step, "at": at, "clock": self._clock, "wall": self._now()}
        healthy = kind == "save" and (self._broke_at is None or at < self._broke_at)
        self._number = max(self._number, files.last_number(self.folder)) + 1
        name = f"{kind}-{self._number:06d}"
        fields: dict[str, Any] = {**where, "score": None, "healthy": healthy, "reason": "", "notice": {}, **more}
        path = files.write(self.folder, name, state, fields, batch=batch, save=self._save)
        self._try("delete an old checkpoint", lambda: self._prune(kind))
        return path

    def _prune(self, kind: str) -> None:
        found = self.all if kind == "save" else self._find("failed")
        kept = ring.keepers(found, self._keep, self._higher)
        for one in found:
            if one.name not in kept:
                disk.remove(one.path)
        ledger = self._ledger
        if kind == "save" and not ledger.unhealthy <= kept:
            self._change("forget old marks", ledger.only(kept))

    @property
    def _ledger(self) -> Ledger:
        if self._mine is not None:
            return self._mine
        ledger, wrong = read_ledger(self.folder)
        if wrong:
            self._note(wrong)
        return ledger

    def _change(self, what: str, ledger: Ledger) -> None:
        self._mine = ledger
        if os.path.isdir(self.folder):
            self._try(what, lambda: ledger.write(self.folder))

    def _find(self, kind: str) -> list[Checkpoint]:
        found, wrong = files.find(self.folder, kind)
        for message in wrong:
            self._note(message)
        return found

    def _candidates(self, which: str | Path) -> list[Checkpoint]:
        if which not in _ROLES:
            return [describe(Path(which))]
        if which == "failed":
            return ring.last(self._find("failed"))
        return {
            "best": lambda: ring.best(self.all, self._higher),
            "last": lambda: ring.last(self.all),
            "last_healthy": lambda: ring.healthy(self.all),
        }[str(which)]()

    def _try(self, what: str, do: Callable[[], _T], strict: bool = False) -> _T | None:
        try:
            return do()
        except Exception as error:
            message = f"Could not {what} in {self.folder}: {error}"
            self._note(message)
            if strict:
                raise CheckpointError(message, "Free space or choose another folder, then save again.") from error
            return None

    def _note(self, message: str) -> None:
        if not self.faults or self.faults[-1] != message:
            _log.warning("%s", message)
        if message not in self.faults:
            self.faults.append(message)


def _score(score: float | None) -> float | None:
    return None if score is None or not math.isfinite(score) else float(score)
