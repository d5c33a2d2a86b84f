"""The parts of a record put together: one recording a rank, resumed parts in order, what follows from its lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..runlog import Event, Problem, Recording
from ..series import Curve, Floats

REPEATS = "data/repeat_fraction"
STALENESS = "async/staleness_mean", "async/staleness_max"


@dataclass
class RecordPart(Recording):
    """One file of a record, with what only a record knows."""

    number: int = 0
    """Parts of one rank were opened in this order."""
    process: str = ""
    """The same in all parts that one process wrote."""
    beside: tuple[str, ...] = ()
    """Parts that another process was writing when this one was opened."""
    first: float = float("nan")
    """The step of its first row."""
    lines: int = 0
    last_seq: int = 0
    damaged: int = 0
    batches: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """Step and fingerprint of each batch."""
    ages: list[tuple[float, float, float]] = field(default_factory=list[tuple[float, float, float]])
    """Step, mean and largest age of the data, in policy versions."""
    algorithm: str = ""
    """As it was named to the monitor outright, which counts before what settings say."""
    faults: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    """Step and text of what went wrong in the monitor that wrote it."""
    undone: float = float("inf")
    """The lowest step to which the run was rolled back; what came after it in earlier parts is undone, too."""

    def undo(self, step: float) -> None:
        """Forget batches and policy versions after `step`, to whose row the run was rolled back."""
        self.undone = min(self.undone, step)
        self.batches = [pair for pair in self.batches if not pair[0] > step]
        self.ages = [row for row in self.ages if not row[0] > step]


def merged(parts: Sequence[Recording]) -> list[Recording]:
    """Return one recording for each rank, and for each process that wrote beside another of the same rank."""
    ranks: dict[str, list[RecordPart]] = defaultdict(list)
    for part in parts:
        if isinstance(part, RecordPart):
            ranks[part.rank].append(part)
    found: list[Recording] = []
    for rank in sorted(ranks, key=_order):
        for chain in chains(ranks[rank]):
            whole = _joined(chain)
            whole.rank = "" if len(ranks) == 1 or _order(rank) == (0, "") else rank
            found.append(whole)
    return found


def _order(rank: str) -> tuple[int, str]:
    return (int(rank), "") if rank.isdigit() else (0, rank)


def chains(parts: Sequence[RecordPart]) -> list[list[RecordPart]]:
    """Return the parts of one rank in order; a process that wrote beside another begins a chain of its own."""
    found: list[list[RecordPart]] = []
    for part in sorted(parts, key=lambda p: (p.number, p.path)):
        own = [chain for chain in found if part.process and chain[-1].process == part.process]
        free = [chain for chain in found if Path(chain[-1].path).name not in part.beside]
        for chain in [*own, *reversed(free)][:1]:
            chain.append(part)
            break
        else:
            found.append([part])
    return found


def _joined(chain: Sequence[RecordPart]) -> RecordPart:
    """Return one recording of a chain: a later process replaces what it overlaps of the earlier ones."""
    newest = chain[-1]
    whole = RecordPart(chain[0].path, newest.reader, process=newest.process)
    bounds = _bounds(chain)
    pieces: dict[str, list[Curve]] = defaultdict(list)
    for part, bound in zip(chain, bounds, strict=True):
        for key, curve in part.curves.items():
            pieces[key].append(_before(curve, bound))
        whole.batches += [pair for pair in part.batches if not pair[0] >= bound]
        whole.ages += [row for row in part.ages if not row[0] >= bound]
        whole.config.update(part.config)
        for key, count in part.proven.items():
            whole.proven[key] = max(count, whole.proven.get(key, 0))
        whole.problems.extend(part.problems)
        whole.events.extend(part.events)
        whole.framework, whole.clock = part.framework or whole.framework, part.clock or whole.clock
        whole.run_name = part.run_name or whole.run_name
    whole.curves = {key: _glued(curves) for key, curves in pieces.items()}
    whole.events += _resumes(chain)
    whole.problems += _missing(chain) + _own_faults(chain)
    whole.ended, whole.modified = newest.ended, max(part.modified for part in chain)
    _derive(whole)
    return whole


def _bounds(chain: Sequence[RecordPart]) -> list[float]:
    """Return for each part the step at which a later process took over, infinity where none did."""
    bounds = [float("inf")] * len(chain)
    for place in range(len(chain) - 2, -1, -1):
        later = chain[place + 1]
        again = later.process != chain[place].process and np.isfinite(later.first)
        rolled_back = float(np.nextafter(later.undone, np.inf))
        bounds[place] = min(bounds[place + 1], later.first if again else float("inf"), rolled_back)
    return bounds


def _before(curve: Curve, step: float) -> Curve:
    keep = ~(curve.step >= step)
    if bool(keep.all()):
        return curve
    return Curve(curve.step[keep], curve.value[keep], None if curve.wall is None else curve.wall[keep])


def _glued(curves: Sequence[Curve]) -> Curve:
    if len(curves) == 1:
        return curves[0]
    walls = [curve.wall for curve in curves if curve.wall is not None]
    wall: Floats | None = np.concatenate(walls) if len(walls) == len(curves) else None
    if wall is not None:
        wall = np.maximum.accumulate(wall)  # clocks may have been set back between two processes
    return Curve(np.concatenate([c.step for c in curves]), np.concatenate([c.value for c in curves]), wall)


def _resumes(chain: Sequence[RecordPart]) -> list[Event]:
    written = [part for part in chain if np.isfinite(part.first)]
    lowest = min((part.first for part in written), default=0.0)
    return [
        Event("resume" if after.first > lowest else "restart", after.first, Path(after.path).name)
        for before, after in pairwise(written)
        if after.process != before.process
    ]


def _own_faults(chain: Sequence[RecordPart]) -> list[Problem]:
    """Say what went wrong in the monitor itself, each once: its figures or alarms may be incomplete since then."""
    said: dict[str, Problem] = {}
    for part in chain:
        for at, text in part.faults:
            where = f"step {at:g}" if np.isfinite(at) else ""
            said.setdefault(text, Problem(part.path, where, f"the monitor said: {text}"))
    return list(said.values())


def _missing(chain: Sequence[RecordPart]) -> list[Problem]:
    """Say how many lines each process numbered that are in none of its parts."""
    processes: dict[str, list[RecordPart]] = defaultdict(list)
    for part in chain:
        processes[part.process or part.path].append(part)
    problems: list[Problem] = []
    for parts in processes.values():
        gone = max(p.last_seq for p in parts) - sum(p.lines for p in parts) - sum(p.damaged for p in parts)
        if gone > 0:
            what = f"{gone} lines of this process are not there: the disk was full, or a part was removed."
            problems.append(Problem(parts[0].path, "", what))
    return problems


def _derive(whole: RecordPart) -> None:
    """Add the metrics that follow from fingerprints and policy versions, unless the run logs them itself."""
    if whole.batches and REPEATS not in whole.curves:
        whole.curves[REPEATS] = repeat_fraction(whole.batches)
    if whole.ages and not set(STALENESS) & whole.curves.keys():
        table = np.array(whole.ages)
        for place, key in enumerate(STALENESS, 1):
            whole.curves[key] = Curve(table[:, 0], table[:, place])


def repeat_fraction(batches: Sequence[tuple[float, str]]) -> Curve:
    """Return for each step the share of its distinct batches that an earlier step had trained on."""
    at: dict[float, set[str]] = {}
    for step, fingerprint in batches:
        at.setdefault(step, set()).add(fingerprint)
    seen: set[str] = set()
    values: list[float] = []
    for names in at.values():
        values.append(len(names & seen) / len(names))
        seen |= names
    return Curve(np.array(list(at)), np.array(values))
