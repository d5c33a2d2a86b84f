"""What firstbreak says of training logs that lie in public repositories (`list.toml`).

python -m benchmarks.public.look --clones FOLDER           # clone what is missing into FOLDER (git, github.com), look
python -m benchmarks.public.look --clones FOLDER --page    # and write docs/public_logs.md

Nobody planted anything in these runs, and nobody says which of them are right. So this is no measure of what is found;
it shows how often something is said of runs as they are, and where the repository's code settles it, whether it is so.
"""

from __future__ import annotations

import argparse
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import firstbreak
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError
from firstbreak.finding import Severity

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/public_logs.md"
HEAD = HERE / "head.md"
LOGS = ("**/progress.csv", "**/*monitor.csv", "**/events.out.tfevents*", "**/trainer_state.json")


@dataclass(frozen=True)
class Note:
    """What the code of a repository shows of a rule that spoke of its logs: `right`, `wrong` or `unknown`, and why."""

    rule: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Source:
    """One repository at one commit; `runs` are the patterns of what is one log each."""

    repository: str
    commit: str
    date: str
    runs: tuple[str, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Answer:
    """What was said of one log: `said` are the rules that warned, in order. `verdict` is "" for what is empty."""

    path: str
    verdict: str
    said: tuple[str, ...]
    metrics: int


def sources(path: Path = HERE / "list.toml") -> list[Source]:
    """Return the repositories of the list."""
    entries = tomllib.loads(path.read_text("utf-8"))["source"]
    return [
        Source(
            entry["repository"], entry["commit"], str(entry["date"]), tuple(entry.get("runs", LOGS)),
            tuple(Note(**note) for note in entry.get("note", ())),
        )
        for entry in entries
    ]  # fmt: skip


def clone(source: Source, folder: Path) -> Path:
    """Return the place of a repository's files, cloned at its commit where it is missing."""
    place = folder / source.repository.replace("/", "+")
    if not place.exists():
        subprocess.run(["git", "clone", "-q", f"https://github.com/{source.repository}", str(place)], check=True)
        subprocess.run(["git", "-C", str(place), "checkout", "-q", source.commit], check=True)
    return place


def logs(source: Source, place: Path) -> Iterator[Path]:
    """Yield the logs of a repository, in the order of their names."""
    yield from sorted({found for pattern in source.runs for found in place.glob(pattern)})


def look(path: Path, name: str) -> Answer:
    """Return what is said of one log."""
    try:
        log = firstbreak.load(path)
    except InputError:
        return Answer(name, "", (), 0)
    found = firstbreak.diagnose(log)  # of a log, not of a file: when a clone was made says nothing of a run
    said = [f.name for f in found.findings if f.severity is not Severity.INFO]
    return Answer(name, str(found.verdict), tuple(said), len(log.series))


def rows(listed: Sequence[Source], answers: dict[str, list[Answer]]) -> Iterator[str]:
    """Yield the lines of the table, a repository each."""
    yield "| repository | logs | healthy | undecided | broken | warned of (logs) |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for source in listed:
        read = [one for one in answers[source.repository] if one.metrics]
        count = Counter(one.verdict for one in read)
        said = Counter(name for one in read for name in one.said)
        words = ", ".join(f"`{name}` ({n})" for name, n in said.most_common()) or "–"
        link = f"[{source.repository}](https://github.com/{source.repository}/tree/{source.commit})"
        verdicts = " | ".join(
            str(count[str(verdict)]) for verdict in (Verdict.HEALTHY, Verdict.UNDECIDED, Verdict.BROKEN)
        )
        yield f"| {link} | {len(read)} | {verdicts} | {words} |"


def page(listed: Sequence[Source], answers: dict[str, list[Answer]]) -> str:
    """Return the text of the page."""
    every = [one for found in answers.values() for one in found]
    read = [one for one in every if one.metrics]
    count = Counter(one.verdict for one in read)
    total = (
        f"{len(read)} logs of {len(listed)} repositories in which a metric was understood: {count['healthy']} healthy, "
        f"{count['undecided']} undecided, {count['broken']} broken; "
        f"something is warned of in {sum(bool(one.said) for one in read)}. "
        f"{len(every) - len(read)} further files hold nothing yet, or nothing that is understood.\n\n"
    )
    notes = [
        f"| {source.repository} | `{note.rule}` | {note.verdict} | {note.why} |"
        for source in listed for note in source.notes
    ]  # fmt: skip
    head = ["| repository | what was said | by the code, it is | because |", "| --- | --- | --- | --- |"]
    parts = ["## By repository\n", *rows(listed, answers), "\n## What the code shows\n", *head, *notes, ""]
    return HEAD.read_text("utf-8") + total + "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="where the repositories are, or come")
    parser.add_argument("--page", action="store_true", help="write docs/public_logs.md")
    args = parser.parse_args()
    listed, answers = sources(), dict[str, list[Answer]]()
    for source in listed:
        place = clone(source, args.clones)
        answers[source.repository] = [look(path, str(path.relative_to(place))) for path in logs(source, place)]
        print(source.repository, Counter(one.verdict for one in answers[source.repository]), flush=True)
    if args.page:
        PAGE.write_text(page(listed, answers), "utf-8")


if __name__ == "__main__":
    main()
