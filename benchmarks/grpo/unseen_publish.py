"""The part of docs/grpo_results.md on faults that nobody had seen.

python -m benchmarks.grpo.unseen_publish --first-score  # once: judge, and keep the answers in unseen_first_score.json
python -m benchmarks.grpo.publish                       # judge anew with the rules as they are, and write the page
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.grpo.campaign import HERE, read
from benchmarks.grpo.judging import REFERENCE, TRACKS, Answer, ask, is_alarmed, is_right, log_of, read_run
from benchmarks.grpo.showing import Answers, marks, read_answers, share, table, write_answers

RUNS = HERE / "unseen_runs"
FIRST_SCORE = HERE / "unseen_first_score.json"
COMPANIONS = 4
"""Healthy runs that are given on the last track, of the same task and settings."""


def read_unseen(folder: Path = RUNS) -> list[dict[str, Any]]:
    """Return the records that are there."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    return [read_run(folder / row["file"]) for row in manifest]


def judge(runs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Answer]]:
    """Diagnose every run on every track."""
    judged = [run for run in runs if run["kind"] != REFERENCE]
    found = {track: {run["id"]: ask(run, track) for run in judged} for track in ("log", "callback")}
    good = [run for run in runs if run["kind"] == REFERENCE]
    logs: dict[tuple[str, str], list[Any]] = {}
    for run in good:
        logs.setdefault((run["task"], run["needs"]), []).append(log_of(run, "given"))
    given = {run["id"]: ask(run, "given", logs.get((run["task"], run["needs"]), [])) for run in judged}
    return {**found, "given": given}


def right_links(faults: Mapping[str, Mapping[str, Any]], run: Mapping[str, Any]) -> list[str]:
    """Return the links that are counted as right."""
    fault = faults[run["fault"]]
    return [fault["link"], *fault.get("also_right", [])]


def summary(runs: Sequence[Mapping[str, Any]], scores: Sequence[tuple[str, Answers]]) -> str:
    """Return right links first, within two, runs of which only other links were named, and alarms, by track."""
    faults = {fault["id"]: fault for fault in read("unseen_faults")}
    broken = [run for run in runs if run["fault"]]
    healthy = [run["id"] for run in runs if not run["fault"] and run["kind"] != REFERENCE]
    rows: list[Sequence[Any]] = []
    for track, words in TRACKS.items():
        for when, answers in scores:
            said = [(answers[track][run["id"]], right_links(faults, run)) for run in broken]
            rows.append(
                (
                    words, when, *(share(sum(is_right(a, right, n) for a, right in said), len(said)) for n in (1, 2)),
                    share(sum(not a.links for a, _ in said), len(said)),
                    share(sum(bool(a.links) and not is_right(a, right, 1) for a, right in said), len(said)),
                    share(sum(is_alarmed(answers[track][name]) for name in healthy), len(healthy)),
                )
            )  # fmt: skip
    head = ("log", "score", "right link first", "within two", "nothing said", "another link first", "alarm on a healthy run")  # fmt: skip # noqa: E501
    return table(head, rows)


def per_fault(runs: Sequence[Mapping[str, Any]], first: Answers, now: Answers) -> str:
    """Return one row a fault: what was said at the first score, and now."""
    rows: list[Sequence[Any]] = []
    for fault in read("unseen_faults"):
        mine = [run for run in runs if run["fault"] == fault["id"]]
        if not mine:
            continue
        right = [fault["link"], *fault.get("also_right", [])]
        shown = [[answers["callback"][run["id"]].shown for run in mine] for answers in (first, now)]
        rows.append(
            (
                fault["id"], fault["what"], ", ".join(right),
                ", ".join("start" if not run["start_step"] else str(run["start_step"]) for run in mine),
                *(marks(answers[track], mine, right) for answers in (first, now) for track in TRACKS),
                *(", ".join(dict.fromkeys(f"`{name}`" if name else "–" for name in names)) for names in shown),
            )
        )  # fmt: skip
    looks = [f"{track}, {when}" for when in ("first score", "now") for track in TRACKS]
    head = ("fault", "what", "right links", "begins at", *looks, "shown first with the callback, first score", "now")
    return table(head, rows)


