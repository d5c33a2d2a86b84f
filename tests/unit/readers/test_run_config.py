from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from firstbreak.readers.run_config import MAX_YAML, flat_config, is_config, read_config


def write(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["config.yaml", ".hydra/overrides.yaml", "args.yml", "params.json", "run_meta.json"])
def test_names(name: str) -> None:
    assert is_config(Path(name))


@pytest.mark.parametrize("name", ["progress.json", "package.json", "config.py", "trainer_state.json"])
def test_other_names(name: str) -> None:
    assert not is_config(Path(name))


def test_nested_keys_are_joined_by_dots() -> None:
    assert flat_config({"a": {"b": {"c": 1}}, "d": [1, {"e": 2}], 3: None}) == {
        "a.b.c": 1,
        "d": [1, {"e": 2}],
        "3": None,
    }


def test_yaml_and_json(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "config.yaml", "algo:\n  lr: 3.0e-4\nseed: 1\n"),
        write(tmp_path, "params.json", json.dumps({"seed": 2})),
        write(tmp_path, ".hydra/overrides.yaml", "- algo.gamma=0.9\n- +env=CartPole-v1\n"),
    ]
    found, problems = read_config(paths)
    assert found == {"algo.lr": 3e-4, "seed": 2, "algo.gamma": 0.9, "env": "CartPole-v1"}
    assert not problems


def test_zoo_files_name_python_objects(tmp_path: Path) -> None:
    text = "!!python/object/apply:collections.OrderedDict\n- - - gamma\n    - 0.99\n  - - policy\n    - MlpPolicy\n"
    found, problems = read_config([write(tmp_path, "config.yml", text)])
    assert found == {"gamma": 0.99, "policy": "MlpPolicy"}
    assert not problems


def test_python_objects_are_never_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "a: !!python/object/apply:os.system ['touch exploded']\nb: !!python/name:os.system\nc: !foo {x: 1}\n"
    found, _ = read_config([write(tmp_path, "config.yaml", text)])
    assert found == {"a": ["touch exploded"], "b": "", "c.x": 1}
    assert not (tmp_path / "exploded").exists()


def test_wandb_values_are_unwrapped(tmp_path: Path) -> None:
    text = "wandb_version: 1\n_wandb:\n  value: {t: 1}\nlr:\n  desc: null\n  value: 0.1\n"
    assert read_config([write(tmp_path, "config.yaml", text)])[0] == {"lr": 0.1}


def test_a_language_models_own_config_is_left(tmp_path: Path) -> None:
    assert read_config([write(tmp_path, "config.json", '{"model_type": "llama", "vocab_size": 3}')])[0] == {}


@pytest.mark.parametrize("text", ["a: [", "\t- x", "a: b: c", "&a [*a]", "x" * (MAX_YAML + 1)])
def test_what_cannot_be_read_is_a_problem(tmp_path: Path, text: str) -> None:
    good = write(tmp_path, "params.json", '{"seed": 1}')
    found, problems = read_config([write(tmp_path, "config.yaml", text), good])
    assert found == {"seed": 1}
    assert len(problems) == (0 if text.startswith("&") else 1)


def test_aliases_do_not_blow_up(tmp_path: Path) -> None:
    text = "a0: &a0 {x: 1, y: 2}\n" + "".join(f"a{i}: &a{i} {{x: *a{i - 1}, y: *a{i - 1}}}\n" for i in range(1, 60))
    found, _ = read_config([write(tmp_path, "config.yaml", text)])
    assert len(found) == 20_000


def test_yaml_without_pyyaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    found, problems = read_config([write(tmp_path, "config.yaml", "a: 1\n")])
    assert found == {}
    assert "firstbreak[yaml]" in str(problems[0])
