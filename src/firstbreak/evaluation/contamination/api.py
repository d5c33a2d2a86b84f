"""`contamination`: compare training data with evaluation data in two processes and bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...errors import FirstbreakError, InputError
from .answers import Leak, leak_of
from .index import Index, Plan, build
from .result import Contamination, Sources, result_of
from .rows import check_columns, pieces
from .tally import Tally
from .worker import Progress, work

PROCESSES = 2
SAMPLED_PARTS, SAMPLED_ROWS, SAMPLED_CHARACTERS = 25, 1024, 32 << 20
"""One piece of 1,024 rows in 25 tells the template that training prompts share."""
WORKER = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
    "import sys; from pathlib import Path; from firstbreak.evaluation.contamination.worker import main; "
    "sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))"
)
"""One process of the comparison. Ctrl-C reaches all of them: the first one ends the others, which say nothing."""
LARGEST = 128 << 20
"""Characters of all evaluation prompts together; the index takes some ten times as many bytes."""


class WorkerError(FirstbreakError):
    """A process of the comparison ended without an answer."""

    kind = "worker_ended"


def contamination(
    train: Sequence[Path],
    evaluation: Sequence[Path],
    *,
    plan: Plan | None = None,
    columns: Mapping[str, str] | None = None,
    processes: int = PROCESSES,
    progress: Progress | None = None,
) -> Contamination:
    """Return which prompts of `evaluation` are in `train`, exactly, in the same words, nearly or in part.

    Args:
        train: JSON lines, CSV or Parquet files.
        evaluation: The same.
        plan: Thresholds.
        columns: Role (prompt, context, answer, completion, messages) -> column, where names are not understood.
        processes: Which share the work; the result does not depend on it.
        progress: Told how many training rows this process has compared.

    Raises:
        InputError: a file is of no known format, or has no prompts.
        UnreadableError: a file cannot be read.
    """
    plan = plan or Plan()
    if not 0.3 <= plan.threshold <= 1.0:
        raise InputError(f"A threshold of {plan.threshold:g} is not between 0.3 and 1.", "For example: 0.7")
    columns = dict(columns or {})
    check_columns(columns)
    held = _evaluation(evaluation, columns)
    index = build(held.prompts, plan, _sample(train, columns))
    with tempfile.TemporaryDirectory(prefix="firstbreak-contamination-") as folder:
        job = Path(folder)
        _write(job, index, held, [str(p.absolute()) for p in train], columns, processes)
        tally = _together(job, processes, progress or (lambda _: None))
    if tally.counts[0] == 0 or tally.counts[1] == tally.counts[0]:
        raise InputError(
            f"{', '.join(map(str, train))}: no prompts in {int(tally.counts[0])} rows.",
            "Name the column: --column prompt=NAME",
        )
    return result_of(tally, index, held, [str(p) for p in train])


def _evaluation(paths: Sequence[Path], columns: Mapping[str, str]) -> Sources:
    held = Sources([str(p) for p in paths])
    size = 0
    for piece in pieces(paths, columns):
        held.add(piece)
        size += sum(map(len, piece.prompts))
        if size > LARGEST:
            raise InputError(
                f"The evaluation prompts have more than {LARGEST >> 20} million characters.",
                "Compare them a part at a time.",
            )
    if not any(p.strip() for p in held.prompts):
        raise InputError(
            f"{', '.join(map(str, paths))}: no prompts in {len(held.prompts)} rows.",
            "Name the column: --column prompt=NAME",
        )
    found = ((row, leak_of(p, a)) for row, (p, a) in enumerate(zip(held.prompts, held.answers, strict=True)) if p and a)
    held.leaks = [Leak(row, kind) for row, kind in found if kind]
    return held


def _sample(paths: Sequence[Path], columns: Mapping[str, str]) -> list[str]:
    kept: list[str] = []
    size = 0
    for piece in pieces(paths, columns, parts=SAMPLED_PARTS, rows=SAMPLED_ROWS):
        for prompt in piece.prompts:
            size += len(prompt)
            if size > SAMPLED_CHARACTERS:
                return kept
            kept.append(prompt)
    return kept


def _write(
    job: Path, index: Index, held: Sources, train: Sequence[str], columns: Mapping[str, str], processes: int
) -> None:
    index.save(job)
    plan = {
        "train": train,
        "columns": columns,
        "parts": processes,
        "prompts": held.prompts,
        "answers": held.answers,
    }
    (job / "job.json").write_text(json.dumps(plan), "ascii")


def _together(job: Path, processes: int, progress: Progress) -> Tally:
    """Do the first part here and the others in processes of their own; none outlives this call."""
    command = [sys.executable, "-c", WORKER, str(job)]
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(":")}
    running = [subprocess.Popen([*command, str(part)], env=environment) for part in range(1, processes)]  # noqa: S603
    try:
        tally = work(job, 0, progress)
        for part, process in enumerate(running, 1):
            status = process.wait()
            tally.merge(_result(job, part, status))
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
            process.wait()
    return tally


def _result(job: Path, part: int, status: int) -> Tally:
    path, error = job / f"tally-{part}.npz", job / f"error-{part}.json"
    if status == 0 and path.exists():
        return Tally.load(path)
    if error.exists():
        message, hint = json.loads(error.read_text("utf-8"))
        raise InputError(message, hint)
    raise WorkerError(
        f"A process of the comparison ended with status {status}.",
        "Was it killed for memory? Try --processes 1, or compare the evaluation data a part at a time.",
    )
