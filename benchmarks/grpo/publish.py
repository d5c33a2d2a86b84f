"""Judge the recorded runs and write docs/grpo_results.md.

python -m benchmarks.grpo.publish               # judge with the rules as they are, and write the page
python -m benchmarks.grpo.publish --first-look  # add the answers on new runs to first_look.json, and no page: for
                                                # the rules as they were before any was mended
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grpo.campaign import HERE, plans, read
from benchmarks.grpo.judging import (
    LOST,
    REFERENCE,
    TRACKS,
    Answer,
    ask,
    cost,
    is_alarmed,
    is_right,
    read_run,
    references,
)
from benchmarks.grpo.showing import Answers, marks, read_answers, share, table, write_answers
from benchmarks.grpo.unseen_publish import FIRST as UNSEEN
from benchmarks.grpo.unseen_publish import FOURTH, PAGE, SECOND, THIRD, section

FIRST = HERE / "first_look.json"


def judge_all(runs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Answer]]:
    """Diagnose every run on every track."""
    judged = [run for run in runs if run["kind"] != REFERENCE]
    given = {run["id"]: references(run, runs) for run in judged}
    found = {track: {run["id"]: ask(run, track) for run in judged} for track in ("log", "callback")}
    return {**found, "given": {run["id"]: ask(run, "given", given[run["id"]]) for run in judged}}


class Page:
    """What is shown: runs, the truth of the faults, and the answers before and after rules were mended."""

    def __init__(
        self, runs: Sequence[dict[str, Any]], halves: Mapping[str, str], before: Answers, now: Answers
    ) -> None:
        self.runs, self.halves, self.before, self.now = runs, halves, before, now
        self.faults = {fault["id"]: fault for fault in read("faults")}
        self.broken = [run for run in runs if run["fault"]]
        self.healthy = [run for run in runs if not run["fault"] and run["kind"] != REFERENCE]
        self.cost = {run["id"]: cost(run, runs) for run in self.broken}

    def right(self, run: Mapping[str, Any]) -> list[str]:
        fault = self.faults[run["fault"]]
        return [fault["link"], *fault.get("also_right", [])]

    def figures(self, answers: Mapping[str, Answer], wanted: Callable[[Mapping[str, Any]], bool]) -> list[str]:
        """Return right link first, right within two, and alarms on healthy runs."""
        broken = [run for run in self.broken if wanted(run) and run["id"] in answers]
        healthy = [run for run in self.healthy if wanted(run) and run["id"] in answers]
        return [
            share(sum(is_right(answers[run["id"]], self.right(run), within) for run in broken), len(broken))
            for within in (1, 2)
        ] + [share(sum(is_alarmed(answers[run["id"]]) for run in healthy), len(healthy))]

    def costly(self, run: Mapping[str, Any]) -> bool:
        """Whether the fault took its share of the true score; always true of a healthy run."""
        return not run["fault"] or not self.cost[run["id"]] < LOST

    def summary(self) -> str:
        rows = []
        for track, words in TRACKS.items():
            for when, answers in self.looks(track):
                for name, wanted in (
                    ("all", lambda run: True),
                    ("dev half", lambda run: self.halves[run["id"]] == "dev"),
                    ("held half", lambda run: self.halves[run["id"]] == "held"),
                    ("all that cost true score", self.costly),
                ):
                    rows.append((words, when, name, *self.figures(answers, wanted)))
        return table(("log", "rules", "runs", "right link first", "within two", "alarm on a healthy run"), rows)

    def looks(self, track: str) -> list[tuple[str, Mapping[str, Answer]]]:
        """Return the answers on a track before and after rules were mended; the last track came later."""
        before = [("first look", self.before[track])] if self.before.get(track) else []
        return [*before, ("now", self.now[track])]

    def per_fault(self) -> str:
        rows = []
        for fault in self.faults.values():
            mine = [run for run in self.broken if run["fault"] == fault["id"]]
            if not mine:
                continue
            also = "".join(f", {link}" for link in fault.get("also_right", []))
            shown = [self.now["callback"][run["id"]].shown for run in mine]
            rows.append(
                (
                    fault["id"], fault["link"] + also, self.halves[mine[0]["id"]],
                    ", ".join(f"{self.cost[run['id']]:.0%}" for run in mine),
                    *(self.marks(answers, mine) for track in TRACKS for _, answers in self.looks(track)),
                    ", ".join(dict.fromkeys(f"`{name}`" if name else "–" for name in shown)),
                )
            )  # fmt: skip
        looks = [f"{track}, {when}" for track in TRACKS for when, _ in self.looks(track)]
        head = ("fault", "right links", "half", "true score lost", *looks, "what is shown first with the callback")
        return table(head, rows)

    def marks(self, answers: Mapping[str, Answer], runs: Sequence[Mapping[str, Any]]) -> str:
        """Return one mark a run of one fault."""
        return marks(answers, runs, self.right(runs[0]))

    def per_kind(self) -> str:
        rows = []
        for kind in dict.fromkeys(run["kind"] for run in self.healthy):
            mine = [run["id"] for run in self.healthy if run["kind"] == kind]
            first = sum(is_alarmed(self.before["log"][name]) for name in mine if name in self.before["log"])
            alarms = [sum(is_alarmed(self.now[track][name]) for name in mine) for track in TRACKS]
            named = dict.fromkeys(f"`{a}`" for track in TRACKS for name in mine for a in self.now[track][name].alarms)
            healthy = [self.now["callback"][name].verdict for name in mine].count("healthy")
            rows.append((kind, len(mine), first, *alarms, ", ".join(named) or "–", healthy))
        head = ("kind", "runs", "log, first look", *(f"{track}, now" for track in TRACKS), "by", "called healthy")
        return table(head, rows)


def page(shown: Page) -> str:
    """Return the text of the page."""
    free = [
        fault
        for fault in dict.fromkeys(run["fault"] for run in shown.broken)
        if all(shown.cost[run["id"]] < LOST for run in shown.broken if run["fault"] == fault)
    ]
    spent = [run["cpu_s"] for run in shown.runs]
    given = sum(run["kind"] == REFERENCE for run in shown.runs)
    head = (HERE / "results_head.md").read_text("utf-8")
    sizes = (
        f"{len(shown.broken)} runs with one of {len({r['fault'] for r in shown.broken})} faults, "
        f"{sum(bool(r['start_step']) for r in shown.broken)} of them switched on mid-run, {len(shown.healthy)} well "
        f"runs, {given} healthy ones to be given with others; {np.mean(spent):.0f} CPU s a run, "
        f"{sum(spent) / 60:.0f} minutes in all. The plan holds {len(plans())} runs; `campaign` makes those "
        "that lack.\n\n"
    )
    harmless = (
        f"A fault counts as costly where it takes {LOST:.0%} or more of what healthy companions gain in true score. In "
        f"no run did these: {', '.join(free) or 'none'}. They are counted all the same.\n\n"
    )
    return (
        head + sizes + "## Figures\n\n" + shown.summary() + "## Every fault\n\nOne mark a seed: 1 right link first, "
        "2 within two, x other links only, – nothing said. " + harmless + shown.per_fault() + "## Healthy runs\n\n"
        "Runs with an alarm, which is anything at warning or above.\n\n" + shown.per_kind()
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=HERE / "runs")
    parser.add_argument("--first-look", action="store_true")
    args = parser.parse_args()
    manifest = json.loads((args.folder / "manifest.json").read_text("utf-8"))
    runs = [read_run(args.folder / row["file"]) for row in manifest]
    if args.first_look:
        known = read_answers(FIRST) if FIRST.exists() else {}
        fresh = judge_all(runs)
        write_answers({track: {**fresh[track], **known.get(track, {})} for track in TRACKS}, FIRST)
        return
    answers = judge_all(runs)
    shown = Page(runs, {row["id"]: row["half"] for row in manifest}, read_answers(FIRST), answers)
    PAGE.write_text(page(shown) + "\n".join(map(section, (UNSEEN, SECOND, THIRD, FOURTH))), "utf-8")
    print(shown.summary())


if __name__ == "__main__":
    main()
