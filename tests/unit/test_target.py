from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firstbreak.errors import InputError, UnknownNameError
from firstbreak.target import is_target, load_target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("my_envs:make", True),
        ("a.b:C.make", True),
        ("train.py:train", True),
        ("CartPole-v1", False),
        ("ALE/Pong-v5", False),
        ("my_envs:Walker-v0", False),
        (":x", False),
        ("x:", False),
    ],
)
def test_targets_are_told_from_ids(text: str, expected: bool) -> None:
    assert is_target(text) is expected


def test_a_name_of_a_module_is_found() -> None:
    assert load_target("json:dumps")({}) == "{}"
    assert load_target("collections:OrderedDict.fromkeys")("a") == {"a": None}


def test_a_name_in_a_file_is_found_with_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "neighbour_of_a_target.py").write_text("VALUE = 3")
    (tmp_path / "file_of_a_target.py").write_text("from neighbour_of_a_target import VALUE\ndef make(): return VALUE")
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert load_target(f"{tmp_path / 'file_of_a_target.py'}:make")() == 3


def test_wrong_targets_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not module:name"):
        load_target("json")
    with pytest.raises(InputError, match="No module named 'jsn'"):
        load_target("jsn:dumps")
    with pytest.raises(InputError, match="no such file"):
        load_target(f"{tmp_path}/absent.py:make")
    with pytest.raises(UnknownNameError, match="dumps"):
        load_target("json:dump_s")


def test_a_module_missing_inside_the_target_is_not_blamed_on_the_user_s_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "needs_another_module.py").write_text("import surely_not_installed")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"needs_another_module cannot be imported.*surely_not_installed") as caught:
        load_target("needs_another_module:make")
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


@pytest.mark.parametrize("text", ["x =", "1 / 0", "raise SystemExit(3)", "import sys; sys.exit()"])
def test_a_file_that_cannot_be_imported_is_bad_input_with_a_way_to_see_why(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken_trainer.py"
    path.write_text(text)
    with pytest.raises(InputError, match=r"broken_trainer\.py cannot be imported") as caught:
        load_target(f"{path}:train")
    assert caught.value.hint == f"Mend it until this works: python {path}"
