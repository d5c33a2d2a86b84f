"""What doing nothing earns: the user's own scorer on empty, constant, copied and random answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...audit.verifier.kinds import kind_of
from ...audit.verifier.rows import Question
from ...errors import InputError
from ...isolation import Limits
from ...series import Floats
from .scoring import scored
from .trivial import responses

DRAWS = 2_000
"""Bootstrap samples; the ends of a 95 % interval are then good to about 5 % of its width."""
CHUNK = 1 << 20
"""Values drawn at once."""
LEAST = 8
"""Prompts for an interval."""
MARGIN_FRAC = 0.05
"""Share of the range of all rewards below which a lead is none worth the name. Engineering default."""


_OUTCOME = {
    "beats doing nothing": "It beats doing nothing.",
    "does not beat doing nothing": "It does not beat doing nothing.",
    "cannot tell": "Whether it beats doing nothing stays open.",
}


@dataclass(frozen=True)
class BaselineScore:
    """What one way of doing nothing earns."""

    name: str
    """`empty`, `constant`, `common answer`, `prompt copied`, `another's answer` or `random words`."""
    mean: float
    lo: float
    """95 % interval over prompts (percentile bootstrap); NaN for fewer than 8."""
    hi: float
    scored: int
    failed: int
    """Responses for which the scorer raised, or returned no number."""
    behind: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    """The policy's mean reward less this one's on the same prompts, with its 95 % interval."""


@dataclass(frozen=True)
class BaselineScores:
    """What `baseline_scores` returns."""

    baselines: tuple[BaselineScore, ...]
    """Best first."""
    policy_mean: float
    prompts: int
    margin: float
    """A lead below this is as good as none: 5 % of the range of all rewards seen."""
    trouble: str = ""
    """How the scorer's process ended, where it did not end by itself."""

    @property
    def best(self) -> BaselineScore | None:
        """The baseline that earns most, if any could be scored."""
        return next((one for one in self.baselines if one.scored), None)

    @property
    def verdict(self) -> str:
        """`beats doing nothing`, `does not beat doing nothing`, or `cannot tell`."""
        known = [one.behind for one in self.baselines if not math.isnan(one.behind[1])]
        if any(hi <= 0 or (lo <= 0 and hi <= self.margin) for _, lo, hi in known):
            return "does not beat doing nothing"
        if self.trouble or not known or any(behind[1] <= 0 for behind in known):
            return "cannot tell"
        return "beats doing nothing"

    @property
    def meaning(self) -> str:
        """What it says, in a few sentences."""
        best = self.best
        if best is None:
            return f"No answer could be scored; the scorer raised, or gave no number. {self.trouble}".strip()
        said = [f"{best.name} earns {best.mean:.3g} ({best.lo:.3g} to {best.hi:.3g}) on {self.prompts} prompts."]
        if not math.isnan(self.policy_mean):
            closest = min(self.baselines, key=lambda one: one.behind[1] if one.scored else math.inf)
            gap, lo, hi = closest.behind
            said.append(
                f"The policy earns {self.policy_mean:.3g}; less what {closest.name} earns on the same prompts: "
                f"{gap:.3g} ({lo:.3g} to {hi:.3g}). {_OUTCOME[self.verdict]}"
            )
        failed = sum(one.failed for one in self.baselines)
        said += [f"For {failed} answers the scorer gave no number."] if failed else []
        return " ".join(said)

    @property
    def cannot_tell(self) -> str:
        """What it does not say."""
        return (
            "Why: a scorer that pays for nothing, a task that is too hard, or a policy that is not trained look alike. "
            "Beating nothing is not solving the task."
        )

    @property
    def settles(self) -> tuple[str, ...]:
        """Rules and causes that it helps to decide."""
        return ("reward-function-bug", "reward-too-easy", "default-reward-stuck", "reward-flat", "task-too-hard")


