"""Write docs/monitor_results.md from the runs of campaign.py.

python benchmarks/live/publish.py [--folder FOLDER] --rejudge

Without a folder the runs that come with the repository are judged (benchmarks/live/runs, 3.3 MB).
"""

from __future__ import annotations

import argparse
import json
import lzma
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chance import rate_at_most, unbroken, without_first
from figures import faults_table, summary, table
from judging import CLOSE, judge
from rejudge import rejudged

HERE = Path(__file__).resolve().parent
HEAD = (HERE / "results_head.md").read_text("utf-8")
UNSEEN = HERE / "unseen_first.md"
"""What was seen the first time on faults that nobody had seen (`publish_unseen.py`): as it was, and never anew."""
AFTER = HERE / "unseen_after.md"
"""What was mended since, and what came of it: not blind."""
THIRD = HERE / "third_first.md"
"""The same as `UNSEEN`, of the third list."""
THIRD_AFTER = HERE / "third_after.md"
"""What the author of that list saw when it had been scored."""
FOURTH = HERE / "fourth_first.md"
"""The same as `UNSEEN`, of the fourth list."""
FOURTH_AFTER = HERE / "fourth_after.md"
"""What its author saw when it had been scored."""
FIFTH = HERE / "fifth_first.md"
"""The same as `UNSEEN`, of the fifth list."""
FIFTH_AFTER = HERE / "fifth_after.md"
"""What its author saw when it had been scored."""
SIXTH = HERE / "sixth_first.md"
"""The same as `UNSEEN`, of the sixth list."""
SIXTH_AFTER = HERE / "sixth_after.md"
"""What its author saw when it had been scored."""
SEVENTH = HERE / "seventh_first.md"
"""The same as `UNSEEN`, of the seventh list."""
SEVENTH_AFTER = HERE / "seventh_after.md"
"""What its author saw when it had been scored."""
EIGHTH = HERE / "eighth_first.md"
"""The same as `UNSEEN`, of the eighth list."""
EIGHTH_AFTER = HERE / "eighth_after.md"
"""What its author saw when it had been scored."""
NINTH = HERE / "ninth_first.md"
"""The same as `UNSEEN`, of the ninth list."""
HEALTHY = HERE / "healthy_draw.md"
"""How often healthy trainings that a hash drew alarm (`healthy.py`)."""
LATER = (
    UNSEEN, AFTER, THIRD, THIRD_AFTER, FOURTH, FOURTH_AFTER, FIFTH, FIFTH_AFTER, SIXTH, SIXTH_AFTER, SEVENTH,
    SEVENTH_AFTER, EIGHTH, EIGHTH_AFTER, NINTH, HEALTHY,
)  # fmt: skip
"""What follows the first campaign on the page."""


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the runs in `folder`, compressed or not."""
    plain = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return plain + [json.loads(lzma.decompress(path.read_bytes())) for path in sorted(folder.glob("*.json.xz"))]


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
    again: dict[int, list[dict[str, Any]]] = {}
    for place, run in enumerate(runs):
        if args.rejudge:
            run["alarms"] = rejudged(run)
        if run["fault"]:
            again[place] = rejudged(without_first(run, CLOSE))
    twins = [run for run in runs if not run["fault"]]
    noisy = {subject: {a["name"] for r in twins if r["subject"] == subject for a in r["alarms"]} for subject in
             {r["subject"] for r in runs}}  # fmt: skip
    judged = [
        judge(run, right_links(faults[run["fault"]]), noisy[run["subject"]], again[place])
        for place, run in enumerate(runs)
        if run["fault"]
    ]
    exposure = unbroken(runs)
    text = HEAD + summary(judged, twins, exposure) + "## Every run\n\n" + faults_table(judged, rate_at_most(*exposure))
    rows = [
        (r["subject"], r["seed"], len(r["rows"]), ", ".join(f"`{a['name']}`" for a in r["alarms"]) or "–")
        for r in twins
    ]
    text += "## Unbroken twins\n\n" + table(("trainer", "seed", "rows", "alarms"), rows)
    text += "".join(page.read_text("utf-8") for page in LATER if page.exists())
    args.to.write_text(text, "utf-8")
    print(summary(judged, twins, exposure))


def right_links(fault: Mapping[str, Any]) -> set[str]:
    return {fault["link"], *fault.get("also_right", ())}


if __name__ == "__main__":
    main()
