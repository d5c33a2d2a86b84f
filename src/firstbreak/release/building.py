"""`release`: gathers the evidence of a release, judges it, and copies what belongs to it into one folder."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..context.contents import NAME as RECORD
from ..errors import InputError, UnreadableError
from . import checklists
from .auditing import Rows, audited
from .evidence import UNKNOWN, Evidence, Line, Run, Score, Stored
from .gate import judge
from .looks import read_looks
from .over_tasks import pool, rewards_alike
from .results import Scale, many_seeds, on_private, private_change, reward_change, selection
from .ruling import GateRule, Outcome, Ruling, decide
from .runs import read_runs
from .scores import gather_scores
from .setting import odd_ones
from .stored import copied, stored_of

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Release:
    """A release before it is written down."""

    name: str
    evidence: Evidence
    rulings: tuple[tuple[GateRule, Ruling], ...]
    after: tuple[Line, ...]
    shown: Rows = ()

    @property
    def outcome(self) -> Outcome:
        """Go, no-go or undecided."""
        return decide(ruling.ruled for _, ruling in self.rulings)


def gather(
    runs: Sequence[str | Path],
    *,
    name: str = "",
    metric: str = "",
    lower: bool = False,
    baseline: Sequence[str | Path] = (),
    scores: Sequence[str | Path] = (),
    samples: str | Path | None = None,
    preflight: str | Path | None = None,
    ledger: str | Path | None = None,
    scale: Scale | None = None,
    out: Path | None = None,
    tell: Tell | None = None,
) -> Release:
    """Read everything that a release rests on and judge it.

    Args:
        runs: the runs of the release, one a seed.
        name: of the release.
        metric: canonical metric that holds the score, where it is not found by itself.
        lower: whether less of it, and of the scores in tables, is better. The training reward is never turned.
        baseline: runs to compare with.
        scores: tables of scores beside those in the runs' folders.
        samples: what `firstbreak audit` reads.
        ledger: of looks at the splits, as `firstbreak eval` keeps it.
        preflight: the JSON of `firstbreak preflight`, where it does not lie beside the runs.
        scale: task -> scores that count as 0 and 1, to pool over tasks.
        out: folder that checkpoints are copied into; nothing is written without it.
        tell: hears what is being done.

    Raises:
        InputError: no run is there, or a table is wrong; UnreadableError: something cannot be read or written.
    """
    say = tell or _quiet
    problems: list[str] = []
    say("reading runs")
    found = read_runs(runs, metric=metric, lower=lower, problems=problems)
    others = read_runs(baseline, metric=metric, lower=lower, problems=problems) if baseline else ()
    rows = gather_scores(found, scores)
    seen, examples = (None, ()) if samples is None else audited(samples)
    say("comparing seeds")
    evidence = replace(
        _compared(found, others, rows, scale),
        looks=None if ledger is None else read_looks(ledger),
        samples=seen,
        before=checklists.before(found, preflight),
        during=checklists.during(found),
        problems=tuple(problems),
    )
    say("hashing checkpoints")  # last: until everything else could be read, nothing is copied
    evidence = replace(evidence, checkpoints=_checkpoints(found, out, say))
    return Release(name or _name(found), evidence, judge(evidence), checklists.after(evidence), examples)


def _checkpoints(runs: Sequence[Run], out: Path | None, say: Tell) -> tuple[Stored, ...]:
    """Return the checkpoints that have a role, copied into `out` where there is one."""
    kept = [one for run in runs for one in stored_of(run)]
    return tuple(kept if out is None else [copied(one, out, say) for one in kept])


def _compared(found: tuple[Run, ...], others: tuple[Run, ...], rows: Sequence[Score], scale: Scale | None) -> Evidence:
    """Return what the runs say when they are held against each other, the baseline and fresh seeds."""
    odd = odd_ones(found)
    whole = pool(found, rows, scale or {})
    chosen = selection(whole.runs, whole.rows)
    private, protocols = private_change(whole.rows, lower=whole.lower)
    if whole.tasks > 1:  # run by run, scores are shown as they are
        plain = selection(found, rows)
        remarks = (*plain.remarks, *(["pooled with each task on its scale"] if not whole.apart else []))
        chosen = replace(chosen, runs=plain.runs, chosen=plain.chosen, fresh=plain.fresh, remarks=remarks)
    if whole.apart:
        private, chosen = None, replace(chosen, gain=None, corrected=None, expected=None, apart=whole.apart)
    elif private is not None:
        private = replace(private, against=private.against + whole.scaled)
    mine, theirs = rewards_alike(found, others)
    reward = reward_change(mine, theirs)
    if reward is not None and whole.tasks > 1:
        reward = replace(reward, against=f"{reward.against}, each task from its least to its most")
    return Evidence(
        runs=found,
        baseline=others,
        results=many_seeds(found, others, odd=odd, scale=scale),
        selection=chosen,
        private=private,
        private_protocols=protocols,
        private_hashes=tuple(sorted({one.protocol or UNKNOWN for one in on_private(rows)})),
        units=whole.apart,
        reward=reward,
        odd=odd,
    )


def _quiet(text: str) -> None:
    """Say nothing."""


def _name(runs: Sequence[Run]) -> str:
    tasks = sorted({run.task for run in runs if run.task})
    algorithms = sorted({run.algorithm for run in runs if run.algorithm})
    return " ".join([*algorithms, *(["on"] if tasks and algorithms else []), *tasks[:3]]) or "release"


def prepare(folder: Path) -> None:
    """Make the folder of a release.

    Raises:
        InputError: it holds something already; UnreadableError: it cannot be made.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is not empty.", "A release is never written over: give --out a new folder.")
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnreadableError(f"{folder}: cannot be made: {error.strerror}.", "Choose a folder of yours.") from error


def clear(folder: Path) -> None:
    """Empty the folder of a release that could not be finished; `prepare` had found it empty, so all in it is ours."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def attach(release: Release, folder: Path, preflight: str | Path | None = None) -> None:
    """Copy the records of the runs, and the preflight, into the folder."""
    (folder / "runs").mkdir(exist_ok=True)
    for run in release.evidence.runs:
        place = Path(run.path.partition("#")[0])
        record = (place if place.is_dir() else place.parent) / RECORD
        if record.is_file():
            shutil.copyfile(record, folder / "runs" / f"{run.name}-context.json")
    path = checklists.preflight_file(release.evidence.runs, preflight)
    if path is not None and path.is_file():
        shutil.copyfile(path, folder / checklists.PREFLIGHT)
