"""What firstbreak says of ordinary logs, against what was done to the runs.

python -m benchmarks.outside.score --first   # once: ask, and keep the answers in first_score.json
python -m benchmarks.outside.score --first first_score_later.json   # once for runs that came after the first score
python -m benchmarks.outside.score           # print the figures of the score that is kept
python -m benchmarks.outside.score --page    # ask anew with the rules as they are, and write docs/outside_results.md
python -m benchmarks.outside.score --list second --first   # the same of a later list, which has its part of the page
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import firstbreak
from benchmarks.faults.scoring.intervals import rate
from benchmarks.grpo.showing import table
from benchmarks.outside import advised
from benchmarks.outside.asking import TRACKS, UNREADABLE, Said, as_kept, ask, from_kept, named
from benchmarks.outside.gate import counts
from benchmarks.outside.plans import FIRST, HERE, LISTINGS, Listing, Plan, bases, plans
from benchmarks.outside.record import read_manifest

HEADS = {
    "first": HERE / "results_head.md", "second": HERE / "second_head.md", "third": HERE / "third_head.md",
    "fourth": HERE / "fourth_head.md",
}  # fmt: skip
PARTS = {"second": "\n## A second list\n", "third": "\n## A third list\n", "fourth": "\n## A fourth list\n"}
"""Where the parts of later lists begin on the page, in their order."""
PAGE = HERE.parents[1] / "docs" / "outside_results.md"
ASKED = (
    "Of the runs with a fault whose right link does not come first: what the first screen says to do, in its order. A "
    "thing can show the links at which rules look, checks or an experiment stand that it would let look; that they can "
    "is no proof that they do. `benchmarks/outside/advised.py`."
)
Answers = Mapping[str, Mapping[str, Said]]
Row = Mapping[str, Any]
Test = Callable[[Said, Sequence[str]], bool]

FIGURES: dict[str, Test] = {
    "a right link is named": named,
    "right link first": lambda one, right: named(one, right, 1),
    "right link within two": lambda one, right: named(one, right, 2),
    "another link first": lambda one, right: bool(one.links) and not named(one, right, 1),
    "nothing said": lambda one, right: not one.links,
    "called broken, at a right link": lambda one, right: one.verdict == "broken" and named(one, right, 1),
    "called broken, at another link": lambda one, right: one.verdict == "broken" and not named(one, right, 1),
    "called healthy": lambda one, right: one.verdict == "healthy",
    "could not be read": lambda one, right: one.verdict == UNREADABLE,
}
CALM: dict[str, Test] = {
    "alarmed": lambda one, right: bool(one.alarms) or one.verdict == "broken",
    "called broken": lambda one, right: one.verdict == "broken",
    "called healthy": lambda one, right: one.verdict == "healthy",
    "could not be read": lambda one, right: one.verdict == UNREADABLE,
}


def judge(only: Collection[str], listing: Listing = FIRST) -> dict[str, dict[str, Said]]:
    """Ask about these runs on every track."""
    there = [plan for plan in plans(listing) if plan.id in only]
    found: dict[str, dict[str, Said]] = {track: {} for track in TRACKS}
    for number, plan in enumerate(there, 1):
        for track in TRACKS:
            found[track][plan.id] = ask(plan, listing.runs / f"{plan.id}.tar.xz", track)
        print(f"{number}/{len(there)} {plan.id}", file=sys.stderr, flush=True)
    return found


def right_links(plan: Plan) -> tuple[str, ...]:
    """Return the links that are counted as right."""
    return (plan.fault.link, *plan.fault.also_right) if plan.fault else ()


def counted(manifest: Sequence[Row], listing: Listing = FIRST) -> tuple[list[Plan], list[Plan], list[Plan]]:
    """Return the plans with a fault that cost, the healthy ones that learned, and those that count for nothing."""
    rows = {row["id"]: row for row in manifest}
    faulty: list[Plan] = []
    calm: list[Plan] = []
    out: list[Plan] = []
    for plan in plans(listing):
        if plan.id not in rows:
            continue
        protocol = bool(plan.fault and plan.fault.protocol)
        into = out if not counts(rows[plan.id], manifest, protocol) else faulty if plan.fault else calm
        into.append(plan)
    return faulty, calm, out


def share(flags: Sequence[bool]) -> str:
    """Return a share with its exact 95 % interval."""
    if not flags:
        return "–"
    found = rate(flags)
    return f"{found.hits} of {found.n} ({found.value:.0%}; {found.lo:.0%} to {found.hi:.0%})"


def figures(chosen: Sequence[Plan], tests: Mapping[str, Test], scores: Sequence[tuple[str, Answers]]) -> str:
    """Return one row a figure, one column a track and score."""
    head = ["figure", *(f"{words}, {when}" for when, _ in scores for words in TRACKS.values())]
    rows = [
        [name, *(
            share([test(answers[track][plan.id], right_links(plan)) for plan in chosen])
            for _, answers in scores
            for track in TRACKS
        )]
        for name, test in tests.items()
    ]  # fmt: skip
    return table(head, rows)


def asked(faulty: Sequence[Plan], calm: Sequence[Plan], answers: Answers) -> str:
    """Return what is asked for where the right link does not come first: before it was chosen for that, and now."""
    missed = {
        track: [p for p in faulty if answers[track][p.id].asked and not named(answers[track][p.id], right_links(p), 1)]
        for track in TRACKS
    }
    kept, things = advised.before()
    right = {plan.id: right_links(plan) for plan in faulty}
    then = {p.id: kept[p.id] for p in faulty if p.id in kept}
    columns = [advised.figures(then, right, [things[p.id] for p in calm if p.id in things])]
    for track, plans_of in missed.items():
        found = {p.id: answers[track][p.id].asked for p in plans_of}
        columns.append(advised.figures(found, right, [len(answers[track][p.id].asked) for p in calm]))
    rows = [[name, *cells] for name, *cells in zip(advised.FIGURES, *columns, strict=True)]
    return table(["figure", f"{TRACKS['log']}, before", *(f"{words}, now" for words in TRACKS.values())], rows)


def by_trainer(faulty: Sequence[Plan], calm: Sequence[Plan], answers: Answers, listing: Listing) -> str:
    """Return right link first and alarms by trainer, and by when the fault came."""
    rows: list[Sequence[Any]] = []
    groups: dict[str, Callable[[Plan], bool]] = {
        **{f"`{name}`": of_base(name) for name in bases(listing)},
        "fault from the start": lambda plan: not plan.at,
        "fault in mid-run": lambda plan: bool(plan.at),
    }  # fmt: skip
    for words, inside in groups.items():
        cells: list[str] = []
        for track in TRACKS:
            said = [(answers[track][p.id], right_links(p)) for p in faulty if inside(p)]
            cells += [share([test(*one) for one in said]) for test in list(FIGURES.values())[1:5:2]]
            quiet = [answers[track][p.id] for p in calm if inside(p)] if "fault" not in words else []
            cells.append(share([CALM["alarmed"](one, ()) for one in quiet]))
        rows.append([words, *cells])
    looks = [
        f"{what}, {track}" for track in TRACKS for what in ("right link first", "another link first", "healthy alarmed")
    ]
    return table(["runs", *looks], rows)


def of_base(name: str) -> Callable[[Plan], bool]:
    """Return the question whether a run is of a base."""
    return lambda plan: plan.base.name == name


def mark(one: Said, plan: Plan) -> str:
    """Return one mark: 1 right link first, 2 within two, + named later, x other links only, – nothing, ! unreadable."""
    if not plan.fault:
        return "!" if one.verdict == UNREADABLE else "x" if CALM["alarmed"](one, ()) else "–"
    right = right_links(plan)
    if one.verdict == UNREADABLE:
        return "!"
    if not one.links:
        return "–"
    return "1" if named(one, right, 1) else "2" if named(one, right, 2) else "+" if named(one, right) else "x"


def per_run(chosen: Sequence[Plan], scores: Sequence[tuple[str, Answers]]) -> str:
    """Return one row a run."""
    looks = [f"{track}, {when}" for when, _ in scores for track in TRACKS]
    rows = [
        [
            f"`{plan.id}`", ", ".join(right_links(plan)) or "–", plan.at or "start" if plan.fault else "–",
            *(f"{mark(a[track][plan.id], plan)} {a[track][plan.id].verdict}" for _, a in scores for track in TRACKS),
            *(f"`{a['settings'][plan.id].shown}`" if a["settings"][plan.id].shown else "–" for _, a in scores),
        ]
        for plan in chosen
    ]  # fmt: skip
    return table(["run", "right links", "begins at", *looks, *(f"shown first, {when}" for when, _ in scores)], rows)


def whats(listing: Listing) -> str:
    """Return what each fault does."""
    known = {plan.fault.id: plan.fault for plan in plans(listing) if plan.fault}
    rows = [(f.id, f.what, ", ".join((f.link, *f.also_right)), f.source) for f in known.values()]
    return table(("fault", "what is done", "right links", "from"), rows)


def page(manifest: Sequence[Row], scores: Sequence[tuple[str, Answers]], listing: Listing = FIRST) -> str:
    """Return the text of a list's part of the page."""
    faulty, calm, out = counted(manifest, listing)
    sizes = (
        f"{len(faulty)} runs with one of {len({p.name for p in faulty})} faults that cost true return, "
        f"{sum(bool(p.at) for p in faulty)} of them with the fault switched on in mid-run; {len(calm)} healthy runs "
        f"of {len({p.name for p in calm})} kind(s) on {len({p.base.name for p in calm})} trainers and tasks "
        f"that learned; {len(out)} that count for nothing because they cost "
        f"nothing or did not learn. {sum(row['cpu_s'] for row in manifest) / 60:.0f} core-minutes of training.\n\n"
    )
    when, first = scores[0]
    latest = scores[-1][1]
    lead = "##" if listing is FIRST else f"### {listing.name.capitalize()} list:"  # no two headings alike
    return (
        HEADS[listing.name].read_text("utf-8") + sizes
        + f"{lead} Runs with a fault\n\n" + figures(faulty, FIGURES, scores)
        + f"{lead} Healthy runs\n\n" + figures(calm, CALM, scores)
        + (f"{lead} What is asked for next\n\n{ASKED}\n\n" + asked(faulty, calm, latest) if len(scores) > 1 else "")
        + f"{lead} By trainer and task, {when} score\n\n" + by_trainer(faulty, calm, first, listing)
        + f"{lead} What was done\n\n" + whats(listing)
        + f"{lead} Every run with a fault\n\n1 right link first, 2 within two, + named later, x other links only, "
        "– nothing said, ! could not be read.\n\n" + per_run(faulty, scores)
        + f"{lead} Every healthy run\n\nx alarmed, – not alarmed.\n\n" + per_run(calm, scores)
        + f"{lead} Runs that count for nothing\n\n" + per_run(out, scores)
    ).rstrip("\n") + "\n"  # fmt: skip