def misses(runs: Sequence[Mapping[str, Any]], score: Answers) -> str:
    """Return every run of the callback's track whose first link is not right, and what was said of it."""
    faults = {fault["id"]: fault for fault in read("unseen_faults")}
    rows = [
        (
            run["id"].removeprefix("trl_grpo/"), ", ".join(right_links(faults, run)), said.verdict,
            ", ".join(said.links) or "–", ", ".join(f"`{name}`" for name in said.alarms) or "–",
        )
        for run in runs
        if run["fault"]
        for said in (score["callback"][run["id"]],)
        if not is_right(said, right_links(faults, run), 1)
    ]  # fmt: skip
    return table(("run", "right links", "verdict", "links named", "alarms"), rows)


def alarms(runs: Sequence[Mapping[str, Any]], first: Answers, now: Answers) -> str:
    """Return every kind of healthy run with its alarms by name."""
    rows: list[Sequence[Any]] = []
    healthy = [run for run in runs if not run["fault"] and run["kind"] != REFERENCE]
    for kind in dict.fromkeys(run["kind"] for run in healthy):
        mine = [run["id"] for run in healthy if run["kind"] == kind]
        cells: list[Any] = []
        for answers in (first, now):
            cells += [sum(is_alarmed(answers[track][name]) for name in mine) for track in TRACKS]
            named = [
                f"{name.removeprefix('trl_grpo/')} on {track}: {', '.join(answers[track][name].alarms)}"
                for name in mine
                for track in TRACKS
                if is_alarmed(answers[track][name])
            ]  # fmt: skip
            cells.append("; ".join(named) or "–")
        rows.append((kind, len(mine), *cells))
    looks = [[f"{track}, {when}" for track in TRACKS] + [f"which, {when}"] for when in ("first score", "now")]
    return table(("kind", "runs", *looks[0], *looks[1]), rows)


def section() -> str:
    """Return the text, from the records and the score that was kept."""
    runs, first = read_unseen(), read_answers(FIRST_SCORE)
    now = judge(runs)
    broken = [run for run in runs if run["fault"]]
    healthy = [run for run in runs if not run["fault"] and run["kind"] != REFERENCE]
    sizes = (
        f"{len(broken)} runs with one of {len({run['fault'] for run in broken})} faults, "
        f"{sum(bool(run['start_step']) for run in broken)} of them switched on mid-run, {len(healthy)} healthy runs of "
        f"{len({run['kind'] for run in healthy})} kinds, and {len(runs) - len(broken) - len(healthy)} to be given.\n\n"
    )
    return (
        (HERE / "unseen_head.md").read_text("utf-8") + sizes + summary(runs, [("first", first), ("now", now)])
        + "### Every fault that nobody had seen\n\nOne mark a seed: 1 right link first, 2 within two, x other links "
        "only, – nothing said.\n\n" + per_fault(runs, first, now)
        + "### Every miss of the first score, with the callback\n\n" + misses(runs, first)
        + "### Every miss now, with the callback\n\n" + misses(runs, now)
        + "### Healthy runs on new tasks and settings\n\n" + alarms(runs, first, now)
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-score", action="store_true", help="judge and keep; refused where a score is kept")
    args = parser.parse_args()
    runs = read_unseen()
    if not args.first_score:
        print(summary(runs, [("first", read_answers(FIRST_SCORE)), ("now", judge(runs))]))
        return
    if FIRST_SCORE.exists():
        raise SystemExit(f"{FIRST_SCORE} is there already: the first score is never overwritten")
    answers = judge(runs)
    write_answers(answers, FIRST_SCORE)
    print(summary(runs, [("first", answers)]))


if __name__ == "__main__":
    main()
