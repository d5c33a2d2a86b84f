"""The parts of docs/grpo_results.md on faults that nobody had seen.

python -m benchmarks.grpo.unseen_publish --first-score  # once: judge, and keep the answers in unseen_first_score.json
python -m benchmarks.grpo.unseen_publish --second --first-score  # the same of the second list, or --third, --fourth
python -m benchmarks.grpo.unseen_publish --fourth --page # write this list's part of the page anew, and no other
python -m benchmarks.grpo.publish                       # judge anew with the rules as they are, and write the page
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.grpo.campaign import HERE, read
from benchmarks.grpo.judging import LOST, REFERENCE, TRACKS, Answer, ask, cost, is_alarmed, is_right, log_of, read_run
from benchmarks.grpo.showing import Answers, marks, read_answers, share, table, write_answers


@dataclass(frozen=True)
class Listed:
    """A list that nobody had seen: its files begin with `name`."""

    name: str
    words: str
    """What its faults are called in headings."""

    @property
    def folder(self) -> Path:
        return HERE / f"{self.name}_runs"

    @property
    def first_score(self) -> Path:
        return HERE / f"{self.name}_first_score.json"

    def faults(self) -> dict[str, dict[str, Any]]:
        """Return the entry of each fault."""
        return {fault["id"]: fault for fault in read(f"{self.name}_faults")}

    def runs(self) -> list[dict[str, Any]]:
        """Return the records that are there."""
        manifest = json.loads((self.folder / "manifest.json").read_text("utf-8"))
        return [read_run(self.folder / row["file"]) for row in manifest]

    def kept(self) -> dict[str, dict[str, Answer]]:
        """Return the first score."""
        return read_answers(self.first_score)


FIRST = Listed("unseen", "that nobody had seen")
SECOND = Listed("second", "of the second list")
THIRD = Listed("third", "of the third list")
FOURTH = Listed("fourth", "of the fourth list")
PAGE = HERE.parents[1] / "docs" / "grpo_results.md"
LISTS = {of.name: of for of in (FIRST, SECOND, THIRD, FOURTH)}


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


def summary(of: Listed, runs: Sequence[Mapping[str, Any]], scores: Sequence[tuple[str, Answers]]) -> str:
    """Return right links first, within two, runs of which only other links were named, and alarms, by track."""
    faults = of.faults()
    broken = [run for run in runs if run["fault"]]
    costly = [run for run in broken if not cost(run, runs) < LOST]
    healthy = [run["id"] for run in runs if not run["fault"] and run["kind"] != REFERENCE]
    rows: list[Sequence[Any]] = []
    for track, words in TRACKS.items():
        for when, answers in scores:
            alarmed = share(sum(is_alarmed(answers[track][name]) for name in healthy), len(healthy))
            for which, some in (("all", broken), ("that cost true score", costly)):
                said = [(answers[track][run["id"]], right_links(faults, run)) for run in some]
                rows.append(
                    (
                        words, when, which,
                        *(share(sum(is_right(a, right, n) for a, right in said), len(said)) for n in (1, 2)),
                        share(sum(not a.links for a, _ in said), len(said)),
                        share(sum(bool(a.links) and not is_right(a, right, 1) for a, right in said), len(said)),
                        alarmed if which == "all" else "–",
                    )
                )  # fmt: skip
    head = ("log", "score", "faults", "right link first", "within two", "nothing said", "another link first", "alarm on a healthy run")  # fmt: skip # noqa: E501
    return table(head, rows)


def per_fault(of: Listed, runs: Sequence[Mapping[str, Any]], first: Answers, now: Answers) -> str:
    """Return one row a fault: what was said at the first score, and now."""
    rows: list[Sequence[Any]] = []
    for fault in of.faults().values():
        mine = [run for run in runs if run["fault"] == fault["id"]]
        if not mine:
            continue
        right = [fault["link"], *fault.get("also_right", [])]
        shown = [[answers["callback"][run["id"]].shown for run in mine] for answers in (first, now)]
        rows.append(
            (
                fault["id"], fault["what"], ", ".join(right),
                ", ".join("start" if not run["start_step"] else str(run["start_step"]) for run in mine),
                ", ".join(f"{cost(run, runs):.0%}" for run in mine),
                *(marks(answers[track], mine, right) for answers in (first, now) for track in TRACKS),
                *(", ".join(dict.fromkeys(f"`{name}`" if name else "–" for name in names)) for names in shown),
            )
        )  # fmt: skip
    looks = [f"{track}, {when}" for when in ("first score", "now") for track in TRACKS]
    head = ("fault", "what", "right links", "begins at", "true score lost", *looks,
            "shown first with the callback, first score", "now")  # fmt: skip
    return table(head, rows)


def misses(of: Listed, runs: Sequence[Mapping[str, Any]], score: Answers) -> str:
    """Return every run of the callback's track whose first link is not right, and what was said of it."""
    faults = of.faults()
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


def section(of: Listed, now: Answers | None = None) -> str:
    """Return the text, from the records, the score that was kept, and the answers of now, judged if not given."""
    runs, first = of.runs(), of.kept()
    now = now or judge(runs)
    broken = [run for run in runs if run["fault"]]
    healthy = [run for run in runs if not run["fault"] and run["kind"] != REFERENCE]
    sizes = (
        f"{len(broken)} runs with one of {len({run['fault'] for run in broken})} faults, "
        f"{sum(bool(run['start_step']) for run in broken)} of them switched on mid-run, {len(healthy)} healthy runs of "
        f"{len({run['kind'] for run in healthy})} kinds, and {len(runs) - len(broken) - len(healthy)} to be given.\n\n"
    )
    return (
        (HERE / f"{of.name}_head.md").read_text("utf-8") + sizes + summary(of, runs, [("first", first), ("now", now)])
        + f"### Every fault {of.words}\n\nOne mark a seed: 1 right link first, 2 within two, x other links "
        "only, – nothing said.\n\n" + per_fault(of, runs, first, now)
        + f"### Every miss of the first score, with the callback: faults {of.words}\n\n" + misses(of, runs, first)
        + f"### Every miss now, with the callback: faults {of.words}\n\n" + misses(of, runs, now)
        + f"### Healthy runs beside the faults {of.words}\n\n" + alarms(runs, first, now)
    )  # fmt: skip


def put(whole: str, part: str) -> str:
    """Return the `whole` page with this `part` in the place of the one with its title, or at the end."""
    title = part.lstrip("\n").partition("\n")[0]
    before, found, after = whole.partition(f"\n{title}\n")
    if not found:
        return f"{whole}\n{part}"
    _, later, others = after.partition("\n## ")
    return before + part + later + others


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first-score", action="store_true", help="judge and keep; refused where a score is kept")
    parser.add_argument("--page", action="store_true", help="write the list's part of docs/grpo_results.md anew")
    which = parser.add_mutually_exclusive_group()
    for name in ("second", "third", "fourth"):
        which.add_argument(f"--{name}", dest="list", action="store_const", const=name, default=FIRST.name)
    of = LISTS[(args := parser.parse_args()).list]
    runs = of.runs()
    if args.page:
        PAGE.write_text(put(PAGE.read_text("utf-8"), section(of)), "utf-8")
        return
    if not args.first_score:
        print(summary(of, runs, [("first", of.kept()), ("now", judge(runs))]))
        return
    if of.first_score.exists():
        raise SystemExit(f"{of.first_score} is there already: the first score is never overwritten")
    answers = judge(runs)
    write_answers(answers, of.first_score)
    print(summary(of, runs, [("first", answers)]))


if __name__ == "__main__":
    main()