def baseline_scores(
    scorer: str | Callable[..., Any],
    prompts: Sequence[str],
    *,
    answers: Sequence[str] | None = None,
    columns: Sequence[Mapping[str, Any]] | None = None,
    policy_rewards: Any = None,
    style: str = "auto",
    seed: int = 0,
    limits: Limits | None = None,
) -> BaselineScores:
    """Score answers that need no skill, and compare with what the policy earns on the same prompts.

    A scorer named `module:function` or `file.py:function` runs in a child process with limits. A function that is
    handed in runs here: what it raises is counted, what it hangs on hangs.

    Args:
        scorer: The reward function, called as a trainer would call it.
        prompts: Of the training or test set [n].
        answers: Reference answers [n], where the scorer takes them.
        columns: Further columns of each prompt [n], by the scorer's names.
        policy_rewards: What the policy earned: [n], or [n, K] for K samples of each prompt.
        style: How the scorer is called: plain, trl, trl-chat, verl, areal or openrlhf; `auto` goes by its parameters.
        seed: Of random answers and of the bootstrap.
        limits: Of the child process.

    Raises:
        InputError: no prompts, or columns of unequal length.
    """
    questions = _questions(prompts, answers, columns)
    policy = _policy(policy_rewards, len(questions))
    tried = responses(questions, np.random.default_rng(seed))
    values, trouble = scored(scorer, style, questions, tried, limits)
    random = np.random.default_rng(seed)
    found = [_judged(name, values[name], policy, random) for name in tried]
    found.sort(key=lambda one: -one.mean if one.scored else math.inf)
    mean = float(np.nanmean(policy)) if bool(np.isfinite(policy).any()) else math.nan
    every = np.concatenate([policy, *values.values()])
    every = every[np.isfinite(every)]
    margin = MARGIN_FRAC * float(np.ptp(every)) if every.size else 0.0
    return BaselineScores(tuple(found), mean, len(questions), margin, trouble)


def _questions(
    prompts: Sequence[str], answers: Sequence[str] | None, columns: Sequence[Mapping[str, Any]] | None
) -> list[Question]:
    count = len(prompts)
    sizes = {"answers": answers, "columns": columns}
    uneven = {name: len(values) for name, values in sizes.items() if values is not None and len(values) != count}
    if not count or uneven:
        raise InputError(f"{count} prompts, {uneven or 'nothing to score'}.", "Give prompts, and one value for each.")
    given = [str(a) for a in answers] if answers is not None else [""] * count
    more = [dict(c) for c in columns] if columns is not None else [dict[str, Any]() for _ in prompts]
    return [Question(p, a, kind_of(a), columns=c) for p, a, c in zip(prompts, given, more, strict=True)]


def _policy(rewards: Any, count: int) -> Floats:
    """Return the policy's mean reward on each prompt [n], NaN where there is none."""
    if rewards is None:
        return np.full(count, np.nan)
    found = np.asarray(rewards.detach().cpu() if hasattr(rewards, "detach") else rewards, dtype=np.float64)
    if not found.ndim or found.shape[0] != count:
        raise InputError(f"Rewards of shape {list(found.shape)} for {count} prompts.", "Give [n] or [n, K].")
    table = found.reshape(count, -1)
    known = np.isfinite(table)
    total = np.where(known, table, 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), np.nan)


def _judged(name: str, scores: Floats, policy: Floats, random: np.random.Generator) -> BaselineScore:
    known = np.isfinite(scores)
    both = known & np.isfinite(policy)
    mean, lo, hi = bootstrap_mean(scores[known], random)
    behind = bootstrap_mean(policy[both] - scores[both], random)
    return BaselineScore(name, mean, lo, hi, int(known.sum()), int((~known).sum()), behind)


def bootstrap_mean(values: Floats, random: np.random.Generator, draws: int = DRAWS) -> tuple[float, float, float]:
    """Mean of `values` [n] with its 95 % percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    Both ends are NaN for fewer than 8 values.
    """
    if not values.size:
        return math.nan, math.nan, math.nan
    mean = float(values.mean())
    if values.size < LEAST:
        return mean, math.nan, math.nan
    rows = max(1, CHUNK // values.size)
    sizes = [min(rows, draws - start) for start in range(0, draws, rows)]
    means = np.concatenate([values[random.integers(values.size, size=(n, values.size))].mean(axis=1) for n in sizes])
    lo, hi = np.quantile(means, [0.025, 0.975])
    return mean, float(lo), float(hi)
