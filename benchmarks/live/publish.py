"""Write docs/monitor_results.md from the runs of campaign.py.

python benchmarks/live/publish.py [--folder FOLDER] --rejudge

Without a folder the runs that come with the repository are judged (benchmarks/live/runs, 3.3 MB).
"""

from __future__ import annotations

import argparse
import json
import lzma
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from judging import CLOSE, COLLAPSED, LOST, Judged, judge
from rejudge import rejudged

HERE = Path(__file__).resolve().parent
RULE_OF_THREE = 3.0
"""Over the number of rows without any alarm: upper end of the 95 % interval of their rate (Hanley and Lippman-Hand
1983, JAMA 249)."""
CHANCE = 0.05
"""Probability, at the upper end of the rate of alarms on twins, below which an alarm is not laid to chance."""
HEAD = (HERE / "results_head.md").read_text("utf-8")


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the runs in `folder`, compressed or not."""
    plain = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return plain + [json.loads(lzma.decompress(path.read_bytes())) for path in sorted(folder.glob("*.json.xz"))]


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(str(c).replace("|", "\\|") for c in line) + " |\n" for line in lines) + "\n"


def result(one: Judged) -> str:
    if one.in_time:
        return "in time" if one.strict else "in time, at once"
    return "late" if one.alarm is not None else "missed"


def faults_table(judged: Sequence[Judged]) -> str:
    rows = [
        (
            one.subject,
            one.fault,
            "death"
            if one.died
            else "collapse"
            if one.collapsed
            else "not learned before"
            if not one.learned
            else "no collapse",
            result(one),
            "–" if one.alarm is None else f"`{one.alarm['name']}` +{one.alarm['at'] - one.began:.0f}",
            "–" if np.isnan(one.lost_at) else f"+{one.lost_at - one.began:.0f}",
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
        "other links first",
    )
    return table(head, rows)


def summary(judged: Sequence[Judged], twins: Sequence[dict[str, Any]]) -> str:
    collapses = [one for one in judged if one.collapsed]
    in_time, strict = [one for one in collapses if one.in_time], [one for one in collapses if one.strict]
    leads = [one.lead for one in in_time]
    ticks = sum(len(run["rows"]) for run in twins)
    alarmed = [run for run in twins if run["alarms"]]
    raised = sum(len(run["alarms"]) for run in twins)
    before = [one for one in judged if one.early]
    close = [one for one in in_time if not one.strict]
    by_chance = sum(one.rows_to_alarm for one in close) * RULE_OF_THREE / max(1, ticks)
    sudden = [one for one in collapses if one.lost_at - one.began <= CLOSE * one.length]
    slow = [one for one in collapses if one not in sudden]
    likely = [one for one in in_time if one.rows_to_alarm * RULE_OF_THREE / max(1, ticks) > CHANCE]
    share = f"{len(in_time) / max(1, len(collapses)):.0%}"
    lead = np.nanmedian(leads) if leads else float("nan")
    rate = 1000 * raised / max(1, ticks)
    lines = [
        f"- **{len(in_time)} of {len(collapses)} faults that end in collapse ({share}) raised an alarm at a right link "
        f"before the return had lost {LOST:.0%} of its gain**; {len(strict)} of them more than {CLOSE:.0%} of the run "
        f"after the fault began. Median lead: {lead:.0f} environment steps.",
        f"- The other {len(close)} came within {CLOSE:.0%}. Were alarms as frequent as twins allow (at most "
        f"{1000 * RULE_OF_THREE / max(1, ticks):.2f} per 1,000 rows, 95 %), {by_chance:.2f} of them would be by chance."
        if not raised
        else f"- The other {len(close)} came within {CLOSE:.0%} and may be chance.",
        f"- In {len(sudden)} of the {len(collapses)} collapses a fifth was gone within {CLOSE:.0%} of the run: alarms "
        f"after that come too late. Of the other {len(slow)}, {sum(one.strict for one in slow)} were named in "
        f"time and later than {CLOSE:.0%}. {len(in_time) - len(likely)} of the {len(in_time)} alarms in time came so "
        f"soon, or twins alarm so seldom, that chance has less than {CHANCE:.0%}.",
        f"- {len(judged) - len(collapses)} further runs did not collapse (more than {1 - COLLAPSED:.0%} of the "
        "gain was kept), or had learned nothing by the time of the fault.",
        f"- **{len(alarmed)} of {len(twins)} unbroken twins alarmed at any row; {rate:.2f} alarms per 1,000 rows** "
        f"({ticks} rows). Before their fault {len(before)} of {len(judged)} runs alarmed.",
    ]
    return "\n".join(lines) + "\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder", type=Path, default=HERE / "runs", help="of campaign.py; the recorded runs by default"
    )
    parser.add_argument("--to", type=Path, default=HERE.parents[1] / "docs" / "monitor_results.md")
    parser.add_argument("--rejudge", action="store_true")
    args = parser.parse_args()
    faults = {f["id"]: f for f in tomllib.loads((HERE / "faults.toml").read_text("utf-8"))["fault"]}
    runs = read(args.folder)
    if args.rejudge:
        for run in runs:
            run["alarms"] = rejudged(run)
    twins = [run for run in runs if not run["fault"]]
    noisy = {subject: {a["name"] for r in twins if r["subject"] == subject for a in r["alarms"]} for subject in
             {r["subject"] for r in runs}}  # fmt: skip
    judged = [
        judge(run, {faults[run["fault"]]["link"], *faults[run["fault"]].get("also_right", ())}, noisy[run["subject"]])
        for run in runs
        if run["fault"]
    ]
    text = HEAD + summary(judged, twins) + "## Every run\n\n" + faults_table(judged)
    rows = [
        (r["subject"], r["seed"], len(r["rows"]), ", ".join(f"`{a['name']}`" for a in r["alarms"]) or "–")
        for r in twins
    ]
    text += "## Unbroken twins\n\n" + table(("trainer", "seed", "rows", "alarms"), rows)
    args.to.write_text(text, "utf-8")
    print(summary(judged, twins))


if __name__ == "__main__":
    main()
