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
BLIND = ("unseen", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh")
"""Lists that were scored once: what was seen the first time is in LIST_first.md (`publish_unseen.py`), as it was and
never anew; what was seen and mended since, no longer blind, in LIST_after.md."""
HEALTHY = HERE / "healthy_draw.md"
"""How often healthy trainings that a hash drew alarm (`healthy.py`)."""
LATER = (*(HERE / f"{name}_{part}.md" for name in BLIND for part in ("first", "after")), HEALTHY)
"""What follows the first campaign on the page, as far as it is there."""


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
