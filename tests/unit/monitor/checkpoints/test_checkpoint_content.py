"""Plain data, arrays and tensors come back as they were, and nothing that is read runs code."""

from __future__ import annotations

import json
import math
import pickle
import tempfile
from collections import OrderedDict, deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.monitor.checkpoints import CheckpointError, Checkpoints, content
from firstbreak.monitor.checkpoints.manifest import MANIFEST, _seal
from firstbreak.monitor.checkpoints.manifest import marks as marks_of

torch.set_num_threads(1)

DTYPES = ("f2", "f4", "f8", "i1", "i8", "u8", "?", "c8", "<U3", "M8[s]")
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
    st.binary(max_size=6),
    st.complex_numbers(),
)
ARRAYS = st.builds(
    lambda dtype, shape: (
        np.arange(math.prod(shape)).astype(dtype).reshape(shape) if dtype != "<U3" else np.full(shape, "a")
    ),
    st.sampled_from(DTYPES),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
)
TENSORS = st.builds(
    lambda dtype, n: torch.arange(n).to(dtype),
    st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.float16, torch.complex64]),
    st.integers(0, 5),
)
KEYS = st.one_of(st.text(max_size=4), st.integers(), st.tuples(st.integers(), st.text(max_size=2)), st.just("$"))
TREES = st.recursive(
    st.one_of(SCALARS, ARRAYS, TENSORS, st.sampled_from([np.float32(1.5), np.int64(7), np.bool_(True)])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(KEYS, inner, max_size=3),
        st.lists(inner, max_size=3).map(lambda items: deque(items, maxlen=5)),
    ),
    max_leaves=12,
)


def same(a: Any, b: Any) -> bool:
    """Equal in type and value, NaN equal to NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    if isinstance(a, dict):
        return list(map(repr, a)) == list(map(repr, b)) and all(
            same(x, y) for x, y in zip(a.values(), b.values(), strict=True)
        )
    if isinstance(a, list | tuple | deque):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return repr(a) == repr(b)


@settings(max_examples=50)
@given(tree=TREES)
def test_what_is_written_is_read(tree: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        content.write(Path(folder), {"state": tree})
        assert same(content.read(Path(folder)), {"state": tree})


def test_the_comparison_can_fail() -> None:
    assert not same([1], (1,))
    assert not same({"a": 1}, {"a": 1.0})
    assert not same(torch.zeros(2), torch.ones(2))
    assert not same(np.zeros(2), np.zeros(2, "f4"))


def test_metadata_dtypes_and_sets_survive(tmp_path: Path) -> None:
    net = torch.nn.BatchNorm1d(3)
    content.write(tmp_path, {"net": net.state_dict(), "d": torch.bfloat16, "c": torch.device("cpu"), "s": {1, 2}})
    back = content.read(tmp_path)
    assert isinstance(back["net"], OrderedDict)
    assert back["net"]._metadata[""]["version"] == 2
    assert (back["d"], back["c"], back["s"]) == (torch.bfloat16, torch.device("cpu"), {1, 2})


def test_a_small_view_does_not_drag_its_storage_along_and_tied_weights_stay_tied(tmp_path: Path) -> None:
    large, tied = torch.zeros(1_000_000), torch.ones(1000)
    content.write(tmp_path, {"view": large[:3], "a": tied, "b": tied})
    assert (tmp_path / content.TENSORS).stat().st_size < 8_000
    back = content.read(tmp_path)
    assert back["a"].data_ptr() == back["b"].data_ptr()


def test_any_torch_user_can_open_the_tensors(tmp_path: Path) -> None:
    content.write(tmp_path, {"state": {"net": torch.nn.Linear(2, 1).state_dict()}})
    assert set(torch.load(tmp_path / content.TENSORS, weights_only=True)) == {"state/net/weight", "state/net/bias"}


@pytest.mark.parametrize("value", [object(), lambda: 0, np.array([object()]), {"deep": [1, open]}])
def test_what_only_a_pickle_could_keep_is_refused_by_its_place(tmp_path: Path, value: Any) -> None:
    with pytest.raises(CheckpointError, match="state/odd"):
        content.write(tmp_path, {"state": {"odd": value}})


class Trap:
    """Runs code when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return (Path.touch, (self.path,))


def reseal(path: Path) -> None:
    """Make the manifest agree with the files, as someone who plants a file would."""
    body = json.loads((path / MANIFEST).read_text())
    body.pop("sha256")
    body["files"] = {name: mark for name, mark in marks_of(path).items() if name != MANIFEST}
    (path / MANIFEST).write_text(json.dumps({**body, "sha256": _seal(body)}))


@pytest.mark.parametrize("name", [content.TENSORS, content.ARRAYS])
def test_a_planted_pickle_is_not_run(tmp_path: Path, name: str) -> None:
    store, sprung = Checkpoints(tmp_path / "s"), tmp_path / "sprung"
    path = store.save({"a": torch.zeros(2), "b": np.zeros(2)}, step=1)
    assert path is not None
    if name == content.TENSORS:
        torch.save({"state/a": Trap(sprung)}, path / name)
    else:
        np.savez(path / name, **{"state/b": np.array([Trap(sprung)], dtype=object)})
    reseal(path)
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        store.load("last")
    assert not sprung.exists()
    with pytest.raises((pickle.UnpicklingError, ValueError), match=r"weights_only|allow_pickle"):
        content.read(path)


def test_an_unknown_tag_says_so(tmp_path: Path) -> None:
    (tmp_path / content.TREE).write_text('{"$": "os.system", "v": "ls"}')
    with pytest.raises(CheckpointError, match=r"os\.system"):
        content.read(tmp_path)
    (tmp_path / content.TREE).write_text('{"$": "dtype", "v": "load"}')
    with pytest.raises(CheckpointError, match="load"):
        content.read(tmp_path)
