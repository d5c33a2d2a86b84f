"""The version of the code, from real repositories, and without git."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from firstbreak.context import code_version as module
from firstbreak.context.code_version import code_version


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "train.py").write_text("lr = 1\n")
    (tmp_path / ".gitignore").write_text("ignored.py\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_a_clean_work_tree_is_its_commit(repository: Path) -> None:
    found = code_version(repository)
    assert found.commit == git(repository, "rev-parse", "HEAD")
    assert (found.diff, found.diff_sha256, found.diff_bytes, found.reason) == ("", "", 0, "")
    assert found.whole


def test_changes_and_new_files_are_in_the_diff_and_it_applies(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (repository / "train.py").write_text("lr = 2\n")
    (repository / "sub").mkdir()
    (repository / "sub" / "new.py").write_text("x = 1\n")
    (repository / "ignored.py").write_text("no\n")
    found = code_version(repository)
    other = tmp_path_factory.mktemp("other")
    git(other, "clone", "-q", str(repository), ".")
    subprocess.run(["git", "apply", "-"], cwd=other, input=found.diff.encode(), check=True)
    assert (other / "train.py").read_text() == "lr = 2\n"
    assert (other / "sub" / "new.py").read_text() == "x = 1\n"
    assert "ignored" not in found.diff
    assert found.diff_sha256 == hashlib.sha256(found.diff.encode()).hexdigest()
    assert found.whole


def test_files_named_like_secrets_binary_or_large_are_named_and_left_out(repository: Path) -> None:
    (repository / ".env").write_text("WORD=1\n")
    (repository / "api_key.txt").write_text("word\n")
    (repository / "weights.pt").write_bytes(b"\0" * 10)
    (repository / "big.json").write_text("1" * (module.MOST_NEW_BYTES + 1))
    (repository / "link.py").symlink_to(repository / ".env")
    found = code_version(repository)
    assert found.untracked == (".env", "api_key.txt", "big.json", "link.py", "weights.pt")
    assert found.diff == ""


def test_a_secret_in_the_diff_is_removed_but_the_hash_is_of_the_whole(repository: Path) -> None:
    (repository / "train.py").write_text("password = 'abcdefgh'\n")
    found = code_version(repository)
    assert "abcdefgh" not in found.diff
    assert found.redacted
    assert not found.whole
    whole = subprocess.run(["git", "diff", "HEAD"], cwd=repository, capture_output=True, check=True).stdout
    assert found.diff_bytes == len(whole)


def test_a_long_diff_is_cut(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DIFF_BYTES", 60)
    (repository / "train.py").write_text("lr = 2\n" * 50)
    found = code_version(repository)
    assert found.cut
    assert len(found.diff) <= 60 < found.diff_bytes


def test_a_folder_below_the_top_gives_paths_that_start_there(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    (inner / "a.py").write_text("1\n")
    assert "b/a.py" in code_version(inner).diff


def test_programs_named_by_the_repository_are_not_run(repository: Path) -> None:
    trap = repository / "trap.sh"
    trap.write_text('#!/bin/sh\ntouch "$(dirname "$0")/sprung"\n')
    trap.chmod(0o755)
    (repository / ".gitattributes").write_text("*.py diff=bad\n")
    git(repository, "config", "diff.bad.textconv", str(trap))
    git(repository, "config", "diff.external", str(trap))
    git(repository, "config", "core.fsmonitor", str(trap))
    (repository / "train.py").write_text("lr = 3\n")
    assert "lr = 3" in code_version(repository).diff
    assert not (repository / "sprung").exists()


def test_without_a_repository_or_without_git_it_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not a git repository" in code_version(tmp_path).reason
    assert "does not exist" in code_version(tmp_path / "gone").reason
    monkeypatch.setenv("PATH", str(tmp_path))
    assert code_version(tmp_path).reason == "git is not installed"


def test_a_repository_without_a_commit_is_not_an_error(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert code_version(tmp_path).commit == ""
    assert code_version(tmp_path).reason


def test_what_firstbreak_and_runs_wrote_is_no_part_of_the_code(repository: Path) -> None:
    run = repository / "runs" / "1"
    (run / "firstbreak-experiments").mkdir(parents=True)
    for name in (
        "firstbreak-context.json",
        "firstbreak-context-1.json",
        "firstbreak-experiments/reversed-reward-1.json",
    ):
        (run / name).write_text("{}\n")
    assert code_version(repository).diff_bytes == 0
    (run / "args.yaml").write_text("lr: 1\n")
    found = code_version(repository)
    assert (found.diff, found.diff_sha256, found.untracked) == ("", "", ("runs/1/args.yaml",))
    git(repository, "add", "-f", ".")
    git(repository, "commit", "-qm", "with a record")
    (run / "firstbreak-context.json").write_text('{"another": 1}\n')
    assert code_version(repository).diff == ""


def test_code_beside_a_record_and_settings_elsewhere_are_part_of_it(repository: Path) -> None:
    (repository / "firstbreak-context.json").write_text("{}\n")
    (repository / "args.yaml").write_text("lr: 1\n")
    (repository / "run").mkdir()
    (repository / "run" / "firstbreak-context.json").write_text("{}\n")
    (repository / "run" / "patch.py").write_text("x = 1\n")
    diff = code_version(repository).diff
    assert "args.yaml" in diff
    assert "run/patch.py" in diff
    assert "firstbreak-context" not in diff
