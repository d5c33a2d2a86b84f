"""The manifest of a release: a hash of every file and a seal over itself; and whether a folder is still what it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ..context.hashing import files_of, sha256_of
from ..errors import InputError, UnreadableError
from .ruling import Ruled, decide

MANIFEST = "manifest.json"
SCHEMA = 1
MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Verified:
    """Whether a folder is the release that its manifest describes."""

    seal: str
    outcome: str
    files: int
    troubles: tuple[str, ...] = ()
    """What is wrong, `()` when nothing is."""


def marks(folder: Path) -> dict[str, dict[str, Any]]:
    """Return path -> size and hash of every file of a release, the manifest apart."""
    found = {path.relative_to(folder).as_posix(): path for path in files_of(folder)}
    found.pop(MANIFEST, None)
    return {name: {"bytes": path.stat().st_size, "sha256": sha256_of(path)} for name, path in sorted(found.items())}


def seal_of(body: Mapping[str, Any]) -> str:
    """Return the seal over a manifest: the SHA-256 of its body, keys sorted."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def composed(body: Mapping[str, Any], folder: Path) -> str:
    """Return the text of the manifest of what lies in `folder`, sealed."""
    whole = {"schema": "firstbreak-release", "schema_version": SCHEMA, **body, "files": marks(folder)}
    plain = cast("dict[str, Any]", json.loads(json.dumps(whole, allow_nan=False)))
    return json.dumps({**plain, "seal": seal_of(plain)}, indent=1, allow_nan=False)


def verify(folder: str | Path, seal: str = "") -> Verified:
    """Compare a release with its manifest: the seal, every file, and that the verdict follows from the rulings.

    A seal proves nothing against somebody who writes a new one: give the one noted when the release was made.

    Args:
        folder: of the release.
        seal: as it was printed when the release was made.

    Raises:
        UnreadableError: there is no manifest; InputError: it is none, or of a newer firstbreak.
    """
    place = Path(folder)
    body = _read(place / MANIFEST)
    told = str(body.pop("seal", ""))
    troubles: list[str] = []
    if seal_of(body) != told:
        troubles.append(f"{MANIFEST} was changed after it was sealed")
    if seal and seal != told:
        troubles.append(f"the seal is {told[:16]}…, not {seal[:16]}…: another release, or sealed anew")
    troubles += _files(cast("dict[str, dict[str, Any]]", body.get("files") or {}), marks(place))
    troubles += _verdict(body)
    return Verified(told, str(body.get("outcome", "")), len(body.get("files") or {}), tuple(troubles))


def _read(path: Path) -> dict[str, Any]:
    hint = "Give the folder that `firstbreak release --out` made."
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: too large for a manifest.", hint)
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}.", hint) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: no manifest of a release ({error}).", hint) from error
    if not isinstance(data, dict) or cast("dict[str, Any]", data).get("schema") != "firstbreak-release":
        raise InputError(f"{path}: no manifest of a release.", hint)
    body = cast("dict[str, Any]", data)
    version = body.get("schema_version")
    if not isinstance(version, int) or version > SCHEMA:
        raise InputError(f"{path}: written by a newer firstbreak.", "Update firstbreak.")
    return body


def _files(told: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for name in sorted({*told, *here}):
        if told.get(name) != here.get(name):
            what = "is missing" if name not in here else "was changed" if name in told else "was added"
            found.append(f"{name} {what}")
    return found


def _verdict(body: Mapping[str, Any]) -> list[str]:
    """Whether the verdict is the one that the rulings lead to."""
    try:
        ruled = [Ruled(entry["ruled"]) for entry in body["gate"]]
    except (KeyError, TypeError, ValueError):
        return ["the rulings of the gate cannot be read"]
    follows = decide(ruled).value
    told = body.get("outcome")
    return [] if told == follows else [f"the verdict says {told}, the rulings say {follows}"]
