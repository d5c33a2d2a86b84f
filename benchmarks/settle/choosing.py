"""Which experiment is made of which run: a rule that knows of no verdict.

1. A run is diagnosed from its monitor's record, as `benchmarks/faults/score.py` does. Runs with fewer than two causes
   have no rivals to settle.
2. Of the experiments that `firstbreak settle` proposes, in its own order, the first that can be made with the run's
   subject as it stands is the run's experiment; there is one for a run.
3. Pairs whose hypothesis is not settled by what was planted are left out.
4. What is left is dealt in rounds: of each experiment and each truth one pair a round, each time of the planted thing
   (and then the task) that was dealt least often so far, ties by a checksum of the run's id.
5. Later pairs are dealt by the same rule among the runs that no earlier pair was made of, those that need no learning
   curve first; what the earlier pairs hold counts as dealt.
6. A pair of a place (subject, task, what was planted, experiment) is made with the same seeds as every other of it, and
   where the fault is on from the first step it is the same experiment over again. So the pairs of `dealt_elsewhere` are
   of places that no earlier pair was made of, and there is one of each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.faults.catalogue import checksum, faults, tasks
from benchmarks.faults.recording import read_run as stored
from benchmarks.faults.recording import runs_in
from benchmarks.faults.scoring.bearing import counting, passed
from benchmarks.faults.scoring.corpus import Entry, as_guarded, read_run
from benchmarks.faults.scoring.logs import load_log
from benchmarks.settle.experts import EXPERTS
from benchmarks.settle.subjects import makeable, subject_of
from benchmarks.settle.truths import Truth, table
from firstbreak.api import diagnose_log
from firstbreak.config import Settings
from firstbreak.errors import InputError
from firstbreak.experiments.control.one_setting import change_of
from firstbreak.experiments.experiment import find_experiment
from firstbreak.experiments.settle.choosing import Proposal, propose

PAIRS = 40
"""Pairs that are made: thirty are asked for; the others make up for those whose setup refuses."""
LEAST_CAUSES = 2
CURVES = 4
"""Of later pairs, how many may need learning curves, which cost several times the run."""


@dataclass(frozen=True)
class Pair:
    """A run, the experiment that it is given, and what is true of its hypothesis."""

    run: str
    file: str
    what: str
    """The fault, the hard negative, or `clean`."""
    half: str
    experiment: str
    """With what the causes give it, where that makes it another experiment."""
    bits: float
    place: int
    """How many proposals with more worth could not be made."""
    causes: tuple[tuple[str, float], ...]
    """Name and points, best first."""
    truth: str
    reason: str
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the causes give the experiment."""

    @property
    def id(self) -> str:
        """Its name everywhere."""
        return f"{self.run}/{self.experiment}".replace(" ", "+")

    @property
    def name(self) -> str:
        """The experiment's name in the catalogue, whatever is given to it."""
        return self.experiment.partition(" ")[0]

    @property
    def site(self) -> tuple[str, str]:
        """Subject, task and what was planted, and the experiment: all that a verdict depends on, but for the moment."""
        return self.run.rpartition("/")[0], self.experiment

    @property
    def task(self) -> str:
        """Subject and task."""
        return self.run.rpartition("/")[0].rpartition("/")[0]


def entries(folder: Path, half: str, gated: bool = True) -> list[Entry]:
    """Return the runs of a folder whose subject can be experimented on: of one half or `all`.

    With `gated`, faults that cost nothing by the benchmark's own gate are left out.
    """
    found = [entry_of(path) for path in runs_in(folder) if makeable(path.name.split("__")[0])]
    kept, _ = counting([e for e in found if half in ("all", e.half)], passed(folder) if gated else None)
    return kept


def entry_of(path: Path) -> Entry:
    """Return what a run's file says of it. (The manifest is written at the end of a recording only.)"""
    subject, task, what, seed = path.name.removesuffix(".json.xz").split("__")
    fault = what if what in faults() else ""
    half = faults()[fault].half if fault else tasks()[f"{subject}:{task}"].half
    kind = "fault" if fault else "healthy" if what == "clean" else f"hard_negative:{what}"
    began = stored(path)["start_frac"] if fault else None
    return Entry(f"{subject}/{task}/{what}/{seed}", path.name, subject, task, fault, kind, int(seed), half, began)


def pair_of(folder: Path, entry: Entry) -> Pair | None:
    """Diagnose one run and return its pair; None where it has no rivals, or nothing can be made of it."""
    try:
        run = as_guarded(read_run(folder / entry.file, entry.half))
    except InputError:  # it died before it logged anything: there is nothing to diagnose
        return None
    diagnosis = diagnose_log(load_log(run), Settings())
    if len(diagnosis.causes) < LEAST_CAUSES:
        return None
    what = entry.id.split("/")[2]
    for place, proposal in enumerate(propose(diagnosis)):
        name = proposal.label
        if (
            not can_make(name, entry.subject)
            or not has_expert(name, entry)
            or not changes(folder / entry.file, proposal)
        ):
            continue
        truth, reason = table()[name].of(entry.subject, entry.task, what, bool(entry.start_frac))
        causes = tuple((cause.name, cause.score) for cause in diagnosis.causes)
        return Pair(
            entry.id, entry.file, what, entry.half, name, round(proposal.bits, 3), place, causes, truth.value, reason,
            dict(proposal.given),
        )  # fmt: skip
    return None


