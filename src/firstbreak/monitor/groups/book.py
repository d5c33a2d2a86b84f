"""The counts behind a filter: bounded, whatever the length of the run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from ...preflight.data.counting import rate_interval
from .group import Group, is_flat
from .report import FilterReport, gap
from .tally import Moments

MOST_PROMPTS = 100_000
"""Prompts remembered; the one seen longest ago is forgotten first. Some 20 MB. Engineering default."""
MOST_LEVELS = 64
"""Rewards at which groups without spread are told apart."""
QUANTITIES = ("length_tokens", "truncated_frac", "reward_mean", "prompt_reward_before")
"""What kept and discarded groups are compared in. `prompt_reward_before` is the mean reward of the prompt's earlier
groups: how easy it is, as far as this group has no say in it."""


@dataclass
class Window:
    """Sums over some stretch of groups."""

    seen: int = 0
    kept: int = 0
    judged: int = 0
    """Groups with two scores or more: only these have a spread."""
    silent: Counter[float] = field(default_factory=Counter[float])
    """Reward -> groups all of whose answers earned it."""
    spread: Moments = field(default_factory=Moments)
    reward: Moments = field(default_factory=Moments)
    reward_kept: Moments = field(default_factory=Moments)
    length: Moments = field(default_factory=Moments)
    length_kept: Moments = field(default_factory=Moments)


@dataclass
class PromptCount:
    """What is known of one prompt."""

    groups: int = 0
    kept: int = 0
    reward: Moments = field(default_factory=Moments)


class Book:
    """Counts groups for a `GroupFilter`.

    Args:
        solved_at: A reward at or above counts as right; None goes by the best and the worst reward seen.
    """

    def __init__(self, solved_at: float | None) -> None:
        self._solved_at = solved_at
        self._all, self._window = Window(), Window()
        self._reasons: Counter[str] = Counter()
        self._kept = {name: Moments() for name in QUANTITIES}
        self._discarded = {name: Moments() for name in QUANTITIES}
        self._prompts: dict[str, PromptCount] = {}
        self._forgotten = self._unread = 0
        self._best, self._worst = -np.inf, np.inf

    def unread(self) -> None:
        """Count a group that could not be read."""
        self._unread += 1

    def enter(self, group: Group, reason: str, keep: bool) -> None:
        """Count a group."""
        rewards = group.rewards[np.isfinite(group.rewards)]
        mean = float(rewards.mean()) if rewards.size else np.nan
        if rewards.size:
            self._best, self._worst = max(self._best, float(rewards.max())), min(self._worst, float(rewards.min()))
        before = self._prompt(group.prompt, mean, keep)
        for window in (self._all, self._window):
            _add(window, rewards, mean, group.length_tokens, keep)
        self._reasons[reason] += 1
        side = self._kept if keep else self._discarded
        values = (group.length_tokens, group.truncated_frac, mean, before)
        for name, value in zip(QUANTITIES, values, strict=True):
            side[name].add(value)

    def _prompt(self, name: str, mean: float, keep: bool) -> float:
        """Count the group for its prompt; return the mean reward of the prompt's earlier groups."""
        if not name:
            return np.nan
        count = self._prompts.pop(name, None) or PromptCount()
        before = count.reward.known
        count.groups += 1
        count.kept += keep
        count.reward.add(mean)
        self._prompts[name] = count  # to the end: the first is the one seen longest ago
        if len(self._prompts) > MOST_PROMPTS:
            del self._prompts[next(iter(self._prompts))]
            self._forgotten += 1
        return before

    def numbers(self) -> dict[str, float]:
        """Return canonical metrics of the groups since the last call, and begin again."""
        window, self._window = self._window, Window()
        if not window.seen:
            return {}
        found = {
            "group/kept_fraction": window.kept / window.seen,
            "group/filtered_count": float(window.seen - window.kept),
            "reward/rollout_mean": window.reward.known,
            "reward/train_mean": window.reward_kept.known,
            "seq/len_sampled_mean": window.length.known,
            "seq/len_mean": window.length_kept.known,
        }
        if window.judged:
            found["group/zero_std_fraction"] = window.silent.total() / window.judged
            found["group/reward_std_mean"] = window.spread.known
            sides = self._sides(window.silent)
            if sides is not None:
                found["group/all_solved_fraction"] = sides[0] / window.judged
                found["group/none_solved_fraction"] = sides[1] / window.judged
        return {name: value for name, value in found.items() if not np.isnan(value)}

    def _sides(self, silent: Counter[float]) -> tuple[int, int] | None:
        """Return how many groups without spread are all right and all wrong; None where nothing tells."""
        if self._solved_at is not None:
            right = sum(n for level, n in silent.items() if level >= self._solved_at)
            return right, silent.total() - right
        if not self._best > self._worst:
            return None
        return silent[_rounded(self._best)], silent[_rounded(self._worst)]

    def report(self) -> FilterReport:
        """Return the sums since the start."""
        seen, kept = self._all.seen, self._all.kept
        sides = self._sides(self._all.silent) or (0, 0)
        tried = [p for p in self._prompts.values() if p.groups >= 2]
        never = sum(not p.kept for p in tried)
        return FilterReport(
            seen=seen,
            kept=kept,
            forced=self._reasons["forced"],
            rejected={r: n for r, n in sorted(self._reasons.items()) if r not in ("kept", "forced", "one answer")},
            all_right=sides[0],
            all_wrong=sides[1],
            silent_between=self._all.silent.total() - sum(sides),
            unread=self._unread,
            kept_frac=(kept / seen if seen else np.nan, *rate_interval(kept, seen)),
            prompts=len(self._prompts),
            prompts_never_kept=never,
            prompts_tried=len(tried),
            never_kept_frac=(never / len(tried) if tried else np.nan, *rate_interval(never, len(tried))),
            gaps=tuple(gap(name, self._kept[name], self._discarded[name]) for name in QUANTITIES),
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        notes: list[str] = []
        if self._reasons["one answer"]:
            notes.append(
                f"{self._reasons['one answer']} groups of one answer were kept: they have no spread to judge by."
            )
        if self._unread:
            notes.append(f"{self._unread} groups could not be read and were kept.")
        if self._forgotten:
            notes.append(f"{self._forgotten} prompts not seen for long were forgotten.")
        if self._solved_at is None and self._all.silent and not self._best > self._worst:
            notes.append("Every reward so far is the same: give solved_at to tell all right from all wrong.")
        return tuple(notes)


def _add(
    window: Window, rewards: np.ndarray[tuple[int], np.dtype[np.float64]], mean: float, length: float, keep: bool
) -> None:
    window.seen += 1
    window.kept += keep
    window.reward.add(mean)
    window.length.add(length)
    if keep:
        window.reward_kept.add(mean)
        window.length_kept.add(length)
    if rewards.size < 2:
        return
    window.judged += 1
    silent = is_flat(rewards)
    window.spread.add(0.0 if silent else float(rewards.std(ddof=1)))
    if silent:
        level = _rounded(float(rewards[0]))
        if level not in window.silent and len(window.silent) >= MOST_LEVELS:
            level = np.inf  # neither right nor wrong: rewards that take many values have no two sides
        window.silent[level] += 1


def _rounded(level: float) -> float:
    return float(f"{level:.6g}")  # as coarse as what counts as equal
