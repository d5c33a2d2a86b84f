"""The first score of the fourth list by algorithm, and for the faults that cost more than seeds differ by.

python -m benchmarks.outside.fourth.clear   # after `python -m benchmarks.outside.score --list fourth --first`

The gate of all lists counts a fault whose run ends below every plain one, by however little, and plain runs have two
seeds here. Beside it stands what was written down before the score: the faults that cost more than a tenth of what the
worse plain run has gained. A run that died, or whose evaluation is what it costs, is among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.grpo.showing import table
from benchmarks.outside.asking import TRACKS, Said
from benchmarks.outside.gate import last_return, twins
from benchmarks.outside.plans import FOURTH, Plan
from benchmarks.outside.record import read_manifest
from benchmarks.outside.score import CALM, FIGURES, counted, read_first, right_links, share

TENTH = 0.1
Row = Mapping[str, Any]
Answers = Mapping[str, Mapping[str, Said]]


def clear(plan: Plan, manifest: Sequence[Row]) -> bool:
    """Whether a run with a fault lost more than a tenth of what the worse plain run gained."""
    row = next(row for row in manifest if row["id"] == plan.id)
    if row["died"] or (plan.fault and plan.fault.protocol):
        return True
    worst = min(twins(row, manifest), key=last_return)
    return not last_return(row) > last_return(worst) - TENTH * (last_return(worst) - float(worst["early"][0]))


def line(words: str, faulty: Sequence[Plan], calm: Sequence[Plan], answers: Answers, track: str) -> list[str]:
    """Return one row: right first, another first, nothing said, called healthy; healthy alarmed."""
    said = [(answers[track][plan.id], right_links(plan)) for plan in faulty]
    asked = ("right link first", "another link first", "nothing said", "called healthy")
    cells = [share([FIGURES[name](*one) for one in said]) for name in asked]
    return [words, *cells, share([CALM["alarmed"](answers[track][plan.id], ()) for plan in calm])]


def main() -> None:
    manifest = read_manifest(FOURTH)
    faulty, calm, _ = counted(manifest, FOURTH)
    answers = read_first(listing=FOURTH)
    strong = [plan for plan in faulty if clear(plan, manifest)]
    for track, words in TRACKS.items():
        rows = [
            line("all", faulty, calm, answers, track),
            line("cost more than a tenth", strong, (), answers, track),
            line("from the first step", [plan for plan in strong if not plan.at], (), answers, track),
            line("in mid-run", [plan for plan in strong if plan.at], (), answers, track),
            line("hard negatives", (), [plan for plan in calm if plan.name != "plain"], answers, track),
        ]
        for name in sorted({(plan.base.algorithm, plan.base.trainer == "sb3") for plan in (*faulty, *calm)}):
            mine = [[p for p in side if (p.base.algorithm, p.base.trainer == "sb3") == name] for side in (strong, calm)]
            rows.append(line(f"{name[0]}{' (SB3)' if name[1] else ''}", *mine, answers, track))
        head = ["runs", "right link first", "another first", "nothing said", "called healthy", "healthy alarmed"]
        print(f"{words}\n\n{table(head, rows)}")


if __name__ == "__main__":
    main()
