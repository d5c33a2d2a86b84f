"""`read_samples`: the samples of a file or folder, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import FirstbreakError, InputError, MissingExtraError, UnreadableError
from ..sample import Sample
from .files import PICKLED, PICKLES, data_files
from .lines import head_of, regular
from .protocol import LIKELY, POSSIBLE, Dump, Source, dump_of
from .report import ReadReport
from .roles import check

_PICKLE_MARK = b"\x80"
_HINT = (
    "Give a JSON-lines, CSV or Parquet file with a prompt, a response and a reward a row, or the rollout dump of a "
    "framework; name unusual columns with --column ROLE=NAME (columns in Python)."
)


def read_samples(
    path: Path, *, columns: Mapping[str, str] | None = None, framework: str | None = None,
    report: ReadReport | None = None,
) -> Iterator[Sample]:  # fmt: skip
    """Yield the samples of `path` in constant memory.

    Args:
        path: A file, or a folder whose files are read in natural order.
        columns: Role -> column, where the names are not understood by themselves.
        framework: Whose dump it is, when that cannot be told from the file.
        report: Filled in while reading: formats, rows, what could not be read and why.

    Raises:
        InputError: nothing in `path` is a file of samples.
        UnreadableError: `path` cannot be opened.
        UnknownNameError: a role or framework does not exist.
        MissingExtraError: an optional package is needed.
    """
    check(columns or {})
    found = report if report is not None else ReadReport()
    if path.is_dir():
        return _folder(path, columns or {}, framework, found)
    return _single(path, columns or {}, framework, found)


def holds_samples(folder: Path) -> bool:
    """Whether some file below `folder` is surely one of samples, by its head."""
    return any(
        dump_of(path, head, None, LIKELY) is not None
        for path in data_files(folder, ReadReport())
        if (head := head_of(path)).strip()
    )


def _single(path: Path, columns: Mapping[str, str], framework: str | None, report: ReadReport) -> Iterator[Sample]:
    regular(path)
    head = head_of(path)
    if path.name.lower().endswith(PICKLES) or head.startswith(_PICKLE_MARK):
        raise InputError(f"{path}: {PICKLED}.", "For example json.dumps of each sample's prompt, response and reward.")
    if not head.strip():
        raise InputError(f"{path}: an empty file.", _HINT)
    dump = dump_of(path, head, framework, POSSIBLE)
    if dump is None:
        raise InputError(f"{path}: not a file of samples in a known format.", _HINT)
    report.formats[dump.name] += 1
    yield from dump.read(Source(path, path.name, report, columns))
    if not report.rows:
        reasons = "; ".join(f"{reason} ({n})" for reason, n in report.reasons.most_common(3))
        raise InputError(f"{path}: no sample in it. {reasons}".strip(), _HINT)


def _folder(root: Path, columns: Mapping[str, str], framework: str | None, report: ReadReport) -> Iterator[Sample]:
    missing: MissingExtraError | None = None
    shared: dict[Any, Any] = {}
    for path in data_files(root, report):
        if _twin(path):
            report.leave("prime-rl's effective/ traces, which all/ beside it holds too")
            continue
        try:
            dump = _format_in_folder(path, framework, report, POSSIBLE if columns else LIKELY)
            if dump is not None:
                report.formats[dump.name] += 1
                yield from dump.read(Source(path, path.relative_to(root).as_posix(), report, columns, shared))
        except MissingExtraError as error:
            missing = error
            report.leave(error.message)
        except (UnreadableError, InputError) as error:
            report.leave(_without_place(error))
    if not report.rows:
        if missing is not None:
            raise missing
        left = "; ".join(f"{reason} ({n})" for reason, n in report.left.most_common(3))
        raise InputError(f"{root}: no samples in any file below it. {left}".strip(), _HINT)


def _format_in_folder(path: Path, framework: str | None, report: ReadReport, least: float) -> Dump | None:
    head = head_of(path)
    if not head.strip():
        report.leave("an empty file")
        return None
    dump = None if head.startswith(_PICKLE_MARK) else dump_of(path, head, framework, least)
    if dump is None:
        report.leave("not a file of samples")
    return dump


def _twin(path: Path) -> bool:
    """Whether a file repeats samples of one beside it."""
    return (
        path.name == "traces.jsonl"
        and path.parent.name == "effective"
        and (path.parent.parent / "all" / path.name).is_file()
    )


def _without_place(error: FirstbreakError) -> str:
    """Return why a file could not be read without its name, so that equal reasons are counted together."""
    return error.message.split(": ", 1)[-1][:200]
