"""What was looked at and what was not: "could not look" is never shown as "healthy"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .diagnosis import Coverage, Sight, Skipped
from .engine import Ending, Outcome
from .finding import Link, Severity
from .runlog import RunLog
from .vocabulary import algorithms

EVALUATED, EVALUATION_LOOKS = (
    "reward/eval_mean",
    (
        "eval/prompts_trained_frac",
        "eval/unlike_policy_z",
        "eval/weights_off_frac",
        "eval/scored_otherwise_frac",
    ),
)
"""Of a language model's run: that it was evaluated, and what the monitor's callback for TRL looks at then."""
MIN_ROWS = 8
"""Rows under which no run is called healthy: two stretches of four are the least that can be compared."""


def cover(log: RunLog, outcomes: Sequence[Outcome]) -> Coverage:
    """Summarise how far the rules could look at `log`."""
    looked = {Ending.FIRED, Ending.CLEAR}
    skipped = tuple(
        Skipped(o.rule.code, o.rule.name, o.reason, o.unlock_with, applies(o), o.rule.link)
        for o in outcomes
        if o.status is Ending.SKIPPED
    )
    applicable = [o for o in outcomes if applies(o)]
    links: dict[Link, Sight] = {}
    rules: dict[Link, tuple[int, int]] = {}
    for link in Link:
        mine = [o for o in applicable if o.rule.link is link]
        seen = sum(o.status in looked for o in mine)
        rules[link] = seen, len(mine)
        links[link] = Sight.BLIND if seen == 0 else Sight.LOOKED if seen == len(mine) else Sight.PARTIAL
    wanted = Counter(item for s in skipped if s.applies for item in s.unlock_with)
    failed = tuple(
        link
        for link in Link
        if any(
            f.severity is Severity.ERROR and not f.ignored for o in outcomes if o.rule.link is link for f in o.findings
        )
    )
    withheld = tuple(o.reason for o in outcomes if o.withholds)
    return Coverage(
        links=links,
        rules=rules,
        looked=sum(o.status in looked for o in outcomes),
        applicable=len(applicable),
        skipped=skipped,
        errors=tuple((o.rule.name, o.reason) for o in outcomes if o.status is Ending.ERROR),
        unlock=tuple(sorted(wanted.items(), key=lambda item: (-item[1], item[0]))),
        profile_missing=missing_profile(log) + unlooked(log, outcomes) + unseen_evaluation(log) + withheld,
        withheld=withheld,
        failed=failed,
    )


def applies(outcome: Outcome) -> bool:
    """Whether a rule concerns the run at all."""
    return not (outcome.status is Ending.SKIPPED and outcome.reason.startswith("does not apply"))


def missing_profile(log: RunLog) -> tuple[str, ...]:
    """What the algorithm's minimum profile lacks in this log; an unknown algorithm lacks its name."""
    algorithm = algorithms().get(log.algorithm)
    if algorithm is None:
        return ("the algorithm (name it with --algorithm)",)
    lengths: dict[str, int] = {}
    for series in log.series:
        lengths[series.metric] = max(len(series), lengths.get(series.metric, 0))
    rows = max(lengths.values(), default=0)
    missing: list[str] = []
    for group in algorithm.profile:
        points = max((lengths.get(metric, 0) for metric in group), default=0)
        if points == 0:
            missing.append(" or ".join(group))
        elif points < MIN_ROWS <= rows:
            shown = next(metric for metric in group if lengths.get(metric, 0) == points)
            missing.append(f"at least {MIN_ROWS} points of {shown} (has {points})")
    if rows < MIN_ROWS:
        missing.append(f"at least {MIN_ROWS} logged rows (has {rows})")
    return tuple(missing)


def unlooked(log: RunLog, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """The metrics of a full profile that no rule looked at."""
    looked = {m for o in outcomes if o.status in (Ending.FIRED, Ending.CLEAR) for m in o.rule.metrics}
    algorithm = algorithms().get(log.algorithm)
    have = set(log.metrics)
    groups = [have & set(group) for group in algorithm.profile] if algorithm is not None else []
    return tuple(f"{min(group)} (logged, but no rule looked at it)" for group in groups if group and not group & looked)


def unseen_evaluation(log: RunLog) -> tuple[str, ...]:
    """What a TRL run with evaluations lacks where nobody looked at those.

    A score of held-out prompts says nothing where the prompts are trained on, other weights draw or another scorer
    judges, and no curve tells.
    """
    have = set(log.metrics)
    if log.framework != "trl" or EVALUATED not in have or have & set(EVALUATION_LOOKS):
        return ()
    return (f"{EVALUATION_LOOKS[0]} (what the evaluation asks, with which weights: watch(trainer, monitor))",)
