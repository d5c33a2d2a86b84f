"""Score the runs of unseen.py, third.py ... or eleventh.py once, and keep that: LIST_first.md, for publish.py.

    python benchmarks/live/publish_unseen.py [--list unseen|third|...|eleventh] [--folder FOLDER] [--again FILE]

Beside it lies, from the third list on, LIST_first.json: what was said of every run, for machines to read. The alarms
are those that were raised while the trainings went; from the fifth list on, whose rows were recorded before the
detectors that they score were ready, those that these raise on the rows. A score that is there is not written over;
with `--again` the rules of today are asked about the recorded rows, and the answer goes to another file.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chance import rate_at_most, unbroken, without_first
from eighth import EIGHTH
from eleventh import ELEVENTH
from fifth import FIFTH
from figures import end_of, faults_table, result, share, summary, table
from fourth import FOURTH
from judging import CLOSE, Judged, judge
from ninth import NINTH
from publish import HERE, read, right_links
from rejudge import rejudged
from seventh import SEVENTH
from sixth import SIXTH
from tenth import TENTH
from third import THIRD
from unseen import UNSEEN

OF_ROWS = (FIFTH, SIXTH, SEVENTH, EIGHTH, NINTH, TENTH, ELEVENTH)
LISTS = {known.name: known for known in (UNSEEN, THIRD, FOURTH, *OF_ROWS)}
REPLAYED = tuple(known.name for known in OF_ROWS)
"""Lists whose rows are judged by detectors that were not there yet when they were recorded."""
KEPT = HERE
"""Where first scores are."""


def judged_runs(runs: Sequence[dict[str, Any]], faults: Mapping[str, Mapping[str, Any]]) -> list[Judged]:
    """Judge every run with a fault. A rule that alarms on a twin of the same subject counts for nothing there."""
    noisy: dict[str, set[str]] = {}
    for run in runs:
        if not run["fault"]:
            noisy.setdefault(run["subject"], set()).update(a["name"] for a in run["alarms"])
    return [
        judge(
            run,
            right_links(faults[run["fault"]]),
            noisy.get(run["subject"], set()),
            rejudged(without_first(run, CLOSE)),
        )
        for run in runs
        if run["fault"]
    ]


def missed(judged: Sequence[Judged]) -> str:
    """Every collapse that was not named in time, and every alarm at another link before the right one."""
    lines = [
        f"- {one.fault} in {one.subject}: {end_of(one)}, {result(one)}"
        + (f"; named first: {', '.join(f'`{name}`' for name in sorted(set(one.wrong)))}" if one.wrong else "")
        for one in judged
        if (one.collapsed and not one.in_time) or one.wrong
    ]
    return "\n".join(lines or ["- none"]) + "\n\n"


def alarms_without_a_fault(runs: Sequence[dict[str, Any]], judged: Sequence[Judged]) -> str:
    """Every alarm on a twin, and before a fault."""
    lines = [
        f"- twin of {run['subject']}, seed {run['seed']}, row {a['row']} of {len(run['rows'])}: `{a['name']}` "
        f"({a['severity']}): {a['message']}"
        for run in runs
        if not run["fault"]
        for a in run["alarms"]
    ]
    lines += [f"- {one.subject} before {one.fault}: `{name}`" for one in judged for name in one.early]
    return "\n".join(lines or ["- none"]) + "\n\n"


def by_link(judged: Sequence[Judged], faults: Mapping[str, Mapping[str, Any]]) -> str:
    """Of each link: faults in trainings that had learned something, and how many were named in time."""
    rows = []
    for link in sorted({fault["link"] for fault in faults.values()}):
        of_it = [one for one in judged if faults[one.fault]["link"] == link and one.learned]
        collapses = [one for one in of_it if one.collapsed]
        rows.append((link, *counts(of_it), *counts(collapses)))
    return table(("link of the fault", "faults", "named in time", "of these collapses", "named in time"), rows)


def counts(judged: Sequence[Judged]) -> tuple[int, int]:
    return len(judged), sum(one.in_time for one in judged)


def scored(
    runs: Sequence[dict[str, Any]], judged: Sequence[Judged], faults: Mapping[str, Mapping[str, Any]]
) -> str:  # fmt: skip
    """Return figures and tables."""
    twins = [run for run in runs if not run["fault"]]
    exposure = unbroken(runs)
    learned = [one for one in judged if one.learned]
    found = [one for one in learned if one.in_time]
    rows = [(r["subject"], r["seed"], len(r["rows"]), len(r["alarms"]) or "–") for r in twins]
    return (
        summary(judged, twins, exposure)
        + f"Of all {len(learned)} faults in trainings that had learned something, whatever they end in, {len(found)} "
        f"({share(len(found), len(learned))}) were named at a right link in time.\n\n"
        + by_link(judged, faults)
        + "### Missed, late, or another link first\n\n"
        + missed(judged)
        + "### Alarms where nothing was broken\n\n"
        + alarms_without_a_fault(runs, judged)
        + "### Every unseen run\n\n"
        + faults_table(judged, rate_at_most(*exposure))
        + "### Twins of the unseen runs\n\n"
        + table(("trainer", "seed", "rows", "alarms"), rows)
    )


def as_data(one: Judged) -> dict[str, Any]:
    """Return what was said of one run; a step that never came is None."""
    return {
        "subject": one.subject, "fault": one.fault, "seed": one.seed, "ends_in": end_of(one), "result": result(one),
        "began": one.began, "lost_at": None if math.isnan(one.lost_at) else one.lost_at,
        "alarm": None if one.alarm is None else {key: one.alarm[key] for key in ("name", "link", "at", "severity")},
        "confirmed": one.confirmed, "other_links_first": sorted(set(one.wrong)), "before_the_fault": list(one.early),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=sorted(LISTS), default=UNSEEN.name)
    parser.add_argument("--folder", type=Path, help="the recorded runs of the list by default")
    parser.add_argument("--again", type=Path)
    args = parser.parse_args()
    first = KEPT / f"{args.list}_first.md"
    if not args.again and first.exists():
        raise SystemExit(f"{first} is there: the first score stays. For the rules of today use --again FILE.")
    runs = read(args.folder or HERE / args.list)
    if args.again or args.list in REPLAYED:
        runs = [{**run, "alarms": rejudged(run)} for run in runs]
    faults = LISTS[args.list].faults()
    judged = judged_runs(runs, faults)
    text = scored(runs, judged, faults)
    if args.again:
        args.again.write_text(text, "utf-8")
    else:
        first.write_text((HERE / f"{args.list}_head.md").read_text("utf-8") + text, "utf-8")
        rows = [as_data(one) for one in sorted(judged, key=lambda one: (one.subject, one.fault))]
        first.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(text)


if __name__ == "__main__":
    main()
