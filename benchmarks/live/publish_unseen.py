"""Score the runs of unseen.py once, and keep what comes out: benchmarks/live/unseen_first.md, which publish.py appends.

    python benchmarks/live/publish_unseen.py [--folder FOLDER] [--again FILE]

The alarms are those that were raised while the trainings went. A score that is there is not written over; with
`--again` the rules of today are asked about the recorded rows, and the answer goes to another file.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from chance import rate_at_most, unbroken, without_first
from figures import end_of, faults_table, result, share, summary, table
from judging import CLOSE, Judged, judge
from publish import UNSEEN, read, right_links
from rejudge import rejudged

HERE = Path(__file__).resolve().parent
FIRST = (HERE / "unseen_head.md").read_text("utf-8")


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


def scored(runs: Sequence[dict[str, Any]]) -> str:
    """Return figures and tables."""
    faults = {f["id"]: f for f in tomllib.loads((HERE / "unseen.toml").read_text("utf-8"))["fault"]}
    judged = judged_runs(runs, faults)
    twins = [run for run in runs if not run["fault"]]
    exposure = unbroken(runs)
    learned = [one for one in judged if one.learned]
    found = [one for one in learned if one.in_time]
    rows = [(r["subject"], r["seed"], len(r["rows"]), len(r["alarms"]) or "–") for r in twins]
    return (
        summary(judged, twins, exposure)
        + f"Of all {len(learned)} faults in trainings that had learned something, whatever they end in, {len(found)} "
        f"({share(len(found), len(learned))}) were named at a right link in time.\n\n"
        + "### Missed, late, or another link first\n\n"
        + missed(judged)
        + "### Alarms where nothing was broken\n\n"
        + alarms_without_a_fault(runs, judged)
        + "### Every unseen run\n\n"
        + faults_table(judged, rate_at_most(*exposure))
        + "### Twins of the unseen runs\n\n"
        + table(("trainer", "seed", "rows", "alarms"), rows)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=HERE / "unseen")
    parser.add_argument("--again", type=Path)
    args = parser.parse_args()
    runs = read(args.folder)
    if args.again:
        runs = [{**run, "alarms": rejudged(run)} for run in runs]
    elif UNSEEN.exists():
        raise SystemExit(f"{UNSEEN} is there: the first score stays. For the rules of today use --again FILE.")
    text = scored(runs)
    (args.again or UNSEEN).write_text(text if args.again else FIRST + text, "utf-8")
    print(text)


if __name__ == "__main__":
    main()
