"""The figures and tables that `publish.py` makes of judged runs, each with what it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from chance import probability, rate_at_most
from judging import CLOSE, COLLAPSED, LOST, Judged

CHANCE = 0.05
"""Probability, at the upper end of the rate of alarms on what is unbroken, below which one is not laid to chance."""


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n" for line in lines) + "\n"


def result(one: Judged) -> str:
    return "in time" if one.in_time else "late" if one.alarm is not None else "missed"


def end_of(one: Judged) -> str:
    if one.died:
        return "death"
    return "collapse" if one.collapsed else "no collapse" if one.learned else "not learned before"


def named(alarm: Mapping[str, Any] | None, began: float) -> str:
    return "–" if alarm is None else f"`{alarm['name']}` +{alarm['at'] - began:.0f}"


def faults_table(judged: Sequence[Judged], rate: float) -> str:
    rows = [
        (
            one.subject,
            one.fault,
            end_of(one),
            result(one),
            named(one.alarm, one.began),
            "–" if np.isnan(one.lost_at) else f"+{one.lost_at - one.began:.0f}",
            "–" if one.alarm is None else f"{100 * probability(rate, one.rows_to_alarm):.2g} %",
            named(one.again, one.began) if one.slow else "over by then",
            ", ".join(sorted({f"`{name}`" for name in one.wrong})) or "–",
        )
        for one in sorted(judged, key=lambda one: (one.subject, one.fault))
    ]
    head = (
        "trainer",
        "fault",
        "ends in",
        "alarm",
        "first right alarm, steps after",
        "a fifth lost",
        "by chance at most",
        f"without the first {CLOSE:.0%}",
        "other links first",
    )
    return table(head, rows)


def summary(judged: Sequence[Judged], twins: Sequence[dict[str, Any]], exposure: tuple[int, int]) -> str:
    """What is claimed, each figure with what it counts."""
    collapses = [one for one in judged if one.collapsed]
    in_time, slow = [one for one in collapses if one.in_time], [one for one in collapses if one.slow]
    leads = [one.lead for one in in_time]
    ticks, raised = sum(len(run["rows"]) for run in twins), sum(len(run["alarms"]) for run in twins)
    alarmed, before = [run for run in twins if run["alarms"]], [one for one in judged if one.early]
    lead = np.nanmedian(leads) if leads else float("nan")
    lines = [
        f"- **{len(in_time)} of {len(collapses)} faults that end in collapse ({share(len(in_time), len(collapses))}) "
        f"raised an alarm at a right link before the return had lost {LOST:.0%} of its gain.** Median lead: {lead:.0f} "
        "environment steps.",
        *strictly(collapses, in_time, slow, exposure),
        f"- {len(judged) - len(collapses)} further runs did not collapse (more than {1 - COLLAPSED:.0%} of the "
        "gain was kept), or had learned nothing by the time of the fault.",
        f"- **{len(alarmed)} of {len(twins)} unbroken twins alarmed at any row; {1000 * raised / max(1, ticks):.2f} "
        f"alarms per 1,000 rows** ({ticks} rows). Before their fault {len(before)} of {len(judged)} runs alarmed.",
    ]
    return "\n".join(lines) + "\n\n"


def strictly(
    collapses: Sequence[Judged], in_time: Sequence[Judged], slow: Sequence[Judged], exposure: tuple[int, int]
) -> list[str]:
    """The same under each reading of "an alarm that could be chance does not count"."""
    rate = rate_at_most(*exposure)
    likely = [one for one in in_time if probability(rate, one.rows_to_alarm) > CHANCE]
    expected = sum(probability(rate, one.rows_to_alarm) for one in in_time)
    confirmed, first = [one for one in slow if one.confirmed], [one for one in in_time if one.strict]
    named_in_time, all_of_them = len(in_time), len(collapses)
    counted, over = named_in_time - len(likely), all_of_them - len(slow)
    return [
        f"- *By the rate of alarms on what is unbroken:* {exposure[0]} alarms in {exposure[1]} rows (twins, and all "
        f"runs before their fault), so at most {1000 * rate:.3f} per 1,000 rows (95 %). At that rate chance has more "
        f"than {CHANCE:.0%} in {len(likely)} of the {named_in_time} runs named in time; of all of them together it "
        f"would name {expected:.2f}. So {counted} of {all_of_them} ({share(counted, all_of_them)}) count.",
        f"- *By what is said without the first {CLOSE:.0%}:* the rows of the first {CLOSE:.0%} of the run after the "
        "fault are kept from the monitor, and it must name a right link from what comes later alone, still before a "
        f"fifth is lost. In {over} of the {all_of_them} collapses a fifth is lost within that time, so that nothing "
        f"could. Of the other {len(slow)}, {len(confirmed)} ({share(len(confirmed), len(slow))}) are named so; of all "
        f"{all_of_them}, {share(len(confirmed), all_of_them)}.",
        f"- *By the time of the first alarm:* {len(first)} of the {named_in_time} came later than {CLOSE:.0%} of the "
        "run after the fault; a monitor that is quicker has fewer of these.",
    ]


def share(part: int, whole: int) -> str:
    return f"{part / max(1, whole):.0%}"
