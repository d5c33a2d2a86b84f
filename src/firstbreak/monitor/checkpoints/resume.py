"""What a resume would lose: parts that a checkpoint lacks, values that differ after loading, and what follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ...errors import InputError
from ...finding import Severity
from .foreign import Found, look_into
from .needed import BY_NAME, PARTS, Part, part_named, parts_of_algorithm
from .outline import Leaf, Outline, outline_of

_SHOWN = 3
_ORDER = {part.name: i for i, part in enumerate(PARTS)}


@dataclass(frozen=True)
class Lack:
    """One part that is missing, empty or different after a resume."""

    part: str
    """A name of the table of parts, or the user's own when it is none of these."""
    what: str
    """`missing`, `empty` or `differs`."""
    detail: str
    symptom: str
    """What will be seen after the resume."""
    rules: tuple[str, ...]
    severity: Severity
    certain: bool = True
    """False when only some trainers of this kind have the part."""
    paths: tuple[str, ...] = ()
    """Every value concerned."""

    def __str__(self) -> str:
        title = BY_NAME[self.part].title if self.part in BY_NAME else self.part
        head = f"{title}: {self.detail}" if self.certain else f"{title} (if this trainer has it): {self.detail}"
        return f"{head}; {self.symptom}" if self.symptom else head


Snapshot = Outline
"""Digests of a trainer's parts at one moment."""


def snapshot(parts: Mapping[str, Any]) -> Snapshot:
    """Take the digest of every value of `parts`, live objects or states: before saving, and after loading."""
    return outline_of(parts)


def missing_parts(state: Mapping[str, Any] | Snapshot | str | Path, expected: Any = "") -> tuple[Lack, ...]:
    """Say what a checkpoint lacks, the worst first.

    Args:
        state: A state, live parts, a snapshot, or a file or folder: a checkpoint of ours, what `torch.save` wrote
            (opened with `weights_only`), an SB3 archive, a folder of transformers.
        expected: The algorithm (`SAC`), or the names of the parts that the trainer has, or its live parts. May be left
            out for an SB3 archive.
    """
    found, outline = _open(state)
    expected = expected or found.algorithm
    if not expected:
        raise InputError("It is not known what to expect.", "Name the algorithm, or the parts that the trainer has.")
    if isinstance(expected, Mapping | Outline):
        return validate_resume(cast(Any, expected), outline)
    certain, perhaps = _expected(expected)
    have = {*outline.parts, *found.beside, *found.without}
    sure = {part.name for part in certain if not set(part.instead) & have}
    lacks = [
        _missing(part, part.name in sure, found.advice.get(part.name, ""))
        for part in (*certain, *perhaps)
        if part.name not in have
    ]
    return _sorted([*lacks, *_blank(outline)])


def validate_resume(
    before: Mapping[str, Any] | Snapshot | str | Path,
    after: Mapping[str, Any] | Snapshot | str | Path,
    *,
    algorithm: str = "",
) -> tuple[Lack, ...]:
    """Compare a trainer before saving with the trainer after loading, the worst difference first.

    Args:
        before: Live parts, a state, a snapshot or a checkpoint.
        after: The same of the resumed trainer (or the checkpoint itself).
        algorithm: If given, parts that neither side has are named, too.
    """
    _, old = _open(before)
    _, new = _open(after)
    wrong: dict[tuple[str, str], list[str]] = {}
    for path, leaf in old.leaves.items():
        what = _compared(leaf, new.leaves.get(path))
        if what:
            part = "scheduler" if what == "differs" and path.endswith("/lr") else leaf.part
            wrong.setdefault((part or path.split("/")[0], what), []).append(path)
    total = {part: len(paths) for part, paths in old.parts.items()}
    lacks = [_changed(part, what, paths, total, old) for (part, what), paths in wrong.items()]
    named = {lack.part for lack in lacks}
    if algorithm:
        lacks += [x for x in missing_parts(new, algorithm) if x.certain and x.part not in named]
    return _sorted(lacks)


def _open(state: Any) -> tuple[Found, Outline]:
    if isinstance(state, Outline):
        return Found({}), state
    found = look_into(Path(state)) if isinstance(state, str | Path) else Found(cast("Mapping[str, Any]", state))
    return found, outline_of(found.state)


def _expected(expected: Any) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    if isinstance(expected, str):
        return parts_of_algorithm(expected)
    return tuple(part_named(str(name)) for name in cast("Iterable[Any]", expected)), ()


def _missing(part: Part, certain: bool, advice: str) -> Lack:
    detail = advice or "not in the checkpoint"
    return Lack(part.name, "missing", detail, part.symptom, part.rules, part.severity, certain)


def _blank(outline: Outline) -> list[Lack]:
    """Optimisers that were saved without moments, unless training had not begun."""
    if outline.step == 0:
        return []
    return [
        _lack(outline.leaves[f"{path}/state"].part, "empty", f"{path} holds no moments", (path,), outline)
        for path in outline.blank
        if f"{path}/state" in outline.leaves
    ]


def _compared(old: Leaf, new: Leaf | None) -> str:
    if new is None:
        return "missing"
    return "" if (old.kind, old.digest) == (new.kind, new.digest) else "differs"


def _changed(part: str, what: str, paths: list[str], total: Mapping[str, int], outline: Outline) -> Lack:
    count = f"{len(paths)} of {total.get(part, len(paths))} values"
    shown = ", ".join(paths[:_SHOWN]) + (" …" if len(paths) > _SHOWN else "")
    verb = "are missing" if what == "missing" else "differ"
    return _lack(part, what, f"{count} {verb}: {shown}", tuple(paths), outline)


def _lack(part: str, what: str, detail: str, paths: tuple[str, ...], outline: Outline) -> Lack:
    known = BY_NAME.get(part)
    if known is None:
        return Lack(part, what, detail, "", (), Severity.INFO, True, paths)
    symptom = known.symptom
    if part == "optimiser" and outline.beta2 is not None and outline.beta2 < 1:
        symptom += f" (about {1 / (1 - outline.beta2):.0f} at beta2 = {outline.beta2:g})"
    return Lack(part, what, detail, symptom, known.rules, known.severity, True, paths)


def _sorted(lacks: list[Lack]) -> tuple[Lack, ...]:
    def key(lack: Lack) -> tuple[bool, int, int]:
        return (not lack.certain, -lack.severity.rank, _ORDER.get(lack.part, len(_ORDER)))

    return tuple(sorted(lacks, key=key))
