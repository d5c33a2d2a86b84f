"""`GroupFilter`: should this group be trained on?"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from ...series import Floats
from .book import Book
from .group import Group, is_flat, read_group
from .report import FilterReport

MOST_REJECTIONS = 256
"""Groups rejected on end before one is let through. Engineering default: ten batches of 25 prompts; the DAPO recipe of
verl stops after 10 generated batches (`max_num_gen_batches`)."""
KEPT, FORCED, ALONE = "kept", "forced", "one answer"
"""Why a group is kept. The reasons to reject one are spelled out where they are found."""


class GroupFilter:
    """Says of each group of answers to one prompt whether to train on it, counts, and reports what it throws away.

    Dynamic sampling (Yu et al. 2025, arXiv 2503.14476, section 3.2): a group whose answers all earn the same carries no
    advantage. Call it like a function. It never raises because of a group: what cannot be read is kept, and told once.

    Args:
        lo: Least mean reward of a group; its pass rate where `solved_at` is given.
        hi: Largest mean reward, or pass rate. Both bounds are included.
        min_std: A group is rejected unless its standard deviation (of the sample, n - 1) is above this.
        solved_at: A reward at or above counts as right. Without it, all right and all wrong are groups at the best and
            the worst reward seen so far.
        most_tokens: The longest answer that can be sampled; answers of that length count as cut off.
        most_rejections: Groups rejected on end after which the next is kept whatever it is.

    Raises:
        InputError: the bounds leave nothing.
    """

    def __init__(
        self,
        *,
        lo: float = -np.inf,
        hi: float = np.inf,
        min_std: float = 0.0,
        solved_at: float | None = None,
        most_tokens: int | None = None,
        most_rejections: int = MOST_REJECTIONS,
    ) -> None:
        if not lo <= hi or not min_std >= 0:
            raise InputError(
                f"lo={lo}, hi={hi}, min_std={min_std} keep nothing.", "lo must not exceed hi; min_std >= 0."
            )
        if most_rejections < 1:
            raise InputError(f"most_rejections = {most_rejections}.", "Give 1 or more: a filter must not starve a run.")
        self.lo, self.hi, self.min_std, self.solved_at = lo, hi, min_std, solved_at
        self.most_tokens, self.most_rejections = most_tokens, most_rejections
        self.faults: list[str] = []
        """Why groups could not be read, each once."""
        self._book = Book(solved_at)
        self._rejected_on_end = 0
        self._lock = threading.Lock()

    def __call__(self, group: Any) -> bool:
        """Return whether to train on `group`: AReaL's `should_accept_fn`, and the same for any loop of your own."""
        return self.should_accept(group)

    def should_accept(self, group: Any, *, prompt: Hashable = "") -> bool:
        """Return whether to train on `group`, and count it.

        Args:
            group: Rewards of the answers to one prompt, or a dictionary that holds them; see `read_group`.
            prompt: What tells the prompt apart, where the group does not say it.
        """
        try:
            one = read_group(group, prompt=str(prompt), most_tokens=self.most_tokens)
        except Exception as error:
            self._told(f"{type(error).__name__}: {error}")
            with self._lock:
                self._book.unread()
            return True
        with self._lock:
            reason = self._reason(one)
            if reason not in (KEPT, ALONE):
                self._rejected_on_end += 1
                if self._rejected_on_end > self.most_rejections:
                    reason = FORCED
            keep = reason in (KEPT, ALONE, FORCED)
            if keep:
                self._rejected_on_end = 0
            self._book.enter(one, reason, keep)
        return keep

    def rows(
        self,
        prompts: Sequence[Hashable] | NDArray[Any],
        rewards: Any,
        *,
        lengths: Any = None,
        truncated: Any = None,
    ) -> NDArray[np.bool_]:
        """Return which rows [n] of a flat batch to keep: whole groups, as verl's batches hold them.

        Args:
            prompts: What tells the group of each row apart [n] (verl: `non_tensor_batch["uid"]`).
            rewards: Reward of each row [n], or of each token [n, T].
            lengths: Length of each answer [n].
            truncated: Whether each answer was cut off [n].

        Raises:
            InputError: the columns are not equally long.
        """
        names = [str(p) for p in (prompts.tolist() if isinstance(prompts, np.ndarray) else prompts)]
        columns = {"rewards": rewards, "lengths": lengths, "truncated": truncated}
        held = {k: np.asarray(read_group({"rewards": v}).rewards) for k, v in columns.items() if v is not None}
        uneven = {k: v.size for k, v in held.items() if v.size != len(names)}
        if uneven:
            raise InputError(f"{len(names)} prompts, but {uneven}.", "Give one value for each row.")
        places: dict[str, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        keep = np.zeros(len(names), dtype=np.bool_)
        for name, at in places.items():
            keep[at] = self.should_accept({k: v[at] for k, v in held.items()}, prompt=name)
        return keep

    def numbers(self) -> dict[str, float]:
        """Canonical metrics of the groups since the last call: `monitor.collect(group_filter.numbers)`."""
        with self._lock:
            return self._book.numbers()

    def report(self) -> FilterReport:
        """Return what was kept and thrown away since the start, and how the two differ."""
        with self._lock:
            return self._book.report()

    def _reason(self, group: Group) -> str:
        """Return why the group is kept or rejected."""
        rewards = group.rewards[np.isfinite(group.rewards)]
        if not rewards.size:
            return "no score"
        level = self._level(rewards)
        if level < self.lo:
            return "mean too low"
        if level > self.hi:
            return "mean too high"
        if group.rewards.size == 1:
            return ALONE  # one answer has no spread by construction: rejecting it would reject everything
        return KEPT if spread(rewards) > self.min_std else "no spread"

    def _level(self, rewards: Floats) -> float:
        return float(rewards.mean() if self.solved_at is None else (rewards >= self.solved_at).mean())

    def _told(self, fault: str) -> None:
        if fault not in self.faults and len(self.faults) < 20:
            self.faults.append(fault)
            if len(self.faults) == 1:
                warnings.warn(f"GroupFilter keeps a group that it cannot read: {fault}", RuntimeWarning, stacklevel=4)

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to another process: everything but the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()


def spread(rewards: Floats) -> float:
    """Standard deviation of `rewards` [K] (n - 1); exactly 0 where all are equal up to rounding."""
    if rewards.size < 2 or is_flat(rewards):
        return 0.0
    return float(rewards.std(ddof=1))
