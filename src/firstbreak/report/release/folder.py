"""Writes a release into its folder: the page, the results, the records, and the manifest last."""

from __future__ import annotations

from pathlib import Path

from ...errors import UnreadableError
from ...release import building, manifest
from ...release.building import Release
from ..audit import words as audit_words
from ..inspection.json import document as inspection_document
from ..json import document as diagnosis_document
from ..json import dumps
from . import documents
from .page import page


def write(release: Release, folder: Path, preflight: str | Path | None = None) -> str:
    """Write everything but the checkpoints, which are there already; return the seal.

    Raises:
        UnreadableError: the disk is full, or the folder is not ours.
    """
    try:
        building.attach(release, folder, preflight)
        for run in (*release.evidence.runs, *release.evidence.baseline):
            _put(folder / "runs" / f"{run.name}-diagnosis.json", dumps(diagnosis_document([run.diagnosis])))
        _put(folder / "results.json", dumps(documents.results(release)))
        if release.evidence.samples is not None:
            shown = audit_words.data(release.shown)
            _put(
                folder / "reward_audit.json", dumps({**inspection_document([release.evidence.samples]), "shown": shown})
            )
        _put(folder / "index.html", page(release))
        text = manifest.composed(documents.body(release), folder)
        _put(folder / manifest.MANIFEST, text)
    except OSError as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError(
            f"{folder}: cannot be written: {error.strerror}.", "Make room, and release again."
        ) from error
    return manifest.verify(folder).seal


def _put(path: Path, text: str) -> None:
    path.write_text(text + ("" if text.endswith("\n") else "\n"), "utf-8")
