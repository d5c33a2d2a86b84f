"""A checkpoint that is hashed is not therefore whole: containers are gone through, and nothing in them is run."""

from __future__ import annotations

import json
import pickle
import random
import zipfile
from dataclasses import replace
from pathlib import Path

from firstbreak.release.evidence import Evidence
from firstbreak.release.gate import judge
from firstbreak.release.ruling import Ruled, Ruling
from firstbreak.release.runs import read_runs
from firstbreak.release.stored import stored_of
from firstbreak.release.structure import State, Structure, structure_of

from .conftest import make_run, save


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("data.pkl", b"\x80\x02." * 500)
        archive.writestr("data/0", bytes(range(256)) * 40)
    return path


def tensors(path: Path, *, spans: tuple[tuple[int, int], ...] = ((0, 16), (16, 40)), data: int = 40) -> Path:
    header = {f"w{i}": {"dtype": "F32", "shape": [1], "data_offsets": span} for i, span in enumerate(spans)}
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * data)
    return path


def flipped(path: Path) -> Path:
    """Change one bit in the middle of what is stored."""
    data = bytearray(path.read_bytes())
    data[data.index(bytes(range(256))) + 300] ^= 1
    path.write_bytes(bytes(data))
    return path


def cut(path: Path, keep: float = 0.5) -> Path:
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    return path


def test_whole_files_of_known_formats_are_whole(tmp_path: Path) -> None:
    assert structure_of(zipped(tmp_path / "best_model.zip")).state is State.WHOLE
    assert structure_of(zipped(tmp_path / "model.pt")).state is State.WHOLE  # torch.save writes a zip file
    assert structure_of(tensors(tmp_path / "model.safetensors")).state is State.WHOLE


def test_damaged_files_are_damaged(tmp_path: Path) -> None:
    random.seed(0)
    (tmp_path / "text.zip").write_text("no zip at all")
    (tmp_path / "empty.pt").write_bytes(b"")
    broken = [
        cut(zipped(tmp_path / "a.zip")),
        cut(zipped(tmp_path / "a.pt"), random.uniform(0.05, 0.95)),
        flipped(zipped(tmp_path / "b.zip")),
        tmp_path / "text.zip",
        tmp_path / "empty.pt",
        cut(tensors(tmp_path / "a.safetensors"), 0.95),
        cut(tensors(tmp_path / "b.safetensors"), 0.2),
        tensors(tmp_path / "c.safetensors", data=41),
        tensors(tmp_path / "d.safetensors", spans=((0, 16), (20, 40))),
    ]
    assert [(path.name, structure_of(path).state) for path in broken] == [(p.name, State.DAMAGED) for p in broken]


def test_what_is_not_known_is_not_checked_and_nothing_is_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (Path(str(tmp_path / "ran")).touch, ())  # type: ignore[return-value]

    (tmp_path / "old.pt").write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "new.pt", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Bomb()))
    assert structure_of(tmp_path / "old.pt").state is State.NOT_CHECKED
    assert structure_of(tmp_path / "new.pt").state is State.WHOLE
    assert not (tmp_path / "ran").exists()


def test_a_folder_is_as_whole_as_its_files_and_its_index_of_shards(tmp_path: Path) -> None:
    place = tmp_path / "checkpoint-10"
    place.mkdir()
    assert structure_of(place).state is State.DAMAGED
    (place / "notes.txt").write_text("x")
    assert structure_of(place).state is State.NOT_CHECKED
    tensors(place / "model-1.safetensors")
    assert structure_of(place).state is State.WHOLE
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (place / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "1 of 2 shards are not there" in str(structure_of(place))
    tensors(place / "model-2.safetensors")
    assert structure_of(place).state is State.WHOLE
    cut(place / "model-2.safetensors", 0.9)
    assert structure_of(place).state is State.DAMAGED


def ruling(evidence: Evidence) -> Ruling:
    return next(r for rule, r in judge(evidence) if rule.name == "checkpoints-kept")


def test_a_damaged_checkpoint_is_no_go_and_an_unknown_one_is_said(complete: Evidence) -> None:
    def kept(structure: Structure) -> Evidence:
        stored = (replace(complete.checkpoints[0], structure=structure), *complete.checkpoints[1:])
        return replace(complete, checkpoints=stored)

    assert ruling(kept(Structure(State.WHOLE, "x"))).ruled is Ruled.GOOD
    assert ruling(kept(Structure(State.DAMAGED, "x"))).ruled is Ruled.BAD
    unknown = ruling(kept(Structure(State.NOT_CHECKED, "model.bin is of a format")))
    assert unknown.ruled is Ruled.GOOD
    assert "1 not checked: model.bin" in unknown.text


def test_a_best_model_that_its_record_has_and_the_folder_lacks_does_not_pass(
    tmp_path: Path, complete: Evidence
) -> None:
    from firstbreak.context import store
    from firstbreak.context.hashing import mark

    folder = make_run(tmp_path / "a", 0)
    context = store.find(str(folder))
    assert context is not None
    store.write(replace(context, checkpoints=(mark(folder / "best_model.zip"),)), folder)
    save(folder / "rl_model_5888_steps.zip", "close to the best evaluation")
    (whole,) = read_runs([folder])
    assert {one.role: Path(one.path).name for one in stored_of(whole)}["best"] == "best_model.zip"
    (folder / "best_model.zip").unlink()
    (run,) = read_runs([folder])
    kept = stored_of(run)
    found = ruling(replace(complete, runs=(run,), checkpoints=tuple(kept)))
    assert found.ruled is Ruled.MISSING
    assert "best_model.zip is in the record of the run, and not there any more" in found.text


def test_a_corrupt_best_model_is_found_by_reading_the_folder(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "a", 0)
    cut(folder / "best_model.zip")
    (run,) = read_runs([folder])
    (best,) = [one for one in stored_of(run) if one.role == "best"]
    assert best.structure is not None
    assert best.structure.state is State.DAMAGED


def test_a_zip_file_inside_a_zip_file_does_not_stand_for_the_outer_one(tmp_path: Path) -> None:
    """Stable-Baselines3 puts what torch.save wrote, a zip file, into one of its own."""
    inner = zipped(tmp_path / "policy.pth").read_bytes()
    best = tmp_path / "best_model.zip"
    with zipfile.ZipFile(best, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("data", b"{}")
        archive.writestr("policy.pth", inner)
        archive.writestr("policy.optimizer.pth", b"0" * 500)
    assert structure_of(best).state is State.WHOLE
    best.write_bytes(best.read_bytes()[: best.read_bytes().index(inner) + len(inner) + 300])
    assert structure_of(best).state is State.DAMAGED
    assert "cut off" in structure_of(best).why
