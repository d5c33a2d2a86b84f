"""Running a recorded training again: what is different now, and the work tree that it ran in."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import InputError
from .code_version import git
from .comparing import Difference, differences
from .contents import Context, Mark
from .gathering import gather, mark_in
from .settings import SEED, arguments

MATTERS = 0.25
"""Differences that weigh as much stand in the way of a replay. Engineering default."""


@dataclass(frozen=True)
class Check:
    """What stands between a record and running it again."""

    differences: tuple[Difference, ...]
    """Then (`a`) against now (`b`), the weightiest first."""
    obstacles: tuple[str, ...] = ()
    """Why it cannot be run at all."""
    remarks: tuple[str, ...] = ()
    unknown: str = ""
    """Why it cannot be told whether the code is the same; empty where it can."""

    @property
    def same(self) -> bool:
        """Whether nothing that matters differs, nothing stands in the way, and the code is known to be the same."""
        return not self.obstacles and not self.serious and not self.unknown

    @property
    def serious(self) -> tuple[Difference, ...]:
        """The differences that may change the result."""
        return tuple(d for d in self.differences if d.weight >= MATTERS)


def check(record: Context, *, folder: Path | None = None) -> Check:
    """Compare a record with this machine, this code and the data as they are now.

    Args:
        record: of the run.
        folder: where it would run, if not where it ran.
    """
    place = folder or Path(record.folder)
    obstacles = list(_obstacles(record, place))
    if not place.is_dir():
        return Check((), tuple(obstacles))
    now = gather(record.command, place, data=[m.path for m in record.data])
    # What was given by hand is what it was; a function of which only the source was hashed is not looked for again.
    rewards = tuple(_again(place, m) for m in record.rewards)
    now = replace(now, config=record.config, seeds=record.seeds, rewards=rewards)
    gone = [m.path for m, n in zip(record.data, now.data, strict=True) if m.sha256 and not n.sha256]
    obstacles += [f"the data {path} is not there" for path in gone]
    return Check(differences(record, now), tuple(obstacles), tuple(_remarks(record, place)), _unknown(record, now))


def _unknown(record: Context, now: Context) -> str:
    """Say why the code of then cannot be compared with that of now."""
    for when, one in (("then", record.code), ("now", now.code)):
        if one.reason or not one.commit:
            return f"its version {when} is not known ({one.reason or 'no commit was recorded'})"
    return ""


def _again(place: Path, one: Mark) -> Mark:
    """Hash the file of a reward function once more; where that is not known, keep what was recorded."""
    where = one.path if (place / one.path).exists() else one.path.rpartition(":")[0]
    found = mark_in(place, where) if where and (place / where).is_file() else one
    return replace(found, path=one.path)


def _obstacles(record: Context, place: Path) -> list[str]:
    found: list[str] = []
    if not record.command:
        found.append("the record holds no command")
    if record.redacted_arguments:
        names = ", ".join(record.command[i - 1] if i else "the command" for i in record.redacted_arguments)
        found.append(f"a secret was removed from the command ({names}): set it in the environment instead")
    if not place.is_dir():
        found.append(f"its folder {place} is not there: give another with --folder")
    return found


def _remarks(record: Context, place: Path) -> list[str]:
    """Say what can be restored, and what a replay does not repeat."""
    found: list[str] = []
    if not record.seeds:
        found.append("the record holds no seed: it will not run the same way twice")
    elif not any(SEED.search(key) for key in arguments(record.command)):
        found.append("the seed is not in the command: the training must set it by itself")
    if record.code.diff_sha256 and not record.code.reason:
        found.append(_applies(record, place))
    if any(gpu for gpu in record.hardware.get("gpus") or ()):
        found.append("kernels of a GPU add in an order that changes: expect the same course, not the same bits")
    return found


def _applies(record: Context, place: Path) -> str:
    """Say whether the recorded diff goes onto its commit."""
    code = record.code
    if not code.whole:
        lacks = [what for what, there in (("cut", code.cut), ("taken free of secrets", code.redacted)) if there]
        return f"the uncommitted changes of then cannot be restored: the diff was {' and '.join(lacks)}"
    known, _ = git(place, "cat-file", "-e", f"{code.commit}^{{commit}}")
    if known is None:
        return f"commit {code.commit[:12]} is not in this repository: fetch it to restore the code of then"
    left = f"; new files not in it: {', '.join(code.untracked[:5])}" if code.untracked else ""
    return (
        f"the code of then can be restored: --worktree FOLDER checks out {code.commit[:12]} and applies its diff{left}"
    )


def restore_code(record: Context, folder: Path) -> Path:
    """Check the recorded commit out into `folder` and apply the recorded diff; the work tree of now stays as it is.

    Return the folder to run in.

    Raises:
        InputError: the commit is not known here, the diff does not apply, or the folder exists.
    """
    place, code = Path(record.folder), record.code
    if folder.exists():
        raise InputError(f"{folder} exists already.", "Give --worktree a folder that does not.")
    if not code.commit:
        raise InputError("The record holds no commit.", "Run it in the work tree of now: leave out --worktree.")
    if code.diff_sha256 and not code.whole:
        raise InputError("The record does not hold all uncommitted changes.", _applies(record, place))
    prefix, why = git(place, "rev-parse", "--show-prefix")
    if prefix is None:
        raise InputError(f"{place}: {why}.", "Run this where the repository is.")
    done, why = git(place, "worktree", "add", "--detach", str(folder.absolute()), code.commit)
    if done is None:
        raise InputError(f"Commit {code.commit[:12]} cannot be checked out: {why}.", "Fetch it first: git fetch --all")
    inner = folder / prefix.decode("utf-8", "replace").strip()
    if code.diff:
        # Given by way of the standard input, so that no file is left.
        applied, why = git(inner, "apply", "--whitespace=nowarn", "-", feed=code.diff.encode())
        if applied is None:
            git(place, "worktree", "remove", "--force", str(folder.absolute()))
            raise InputError(f"The recorded diff does not apply: {why}.", "The record was changed, or git is older.")
    return inner


def plan(record: Context, extra: Sequence[str], folder: Path) -> tuple[tuple[str, ...], str]:
    """Return the command to run, and how it reads with the folder that it runs in."""
    command = (*record.command, *extra)
    return command, f"cd {shlex.quote(str(folder))} && {shlex.join(command)}"
