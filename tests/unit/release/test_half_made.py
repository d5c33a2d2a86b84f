"""A release that could not be finished leaves nothing in the way of the next; what is missing says where it belongs."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from firstbreak.cli import release as command
from firstbreak.errors import InputError
from firstbreak.release import checklists
from firstbreak.release.building import clear, prepare
from firstbreak.release.evidence import Run


def _asked(out: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add(parser)
    return parser.parse_args(["runs", "--out", str(out)])


@pytest.mark.parametrize("end", [KeyboardInterrupt(), InputError("The disk is full.", "Make room.")])
def test_half_a_release_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], end: BaseException
) -> None:
    out = tmp_path / "release"

    def half(args: argparse.Namespace, folder: Path, scale: object) -> int:
        (folder / "checkpoints" / "0").mkdir(parents=True)
        (folder / "checkpoints" / "0" / "best.zip").write_bytes(b"half")
        (folder / "results.json").write_text("{}")
        raise end

    monkeypatch.setattr(command, "_made", half)
    with pytest.raises(type(end)):
        command.run(_asked(out))
    assert list(out.iterdir()) == []
    prepare(out)  # the next release may use it
    assert ("is empty again" in capsys.readouterr().err) == isinstance(end, KeyboardInterrupt)


def test_what_stood_in_the_folder_before_is_never_removed(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        command.run(_asked(tmp_path))
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine.txt").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(tmp_path / "elsewhere")
    clear(tmp_path / "out")
    assert (tmp_path / "elsewhere" / "mine.txt").exists()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_row_that_preflight_could_not_look_at_passes_on_what_to_add() -> None:
    row = {"status": "not looked at", "add": 'expert = "my_envs:controller"'}
    said = checklists._to_add("weak-expert-baseline", row, ())  # pyright: ignore[reportPrivateUsage]
    assert 'expert = "my_envs:controller"' in said
    assert "firstbreak.toml" in said
    nothing = checklists._to_add("weak-expert-baseline", None, ())  # pyright: ignore[reportPrivateUsage]
    assert nothing == "firstbreak preflight --format json --output preflight.json"


def test_what_the_runs_say_themselves_needs_no_preflight(five: list[Path]) -> None:
    from dataclasses import replace

    from firstbreak.context.contents import Ending
    from firstbreak.release.runs import read_runs

    def status(*runs: Run) -> dict[str, str]:
        wanted = ("evaluation-protocol", "memory-estimate")
        return {line.id: line.status for line in checklists.before(runs) if line.id in wanted}

    (five[0].parent / "protocol.toml").unlink()
    runs = read_runs(five)
    assert status(*runs) == {"evaluation-protocol": "missing", "memory-estimate": "missing"}
    fixed = tuple(replace(run, protocol_file="protocol.toml") for run in runs)
    assert status(*fixed)["evaluation-protocol"] == "done"
    assert status(runs[0], *fixed[1:])["evaluation-protocol"] == "missing"
    context = runs[0].context
    assert context is not None
    held = tuple(
        replace(run, context=replace(context, ending=Ending("finished", 0, peak_memory_bytes=9))) for run in runs
    )
    assert status(*held)["memory-estimate"] == "done"
    assert status(replace(held[0], ended="killed"), *held[1:])["memory-estimate"] == "missing"
