"""Hashes of files, folders and functions."""

from __future__ import annotations

import functools
import hashlib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.context.gathering import gather
from firstbreak.context.hashing import mark, mark_function


@given(st.binary(max_size=5000))
def test_a_file_is_hashed_as_sha256sum_does(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("f") / "data.bin"
    path.write_bytes(content)
    found = mark(path)
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    assert (found.size_bytes, found.files, found.reason) == (len(content), 1, "")


def test_a_folder_is_hashed_as_the_shell_would(tmp_path: Path) -> None:
    for name, text in (("b.txt", "2"), ("a.txt", "1"), ("sub/c.txt", "3")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to("/etc")
    recipe = "find . -type f -printf '%P\\n' | xargs sha256sum | LC_ALL=C sort | sha256sum"
    shell = subprocess.run(recipe, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)
    found = mark(tmp_path)
    assert found.sha256 == shell.stdout.split()[0]
    assert (found.files, found.size_bytes) == (3, 3)


def test_renaming_moving_and_changing_a_file_change_the_hash_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    seen = {mark(tmp_path).sha256}
    (tmp_path / "a").rename(tmp_path / "b")
    seen.add(mark(tmp_path).sha256)
    (tmp_path / "b").write_text("2")
    seen.add(mark(tmp_path).sha256)
    (tmp_path / "c").write_text("")
    seen.add(mark(tmp_path).sha256)
    assert len(seen) == 4


def test_what_is_not_there_has_a_reason_instead_of_a_hash(tmp_path: Path) -> None:
    found = mark(tmp_path / "gone")
    assert (found.sha256, found.files) == ("", 0)
    assert "no such file" in found.reason


def reward(x: float) -> float:
    return x + 1


def other(x: float) -> float:
    return x + 2


class Scorer:
    def __call__(self, x: float) -> float:
        return x


def test_functions_are_told_apart_by_their_source() -> None:
    found = [mark_function(one) for one in (reward, other, Scorer(), lambda x: x)]
    assert len({one.sha256 for one in found}) == 4
    assert found[0].path.endswith(":reward")
    assert mark_function(functools.wraps(reward)(lambda x: x)) == found[0]


def test_a_function_without_source_is_said_to_have_none() -> None:
    assert mark_function(len).reason
    space: dict[str, object] = {}
    exec("def f(x):\n    return x", space)
    assert "bytecode" in mark_function(space["f"]).reason  # type: ignore[arg-type]


def test_a_reward_is_a_file_a_target_or_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rewards.py").write_text("raise SystemExit('imported')\n")
    context = gather(["true"], tmp_path, rewards=["rewards.py", "rewards.py:score", "rewards:score", reward, "gone:x"])
    marks = context.rewards
    assert len({m.sha256 for m in marks[:3]}) == 1
    assert marks[0].sha256
    assert marks[3].sha256 not in ("", marks[0].sha256)
    assert not marks[4].sha256
    assert marks[4].reason


def test_the_files_that_a_command_names_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("1")
    (tmp_path / "conf.yaml").write_text("lr: 1")
    found = gather(["python", "train.py", "--config=conf.yaml", "\0", "x" * 5000], tmp_path)
    assert [one.path for one in found.inputs] == ["train.py", "conf.yaml"]
    assert found.notes == ("no seed in the command, the configuration or the environment",)
    assert found.packages["numpy"]
    assert found.hardware["cpus"] >= 1