UNABLE: dict[str, tuple[str, ...]] = {
    "one-epoch-one-minibatch": (
        "sb3_a2c",
        "sb3_dqn",
        "sb3_sac",
        "dqn",
        "sac",
    ),  # they make one update on a batch already
    "one-setting setting=temperature value=0.2": ("sb3_ppo", "sb3_a2c"),  # their bonus has the same name
}
"""Experiment -> subjects that lack what it changes."""


def can_make(experiment: str, subject: str) -> bool:
    """Whether an experiment can be made with a subject of the benchmark as it stands.

    Those that are not in the table of truths ask for what the benchmark's trainers do not have: a checkpoint to resume
    from, a saved batch that failed, prompts.
    """
    return experiment in table() and subject not in UNABLE.get(experiment, ())


def has_expert(experiment: str, entry: Entry) -> bool:
    """Whether the task can be played well by something the benchmark has, where an experiment asks for that.

    The third deal was made without this question, and one of its pairs was refused.
    """
    return (
        experiment != "oracle-against-random"
        or (tasks()[f"{entry.subject}:{entry.task}"].world or entry.task) in EXPERTS
    )


def changes(path: Path, proposal: Proposal) -> bool:
    """Whether the run has the setting that a proposal changes, and another value of it."""
    if "setting" not in proposal.given:
        return True
    subject = subject_of(stored(path), [])
    try:
        change_of(replace(subject, given={**subject.given, **proposal.given}))
    except InputError:
        return False
    return True


def curveless(pair: Pair) -> bool:
    """Whether an experiment trains for less than a tenth of a run."""
    return find_experiment(pair.name).cost.runs < 0.1


def dealt_later(pairs: Sequence[Pair], before: Sequence[Pair], count: int, curves: int = CURVES) -> list[Pair]:
    """Return pairs of runs that none was made of `before`: `count` without a learning curve, then a few with."""
    made = [pair for pair in before if pair.truth != Truth.OPEN]
    used = {pair.run for pair in made}
    fresh = [pair for pair in pairs if pair.run not in used]
    cheap = dealt([pair for pair in fresh if curveless(pair)], count, made)
    return [*cheap, *dealt([pair for pair in fresh if not curveless(pair)], curves, [*made, *cheap])]


def dealt_elsewhere(pairs: Sequence[Pair], before: Sequence[Pair], count: int, curves: int = CURVES) -> list[Pair]:
    """Return pairs as `dealt_later` does, each of another place, and of none that a pair was made of `before`."""
    known = {pair.site for pair in before if pair.truth != Truth.OPEN}
    first: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs, key=lambda p: checksum(p.id)):
        if pair.site not in known:
            first.setdefault(pair.site, pair)
    return dealt_later(list(first.values()), before, count, curves)


def one_of_each(pairs: Sequence[Pair]) -> list[Pair]:
    """Return one pair of each place whose hypothesis is settled, that with the smallest checksum, in a fixed order."""
    found: dict[tuple[str, str], Pair] = {}
    for pair in sorted(pairs, key=lambda p: checksum(p.id)):
        if pair.truth != Truth.OPEN:
            found.setdefault(pair.site, pair)
    return list(found.values())


def dealt(pairs: Iterable[Pair], count: int = PAIRS, before: Sequence[Pair] = ()) -> list[Pair]:
    """Return `count` pairs by the rule, in the order in which they are made."""
    hands: dict[tuple[str, str], list[Pair]] = {}
    for pair in sorted(pairs, key=lambda p: checksum(p.id)):
        if pair.truth != Truth.OPEN:
            hands.setdefault((pair.experiment, pair.truth), []).append(pair)
    chosen: list[Pair] = []
    seen: Counter[str] = Counter(name for pair in before for name in (pair.what, pair.task))
    while any(hands.values()) and len(chosen) < count:
        for _, hand in sorted(hands.items()):
            if hand and len(chosen) < count:
                # min() takes the first of equals, which is the smallest checksum
                pair = min(hand, key=lambda p: (seen[p.what], seen[p.task]))
                hand.remove(pair)
                seen.update((pair.what, pair.task))
                chosen.append(pair)
    return chosen


def all_pairs(folder: Path, half: str, gated: bool = True) -> Iterator[Pair]:
    """Yield the pair of every run that has one."""
    for entry in entries(folder, half, gated):
        pair = pair_of(folder, entry)
        if pair is not None:
            yield pair


def write_pairs(pairs: Sequence[Pair], path: Path) -> None:
    """Write pairs down."""
    path.write_text(json.dumps([asdict(pair) for pair in pairs], indent=1) + "\n", "utf-8")


def read_pairs(path: Path) -> list[Pair]:
    """Read pairs back.

    Raises:
        InputError: there are none.
    """
    try:
        rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path}: no such file.", "Choose first: python -m benchmarks.settle.campaign --choose"
        ) from None
    return [Pair(**{**row, "causes": tuple((n, s) for n, s in row["causes"])}) for row in rows]