def put(text: str, listing: Listing, whole: str) -> str:
    """Return the `whole` page with a list's part of it replaced; parts of later lists come last, in their order."""
    parts: dict[str, str] = {}
    for name, mark in reversed(PARTS.items()):
        whole, _, parts[name] = whole.partition(mark)
    parts["first"] = whole
    parts[listing.name] = text
    later = [f"\n{mark.strip()}\n" + parts[name] for name, mark in PARTS.items() if parts[name]]
    return "".join(part.rstrip("\n") + "\n" for part in (parts["first"], *later))


def read_first(folder: Path = HERE, listing: Listing = FIRST) -> dict[str, dict[str, Said]]:
    """Return the answers that each run was given first."""
    found: dict[str, dict[str, Said]] = {track: {} for track in TRACKS}
    for path in sorted(folder.glob(f"{listing.kept}*.json")):
        for track, rows in from_kept(json.loads(path.read_text("utf-8"))["answers"]).items():
            found[track] |= {name: one for name, one in rows.items() if name not in found[track]}
    return found


def keep_first(answers: Answers, path: Path) -> None:
    """Keep the first score for good.

    Raises:
        SystemExit: there is one.
    """
    refuse(path)
    kept = {"version": firstbreak.__version__, "answers": as_kept(answers)}
    path.write_text(json.dumps(kept, indent=0) + "\n", "utf-8")


def refuse(path: Path) -> None:
    """Stop where a first score is kept, before anything is asked."""
    if path.exists():
        raise SystemExit(f"{path} is there already: the first score is never overwritten")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=LISTINGS, default=FIRST.name, help="which list of runs")
    parser.add_argument("--first", nargs="?", const="", help="ask and keep; refused where a score is kept")
    parser.add_argument("--page", action="store_true", help="ask anew, and write the list's part of the page")
    args = parser.parse_args()
    listing = LISTINGS[args.list]
    if args.first is not None:
        kept = HERE / (args.first or f"{listing.kept}.json")
        refuse(kept)
        new = {row["id"] for row in read_manifest(listing)} - set(read_first(HERE, listing)["log"])
        keep_first(judge(new, listing), kept)
    first = read_first(HERE, listing)
    manifest = [row for row in read_manifest(listing) if row["id"] in first["log"]]
    scores: list[tuple[str, Answers]] = [("first", first)]
    if args.page:
        scores.append(("now", judge(first["log"], listing)))
    faulty, calm, _ = counted(manifest, listing)
    print(figures(faulty, FIGURES, scores) + figures(calm, CALM, scores))
    if args.page or args.first is not None:
        PAGE.write_text(put(page(manifest, scores, listing), listing, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
