"""Advice on a run that is still going, and what would decide an undecided one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from .diagnosis import Advice, Confirmation, Coverage, Verdict
from .finding import Finding, Link, Severity
from .runlog import RunLog
from .vocabulary import can_log, traits_of
from .worth_logging import Worth, logged_by_trainers, measured_by, worth_logging


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

LOOP = replace(INVARIANTS, command="firstbreak preflight invariants TRAINER")
WORLD = Confirmation(
    "environment by itself",
    "Ends, actions and observations as the trainer gets them.",
    "firstbreak preflight env ENV",
    "code",
)
PAY = Confirmation(
    "reward by itself",
    "Its sign, delay, noise and size.",
    "firstbreak preflight reward ENV_OR_TABLE",
    "code",
)
BESIDE = "monitored run"
BY_HAND = "`Monitor`, `World`, `Fed` (firstbreak.monitor)"
ADAPTERS = {
    "stable_baselines3": "`MonitorCallback` (firstbreak.monitor.adapters.sb3)",
    "rsl_rl": "`watch_runner` (firstbreak.monitor.adapters.rsl_rl)",
    "rllib": "`MonitorCallback` (firstbreak.monitor.adapters.rllib)",
    "torchrl": "`MonitorHook` (firstbreak.monitor.adapters.torchrl)",
}
"""Framework -> what puts the monitor beside a training; of any other loop it is `BY_HAND`."""
SHOWS: tuple[tuple[Confirmation, tuple[Link, ...]], ...] = (
    (LOOP, (Link.CRITIC, Link.POLICY_UPDATE, Link.EXPLORATION)),
    (WORLD, (Link.ENVIRONMENT_DATA,)),
    (PAY, (Link.REWARD_SIGNAL,)),
)
"""Looks at the code of a run that plays episodes -> the links that hold a tenth of their checks; what shows most comes
first, so that three looks leave as few links open as three can."""

TOPICS: tuple[tuple[re.Pattern[str], Confirmation], ...] = (
    (re.compile(r"vocab|pad[_ ]?(token|row|id)|token[_ ]?ids?\b|loss[_ ]?mask"), TOKENS),
    (re.compile(r"\(.*=.*\)"), REPEATS),
    (re.compile(r"log_?probs?|logp\b|grad_?norm_?ratio|ratio_.*_over_"), FIXED_BATCH),
)
"""What keys without a canonical name speak of, and the look that settles such a question."""


EPISODES = ("episode/", "reward/episode_return", "reward/raw_episode_return")
"""Metrics that only a run with episodes logs begin like this."""


SPREAD = ("policy/entropy", "policy/action_std")
"""Metrics of a policy that is a distribution."""


def plays_episodes(metrics: Iterable[str]) -> bool:
    """Whether a run that logs `metrics` acts in an environment with episodes, whatever its algorithm."""
    return any(metric.startswith(EPISODES) for metric in metrics)


def asked_of(log: RunLog, coverage: Coverage) -> Worth:
    """Return what a run of this kind is asked to log or to be given, and does not log in another form already.

    One of an unknown algorithm with episodes has no tokens or groups, and a policy without a distribution no spread.
    """
    traits, metrics = traits_of(log.algorithm), log.metrics
    algorithm = "PPO" if not traits and plays_episodes(metrics) else log.algorithm
    sure = "q_function" in traits and "max_entropy" not in traits

    def could(name: str) -> bool:
        spread = sure and name.startswith(SPREAD)
        return can_log(algorithm, name) and not spread and name.removesuffix("_mean") not in metrics

    return worth_logging(coverage, could)


def beside(log: RunLog, coverage: Coverage) -> Confirmation | None:
    """Return how to put the monitor beside the training of a log that does not come from it; None of one that does.

    Most of what rules wait for is in no trainer's log, whatever it is told to log.
    """
    theirs = logged_by_trainers()
    if not theirs.issuperset(log.metrics):
        return None
    waiting = [s for s in coverage.skipped if s.applies and any(not measured_by(theirs, i) for i in s.unlock_with)]
    recipe = f"{ADAPTERS.get(log.framework, BY_HAND)}: {len(waiting)} rules wait for what only it measures."
    return Confirmation(BESIDE, recipe, evidence="metric") if waiting else None


def looks_of_played(log: RunLog, coverage: Coverage, asked: Collection[Link]) -> list[Confirmation]:
    """Return the looks that a run with episodes calls for; those at links that are `asked` for anyway come last.

    A return that fell after it had risen parts the links in two: what was learned is still good, or it is not. What
    came in mid-run need not be in the code as it begins, so that the monitor comes before the checks of the code.
    """
    fell = any(FELL in sign for sign in coverage.withheld)
    code = [look for look, links in SHOWS if not set(links) <= set(asked)]
    done = [look for look, links in SHOWS if set(links) <= set(asked)]
    put = beside(log, coverage)
    more = [put] if put else []
    early = 0 if fell and not asked else 1 if fell else 2
    return [*([BEFORE_FALL] if fell else []), *code[:early], *more, *code[early:], *done, BASELINE, FINITE]


def confirmations_for(log: RunLog, coverage: Coverage, asked: Collection[Link] = ()) -> tuple[Confirmation, ...]:
    """Return the looks that an undecided run calls for, most to the point first.

    First what the log's own keys speak of, then the general looks: of a run with episodes those that leave the fewest
    links open beside those that are `asked` for anyway, of others from the outside in.
    """
    looks = [look for pattern, look in TOPICS if any(pattern.search(key.lower()) for key in log.unmapped)]
    metrics = log.metrics
    played = "control" in traits_of(log.algorithm) or plays_episodes(metrics)
    if not played and any(FELL in sign for sign in coverage.withheld):
        looks.append(BEFORE_FALL)
    if any(m.startswith("async/") for m in metrics):
        looks += [ZERO_LR, FIXED_BATCH]
    if played:
        looks += looks_of_played(log, coverage, asked)
    if any(m.startswith(("perf/", "system/")) for m in metrics):
        looks.append(TRACE)
    if not played:
        looks += [SAMPLES, BASELINE, TOKENS if "language" in traits_of(log.algorithm) else INVARIANTS]
    return tuple(dict.fromkeys([*looks, REPEATS]))
