"""`firstbreak audit` of recorded control episodes: faces, exit status, wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from tests.audit.control import grid, record, save

from .conftest import Answer

Call = Callable[..., Answer]
FACES = ("text", "json", "markdown", "junit", "github", "html")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("episodes")
    save(place / "cartpole.npz", record("CartPole-v1", "random", 24))
    save(place / "right.npz", record("CartPole-v1", "right", 24))
    save(place / "pump.npz", grid("stand", known=False))
    each = record("CartPole-v1", "random", 24)
    each[0].rewards[0] = np.nan
    save(place / "nan.npz", each)
    save(place / "few.npz", each[1:4])
    (place / "both").mkdir()
    save(place / "both" / "evaluations.npz", each)
    (place / "both" / "samples.jsonl").write_text('{"prompt": "a", "completion": "b", "reward": 1}\n', "utf-8")
    (place / "alone").mkdir()
    save(place / "alone" / "x.npz", record("CartPole-v1", "random", 24))
    return place


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("cartpole.npz", 0, "HEALTHY: trajectories"),
        ("alone", 0, "HEALTHY: trajectories"),
        ("right.npz", 3, "one-action-always"),
        ("pump.npz", 3, "success"),
        ("few.npz", 3, "UNDECIDED"),
        ("nan.npz", 1, "trajectory-not-finite"),
    ],
)
def test_what_is_said_and_the_exit_status(call: Call, folder: Path, name: str, status: int, words: str) -> None:
    seen = call("audit", folder / name)
    assert seen.status == status, seen.out
    assert words in seen.out
    assert seen.err == ""
    assert max(cell_len(line) for line in seen.out.splitlines()) <= 80


def test_the_options_of_the_exit_status_hold(call: Call, folder: Path) -> None:
    assert call("audit", folder / "right.npz", "--fail-on", "warning").status == 1
    assert call("audit", folder / "right.npz", "--undecided-ok").status == 0


@pytest.mark.parametrize("face", FACES)
def test_every_face(call: Call, folder: Path, face: str) -> None:
    seen = call("audit", folder / "nan.npz", "--format", face)
    assert seen.status == 1
    assert "trajectory-not-finite" in seen.out


def test_show(call: Call, folder: Path, tmp_path: Path) -> None:
    seen = call("audit", folder / "nan.npz", "--show", "2")
    for words in ("high return: episode", "low return: episode", "random: episode", "end: terminated", "action 0 to 1"):
        assert words in seen.out
    assert max(cell_len(line) for line in seen.out.splitlines()) <= 80
    document = json.loads(call("audit", folder / "nan.npz", "--show", "30", "--format", "json").out)
    assert [one["kind"] for one in document["details"]["shown"][:3]] == ["high return", "low return", "random"]
    call("audit", folder / "nan.npz", "--show", "1", "--html", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text("utf-8").count("<article") == 3
    assert "<article" in call("audit", folder / "nan.npz", "--show", "1", "--format", "html").out
    written = call("audit", folder / "nan.npz", "--show", "1", "--output", tmp_path / "page.txt")
    assert written.out == ""
    assert "high return" in (tmp_path / "page.txt").read_text("utf-8")


def test_a_folder_that_holds_samples_too_is_one_of_samples(call: Call, folder: Path) -> None:
    assert "samples" in call("audit", folder / "both").out
    assert "trajectories" in call("audit", folder / "both" / "evaluations.npz").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.npz",), "none.npz"),
        (("cartpole.npz", "--labels", "labels.jsonl"), "--labels"),
        (("cartpole.npz", "--column", "reward=x"), "--column"),
        (("cartpole.npz", "--show", "1", "--format", "github"), "github"),
        (("damaged.npz",), "npz"),
        (("words.npz",), "actions as numbers"),
    ],
)
def test_wrong_arguments(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "damaged.npz").write_bytes(b"PK\x03\x04")
    np.savez(folder / "words.npz", actions=np.array(["left", "right"]), rewards=np.ones(2))
    seen = call("audit", *arguments)
    assert seen.status == 2
    assert message in seen.err
    assert "Traceback" not in seen.err
    assert seen.out == ""


def test_a_file_of_metadata_beside_the_episodes_is_no_file_of_samples(call: Call, tmp_path: Path) -> None:
    """As in every Minari data set: `metadata.json` beside `main_data.hdf5`."""
    (tmp_path / "data").mkdir()
    save(tmp_path / "data" / "x.npz", record("CartPole-v1", "random", 24))
    (tmp_path / "data" / "metadata.json").write_text('{"total_episodes": 24, "minari_version": "0.5.4"}', "utf-8")
    assert call("audit", tmp_path).status == 0
