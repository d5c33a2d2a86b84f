"""The version of the code and what is not committed, from git; without git, why nothing is known. Never fails."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path, PurePosixPath

from .contents import Code
from .secrets import NAMED, without_keys

MOST_DIFF_BYTES = 1 << 20
"""A longer diff is cut; its hash is that of the whole. Engineering default."""
MOST_NEW_BYTES = 64 << 10
"""New files up to this size enter the diff. Engineering default."""
MOST_NEW_FILES = 200
PATIENCE_S = 20.0
_SOURCES = {".py", ".pyi", ".yaml", ".yml", ".toml", ".json", ".cfg", ".ini", ".sh", ".txt", ".md", ".gin", ".c",
            ".cpp", ".cu", ".h", ".rs", ".xml", ".jinja"}  # fmt: skip
_OUTPUTS = {".json", ".yaml", ".yml", ".toml", ".txt", ".md", ".xml", ".cfg", ".ini"}
"""What a run writes beside its record: there it is no code."""
_RECORDS = ("firstbreak-context*.json", "firstbreak-experiments/*")
"""What firstbreak writes itself. It is no part of the code, and each record would hold all those before it."""
_SECRET_FILES = {".env", ".netrc", ".pem", ".key", ".pgpass"}


def code_version(folder: Path) -> Code:
    """Return the commit and the uncommitted changes of the work tree that `folder` lies in."""
    commit, why = git(folder, "rev-parse", "HEAD")
    if commit is None:
        return Code(reason=why)
    # Tools named in the repository's own configuration are not run.
    options = ("--no-ext-diff", "--no-textconv", "--no-color", "--binary", "--relative")
    apart = [f":(exclude,glob)**/{pattern}" for pattern in _RECORDS]
    diff, why = git(folder, "diff", "HEAD", *options, "--", ".", *apart)
    if diff is None:
        return Code(commit=commit.decode("ascii", "replace").strip(), reason=f"the diff is not known: {why}")
    added, left = _new_files(folder)
    whole = diff + added
    shown = whole[:MOST_DIFF_BYTES].decode("utf-8", "replace")
    clean = without_keys(shown)
    return Code(
        commit=commit.decode("ascii", "replace").strip(),
        diff=clean,
        diff_sha256=hashlib.sha256(whole).hexdigest() if whole else "",
        diff_bytes=len(whole),
        cut=len(whole) > MOST_DIFF_BYTES,
        redacted=clean != shown or "\ufffd" in shown,
        untracked=left,
    )


def git(folder: Path, *words: str, feed: bytes | None = None, good: tuple[int, ...] = (0,)) -> tuple[bytes | None, str]:
    """Return what git prints, or None and why."""
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *words]
    try:
        done = subprocess.run(  # noqa: S603 - git, with arguments of ours
            command, cwd=folder, capture_output=True, timeout=PATIENCE_S, check=False, input=feed or b"",
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"},
        )  # fmt: skip
    except FileNotFoundError:
        return None, "git is not installed" if folder.is_dir() else f"{folder} does not exist"
    except subprocess.TimeoutExpired:
        return None, f"git took more than {PATIENCE_S:g} s"
    except OSError as error:
        return None, f"git cannot be run: {error.strerror}"
    if done.returncode in good:
        return done.stdout, ""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return None, without_keys(lines[0])[:200] if lines else f"git ended with status {done.returncode}"


def _new_files(folder: Path) -> tuple[bytes, tuple[str, ...]]:
    """Return a patch that makes the new text files, and the names of the new files that it leaves out."""
    listed, _ = git(folder, "ls-files", "--others", "--exclude-standard", "-z")
    there = {n for n in (listed or b"").decode("utf-8", "surrogateescape").split("\0") if n}
    records = {n for n in there if _is_record(n)}
    outputs = {n for n in there - records if _is_output(n, {str(PurePosixPath(r).parent) for r in records} - {"."})}
    names = sorted(there - records - outputs)
    patches: list[bytes] = []
    left = sorted(n.encode("utf-8", "replace").decode("utf-8") for n in outputs)
    for name in names:
        patch = _patch_of(folder, name) if len(patches) < MOST_NEW_FILES else None
        if patch is None:
            left.append(name.encode("utf-8", "replace").decode("utf-8"))
        else:
            patches.append(patch)
    return b"".join(patches), tuple(left[:MOST_NEW_FILES])


def _is_record(name: str) -> bool:
    return any(PurePosixPath(name).match(pattern) for pattern in _RECORDS)


def _is_output(name: str, runs: set[str]) -> bool:
    """Whether a new file lies in the folder of a recorded run (`runs`) and is of a kind that runs write."""
    path = PurePosixPath(name)
    return path.suffix in _OUTPUTS and any(str(above) in runs for above in path.parents)


def _patch_of(folder: Path, name: str) -> bytes | None:
    path, pure = folder / name, PurePosixPath(name)
    secret = pure.suffix in _SECRET_FILES or pure.name.startswith(".env") or pure.name in _SECRET_FILES
    if secret or NAMED.search(pure.stem) or pure.suffix not in _SOURCES or path.is_symlink():
        return None
    try:
        if path.stat().st_size > MOST_NEW_BYTES:
            return None
    except OSError:
        return None
    options = ("--no-index", "--no-ext-diff", "--no-textconv", "--no-color")
    patch, _ = git(folder, "diff", *options, "--", "/dev/null", name, good=(0, 1))
    return patch if patch and b"\nBinary files " not in patch else None
