"""Advice on a run that is still going, and what would decide an undecided one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .diagnosis import Advice, Confirmation, Coverage, Verdict
from .finding import Finding, Severity
from .runlog import RunLog
from .vocabulary import traits_of


def advise(verdict: Verdict, active: Sequence[Finding]) -> Advice:
    """Return stop, continue or cannot tell. Stop only for an error that has not passed."""
    lasting = [f for f in active if f.severity is Severity.ERROR and f.resolved_at is None]
    if verdict is Verdict.BROKEN:
        return Advice.STOP if lasting else Advice.CANNOT_TELL
    return Advice.CONTINUE if verdict is Verdict.HEALTHY else Advice.CANNOT_TELL


def _look(name: str, recipe: str, evidence: str) -> Confirmation:
    return Confirmation(name, recipe, evidence=evidence)


ZERO_LR = _look(
    "zero learning rate",
    "Run with learning rate 0: any gap or drift that remains is sync or numerics, not learning.",
    "zero_lr_run",
)
TRACE = _look("phase trace", "Record a time trace of one step: generation, reward, update, sync.", "profile")
SAMPLES = _look("read samples", "Read twenty raw samples with the scorer's output and their stop reason.", "samples")
BASELINE = _look(
    "baseline score",
    "Score the untrained model (or a random and an expert policy) under the same protocol.",
    "baseline_score",
)
FINITE = _look(
    "finite check per term",
    "Log isfinite, minimum and maximum of observations and of each reward term.",
    "finite_check",
)
INVARIANTS = _look(
    "invariants of the loss",
    "On one recorded batch: ratio 1 at the first minibatch, zero advantage, zero gradient, critic moves.",
    "code",
)
REPEATS = _look("repeat with other seeds", "Repeat each arm with two more seeds before comparing arms.", "repeats")
FIXED_BATCH = _look(
    "one batch twice",
    "Evaluate one saved batch on both paths (or with the flag on and off) at the same weights and compare.",
    "fixed_batch",
)
TOKENS = _look(
    "token ids",
    "Print token ids, mask and decoded text of a few sequences; check ids against the vocabulary.",
    "tokens",
)

BEFORE_FALL = _look(
    "checkpoint from before",
    "Play it now: if it earns what it did, updates broke the policy; if not, the task or its reward changed.",
    "controlled_run",
)
FELL = "far below its best"
"""What a rule says of a return that it leaves open why it fell."""

TOPICS: tuple[tuple[re.Pattern[str], Confirmation], ...] = (
    (re.compile(r"vocab|pad[_ ]?(token|row|id)|token[_ ]?ids?\b|loss[_ ]?mask"), TOKENS),
    (re.compile(r"\(.*=.*\)"), REPEATS),
    (re.compile(r"log_?probs?|logp\b|grad_?norm_?ratio|ratio_.*_over_"), FIXED_BATCH),
)
"""What keys without a canonical name speak of, and the look that settles such a question."""


EPISODES = ("episode/", "reward/episode_return", "reward/raw_episode_return")
"""Metrics that only a run with episodes logs begin like this."""


def plays_episodes(metrics: Iterable[str]) -> bool:
    """Whether a run that logs `metrics` acts in an environment with episodes, whatever its algorithm."""
    return any(metric.startswith(EPISODES) for metric in metrics)


def confirmations_for(log: RunLog, coverage: Coverage) -> tuple[Confirmation, ...]:
    """Return the looks that an undecided run calls for, most to the point first.

    First what the log's own keys speak of, then the general looks from the outside in.
    """
    looks = [look for pattern, look in TOPICS if any(pattern.search(key.lower()) for key in log.unmapped)]
    metrics = log.metrics
    if any(FELL in sign for sign in coverage.withheld):
        looks.append(BEFORE_FALL)
    if any(m.startswith("async/") for m in metrics):
        looks += [ZERO_LR, FIXED_BATCH]
    if any(m.startswith(("perf/", "system/")) for m in metrics):
        looks.append(TRACE)
    traits = traits_of(log.algorithm)
    if "control" in traits or plays_episodes(metrics):
        looks += [BASELINE, INVARIANTS, FINITE]
    elif "language" in traits:
        looks += [SAMPLES, BASELINE, TOKENS]
    else:
        looks += [SAMPLES, BASELINE, INVARIANTS]
    return tuple(dict.fromkeys([*looks, REPEATS]))
