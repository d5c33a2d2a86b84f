"""Which difference is named first. The planted differences were written before the weights were tried on them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.comparison import Comparison, Divergence, compare_runs
from firstbreak.context import store
from firstbreak.context.comparing import changed_files, differences, explain
from firstbreak.context.contents import Code, Context, Mark
from firstbreak.context.weights import setting_weight, size_of, version_step
from firstbreak.finding import Onset
from firstbreak.loading import load
from firstbreak.report.comparison import render
from firstbreak.report.json import dumps
from firstbreak.report.page import Page
from firstbreak.report.release.context import explanation_dict, render_explanation
from firstbreak.runlog import RunLog

BASE = Context(
    created="now",
    command=("python", "train.py"),
    config={"learning_rate": 3e-4, "gamma": 0.99, "n_steps": 2048, "log_dir": "a", "wandb_project": "x"},
    seeds={"argument --seed": 1},
    code=Code(commit="a" * 40),
    packages={"torch": "2.4.0", "gymnasium": "1.0.0", "rich": "13.0.0", "stable-baselines3": "2.3.0"},
    hardware={"gpus": [{"name": "A100"}], "processor": "x", "python": "3.11.1"},
    environment={"CUDA_VISIBLE_DEVICES": "0"},
    data=(Mark("prompts.jsonl", "d1"),),
    rewards=(Mark("r.py:score", "r1"),),
)
NOISE: dict[str, Any] = {
    "config": {**BASE.config, "log_dir": "b", "wandb_project": "y"},
    "seeds": {"argument --seed": 2},
    "packages": {**BASE.packages, "rich": "13.1.0"},
}
"""What differs between any two runs of one person."""

PLANTED: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "learning rate x 10": ({"config": {"learning_rate": 3e-3}}, ("setting", "learning_rate")),
    "gamma": ({"config": {"gamma": 0.9}}, ("setting", "gamma")),
    "reward function": ({"rewards": (Mark("r.py:score", "r2"),)}, ("reward", "r.py:score")),
    "data": ({"data": (Mark("prompts.jsonl", "d2"),)}, ("data", "prompts.jsonl")),
    "commit": ({"code": Code(commit="b" * 40)}, ("code", "commit")),
    "uncommitted change": (
        {"code": Code(commit="a" * 40, diff="diff --git a/t.py b/t.py\n+1", diff_sha256="e", diff_bytes=30)},
        ("code", "uncommitted changes"),
    ),
    "environment package": ({"packages": {"gymnasium": "0.29.0"}}, ("package", "gymnasium")),
    "torch": ({"packages": {"torch": "1.13.0"}}, ("package", "torch")),
    "gpu": ({"hardware": {"gpus": [{"name": "T4"}]}}, ("hardware", "gpus")),
    "normalisation": ({"config": {"normalize_obs": True}}, ("setting", "normalize_obs")),
}


def changed(name: str) -> Context:
    fields = {**NOISE}
    for key, value in PLANTED[name][0].items():
        before = fields.get(key, getattr(BASE, key))
        fields[key] = {**before, **value} if isinstance(value, dict) else value
    return replace(BASE, **fields)


@pytest.mark.parametrize("name", PLANTED)
def test_the_planted_difference_is_named_first(name: str) -> None:
    first = differences(BASE, changed(name))[0]
    assert (first.kind, first.name) == PLANTED[name][1]


@pytest.mark.parametrize("name", PLANTED)
def test_the_order_does_not_depend_on_which_run_is_first(name: str) -> None:
    there, back = differences(BASE, changed(name)), differences(changed(name), BASE)
    assert [(d.kind, d.name, d.weight) for d in there] == [(d.kind, d.name, d.weight) for d in back]
    assert [(d.a, d.b) for d in there] == [(d.b, d.a) for d in back]


def test_the_same_record_differs_in_nothing() -> None:
    assert differences(BASE, BASE) == ()


def test_the_seed_comes_after_everything_that_explains_something() -> None:
    seeds = [d for d in differences(BASE, replace(BASE, **NOISE)) if d.kind == "seed"]
    assert seeds[0].weight < min(differences(BASE, changed(name))[0].weight for name in PLANTED)


SIX: dict[str, Any] = {
    **NOISE,
    "config": {**NOISE["config"], "vf_coef": 0.4, "eval_every": 500},
    "environment": {"CUDA_VISIBLE_DEVICES": "1"},
}
"""Six things in which two runs differ, a folder, a project and a seed among them; none of them breaks a run."""


@pytest.mark.parametrize(
    ("broken", "name"),
    [({"learning_rate": 0.1}, "learning_rate"), ({"gamma": 0.2}, "gamma"), ({"env_id": "Acrobot-v1"}, "env_id")],
)
def test_of_six_differences_and_one_that_explains_the_one_is_first(broken: dict[str, Any], name: str) -> None:
    a = replace(BASE, config={**BASE.config, "vf_coef": 0.5, "eval_every": 1000, "env_id": "CartPole-v1"})
    b = replace(a, **{**SIX, "config": {**a.config, **SIX["config"], **broken}})
    found = differences(a, b)
    assert len(found) >= 7
    assert found[0].name == name
    assert found[0].weight > found[1].weight


def test_what_a_command_and_its_program_both_name_is_one_difference() -> None:
    a = replace(BASE, config={"learning_rate": 3e-4})
    b = replace(BASE, config={"learning-rate": "0.1", "learning_rate": 0.1})
    assert [(d.name, d.a, d.b) for d in differences(a, b)] == [("learning_rate", 3e-4, 0.1)]
    only = replace(BASE, config={"learning-rate": "0.1"})
    assert len(differences(a, only)) == 2, "a name that one side alone uses may mean something else"


def test_names_folders_and_logging_explain_nothing() -> None:
    for key in ("log_dir", "wandb_project", "run_name", "save_freq", "verbose", "output_dir", "exp_name", "tags"):
        assert setting_weight(key).weight < 0.05, key


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_the_further_apart_the_heavier(a: float, b: float) -> None:
    assert 0.5 <= size_of(a, b) == size_of(b, a) <= 1.0
    assert size_of(a, a) == 0.5
    assert size_of(a, 10.01 * a) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("a", "b", "step"), [("1.0.0", "2.0.0", 1), ("2.3.0", "2.4.0", 0.8), ("2.3.0", "2.3.1", 0.5), ("", "1", 1),
                         ("2.3.0+cu121", "2.3.0+cpu", 0.5)]
)  # fmt: skip
def test_versions_are_as_far_apart_as_their_first_number_that_differs(a: str, b: str, step: float) -> None:
    assert version_step(a, b) == step


def test_the_same_bytes_under_another_name_are_the_same_data() -> None:
    moved = replace(BASE, data=(Mark("elsewhere/prompts.jsonl", "d1"),))
    assert differences(BASE, moved) == ()


@pytest.mark.parametrize(("lacking", "said"), [("rewards", "reward function"), ("data", "data")])
def test_what_one_record_alone_hashes_is_missing_and_no_difference(lacking: str, said: str, tmp_path: Path) -> None:
    bare = replace(changed("learning rate x 10"), **{lacking: ()})
    found = explain(runs(tmp_path, BASE, bare, (NOISY, NOISY * 2)))
    assert found.differences[0].name == "learning_rate"
    assert not [d for d in found.differences if d.kind in ("reward", "data")]
    assert found.missing == (f"run b: no hash of the {said}",)
    back = explain(runs(tmp_path, bare, BASE, (NOISY, NOISY * 2)))
    assert back.missing == (f"run a: no hash of the {said}",)


def test_files_whose_changes_differ_are_named() -> None:
    a = replace(BASE, code=Code("a", "diff --git a/x.py b/x.py\n+1\ndiff --git a/y.py b/y.py\n+1"))
    b = replace(BASE, code=Code("a", "diff --git a/x.py b/x.py\n+2\ndiff --git a/y.py b/y.py\n+1"))
    assert changed_files(a, b) == ["x.py"]


def runs(tmp_path: Path, a: Context, b: Context, values: tuple[Any, Any], metric: str = "loss/entropy") -> Comparison:
    """Two logs with their records, compared."""
    logs: list[RunLog] = []
    for name, context, value in (("a", a, values[0]), ("b", b, values[1])):
        store.write(context, tmp_path / name)
        log = load({"policy/entropy": [(i, float(v)) for i, v in enumerate(value)]})
        logs.append(replace(log, path=str(tmp_path / name)))
    return compare_runs(*logs)


STEPS = np.arange(40.0)
NOISY = 1 + 0.01 * np.sin(STEPS * 7)


def test_what_acts_on_the_link_that_parts_first_weighs_more(tmp_path: Path) -> None:
    other = replace(BASE, config={**BASE.config, "ent_coef": 0.1, "max_grad_norm": 5.0, "vf_coef": 2.0})
    a = replace(BASE, config={**BASE.config, "ent_coef": 0.01, "max_grad_norm": 0.5, "vf_coef": 0.2})
    found = explain(runs(tmp_path, a, other, (NOISY, NOISY * 2)))
    assert found.differences[0].name == "ent_coef"
    assert "exploration" in found.differences[0].why
    assert found.missing == ()


def test_equal_curves_before_they_part_clear_what_acts_from_the_start(tmp_path: Path) -> None:
    a = replace(BASE, config={**BASE.config, "total_timesteps": 1000})
    b = replace(BASE, config={**BASE.config, "total_timesteps": 9000, "learning_rate": 3e-3})
    later = np.where(STEPS > 25, NOISY * 3, NOISY)
    found = explain(runs(tmp_path, a, b, (NOISY, later)))
    assert found.differences[0].name == "total_timesteps"
    assert "equal for a while" in next(d.why for d in found.differences if d.name == "learning_rate")


def test_the_ranking_is_shown_in_80_columns_without_escapes_and_as_plain_data(tmp_path: Path) -> None:
    nasty = replace(changed("learning rate x 10"), data=(Mark("p\x1b[2J\u202e.jsonl", "d9"),))
    found = explain(runs(tmp_path, BASE, nasty, (NOISY, NOISY * 2)))
    sheet = Page()
    render_explanation(found, sheet)
    text = sheet.text()
    assert text.index("learning_rate") < text.index("seed")
    assert "explain nothing" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 80
    data = json.loads(dumps(explanation_dict(found)))
    assert [row["name"] for row in data["differences"]] == [d.name for d in found.differences]


def test_when_only_the_seed_differs_it_says_what_to_do(tmp_path: Path) -> None:
    found = explain(runs(tmp_path, BASE, replace(BASE, seeds={"argument --seed": 2}), (NOISY, NOISY * 2)))
    assert found.note.startswith("Only the seed differs, nothing else:")


def test_when_nothing_differs_it_says_so(tmp_path: Path) -> None:
    found = explain(runs(tmp_path, BASE, BASE, (NOISY, NOISY * 2)))
    assert "Nothing written down explains it" in found.note


def test_no_empty_list_of_settings_stands_above_differences_that_records_hold(tmp_path: Path) -> None:
    mute = replace(BASE, config={})
    other = replace(mute, code=Code(commit="b" * 40))
    page = render(runs(tmp_path, mute, other, (NOISY, NOISY * 2)))
    assert "Settings" not in page
    assert "What may explain it (1)" in page
    assert "none that the logs hold" in render(runs(tmp_path, mute, mute, (NOISY, NOISY * 2)))


def test_without_records_the_settings_of_the_logs_are_ranked_and_the_lack_is_told() -> None:
    empty = load({"loss": [1.0, 2.0, 3.0, 4.0]})
    divergence = Divergence("policy/kl_old", Onset(1, 2), 0.1, 0.2, 9.0, False)
    config = (("learning_rate", 1e-3, 1e-2), ("run_name", "a", "b"), ("seed", 0, 1))
    found = explain(Comparison(empty, empty, (divergence,), (), (), config))
    assert [d.name for d in found.differences] == ["learning_rate", "seed", "run_name"]
    assert found.missing == ("run a: no record", "run b: no record")
    assert [d.name for d in found.likely] == ["learning_rate", "seed"]


@pytest.mark.parametrize("key", ["out", "output-dir", "run_folder", "dest"])
def test_where_a_run_is_written_explains_nothing(key: str) -> None:
    assert setting_weight(key).weight < 0.05
    assert setting_weight("dropout").weight > 0.05
