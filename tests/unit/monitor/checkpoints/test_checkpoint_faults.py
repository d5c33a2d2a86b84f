"""Damaged files, states and arguments that cannot be kept, folders that vanish: a fault is noted, training goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from firstbreak.monitor.checkpoints import CheckpointError
from tests.unit.monitor.checkpoints.filling import reseal, saved, store_in


@pytest.mark.parametrize("how", ["flip", "cut", "gone", "more", "link"])
@pytest.mark.parametrize("name", ["manifest.json", "tree.json", "arrays.npz"])
def test_damage_is_noticed_named_and_passed_over(tmp_path: Path, how: str, name: str) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    file = saved(store, 2) / name
    data = bytearray(file.read_bytes())
    if how == "flip":
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    elif how == "cut":
        file.write_bytes(data[:-7])
    elif how == "gone":
        file.unlink()
    elif how == "more":
        (file.parent / f"{name}.more").write_bytes(b"x")
    else:
        file.rename(tmp_path / "elsewhere")
        file.symlink_to(tmp_path / "elsewhere")
    assert store.load("last")["w"][0] == 1
    assert any(str(file.parent) in fault for fault in store.faults)
    with pytest.raises(CheckpointError, match=file.parent.name):
        store.load(file.parent)
    saved(store, 3)
    assert store.load("last")["w"][0] == 3


def test_when_all_are_damaged_the_error_names_each(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    for step in (1, 2):
        (saved(store, step) / "arrays.npz").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"(?s)save-000002.*save-000001"):
        store.load("last_healthy")


def test_nothing_saved_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="There is none"):
        store_in(tmp_path / "none").roll_back()


def test_a_damaged_ledger_is_a_fault_and_not_the_end(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    saved(store, 1)
    store.broke(5)
    (tmp_path / "store.json").write_text("{")
    again = store_in(tmp_path)
    assert again.last_healthy is not None
    assert "store.json" in again.faults[0]


@pytest.mark.parametrize("keep", [0, -1])
def test_at_least_one_is_kept(tmp_path: Path, keep: int) -> None:
    with pytest.raises(CheckpointError, match="keep"):
        store_in(tmp_path, keep=keep)


@pytest.mark.parametrize("state", [{"f": lambda: 0}, {"o": object()}, {1: {2: {3}}, "x": (open,)}])
def test_a_state_that_cannot_be_kept_does_not_stop_training(tmp_path: Path, state: Any) -> None:
    store = store_in(tmp_path)
    assert store.save(state, step=1) is None
    assert "not plain data" in store.faults[-1]
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CheckpointError):
        store_in(tmp_path, strict=True).save(state, step=1)


@pytest.mark.parametrize("step", [float("nan"), float("inf"), "x", None])
def test_a_bad_step_is_a_fault(tmp_path: Path, step: Any) -> None:
    store = store_in(tmp_path)
    assert store.save({}, step=step) is None
    assert len(store.faults) == 1


def test_wrong_arguments_of_a_failure_are_faults(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    assert store.fail({}, step=1, reason="r", notice=5) is None
    assert store.fail({}, step=1, reason="r", notice={"x": object()}) is None
    assert store.save({}, step=1, score="high") is None  # type: ignore[arg-type]
    assert len(store.faults) == 3
    assert list(tmp_path.iterdir()) == []


def test_generators_of_another_version_are_a_fault_and_the_state_still_comes(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    path = saved(store, 1)
    tree = json.loads((path / "tree.json").read_text())
    tree["rng"]["python"]["version"] = 99
    (path / "tree.json").write_text(json.dumps(tree))
    reseal(path)
    assert store.roll_back()[1] == 1
    assert "random generators" in store.faults[-1]


def test_a_vanished_folder_is_made_again(tmp_path: Path) -> None:
    store = store_in(tmp_path / "s")
    saved(store, 1)
    store.broke(1)
    shutil.rmtree(tmp_path / "s")
    assert store.last is None
    store.broke(1)
    with pytest.raises(CheckpointError):
        store.load()
    store.mended()
    assert saved(store, 2).name == "save-000002"
    assert store.load()["w"][0] == 2


def test_a_file_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    store = store_in(tmp_path / "f")
    assert store.save({}, step=1) is None
    store.broke(3)
    assert store.last is None
    with pytest.raises(CheckpointError):
        store.roll_back()
