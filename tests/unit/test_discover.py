from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from firstbreak.errors import InputError
from firstbreak.readers.discover import RunFiles, discover

LOGS = Path(__file__).parents[1] / "data" / "logs"
ROWS = "step,loss\n1,2\n2,3\n"


def make(root: Path, *names: str) -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ROWS if path.suffix == ".csv" else "{}")
    return root


def readers(run: RunFiles) -> list[str]:
    return sorted(reader.name for _, reader in run.files)


def test_the_labelled_logs_are_each_one_run() -> None:
    runs = {str(run.path.relative_to(LOGS)): run for run in discover(LOGS)}
    assert readers(runs["sb3_fixtures/sb3_ppo"]) == [
        "sb3",
        "sb3",
        "sb3_eval",
        "sb3_monitor",
        "sb3_monitor",
        "tensorboard",
    ]
    assert readers(runs["torchrl_ppo_pendulum"]) == ["tensorboard", "tensorboard", "torchrl_csv"]
    assert readers(runs["trl_grpo_healthy"]) == ["tensorboard", "trainer_state"]
    assert len(runs["trl_grpo_healthy"].samples) == 20
    assert readers(runs["wandb_offline/wandb/offline-run-20261120_201905-9e4w9d62"]) == ["wandb"]
    assert [path.name for path in runs["rllib_ppo"].configs] == ["params.json"]


def test_a_single_file() -> None:
    path = LOGS / "sb3_ppo_cartpole" / "progress.csv"
    (run,) = discover(path)
    assert run.path == path
    assert readers(run) == ["sb3"]


def test_a_weak_table_is_read_only_when_it_is_named(tmp_path: Path) -> None:
    make(tmp_path, "metrics.csv")
    (tmp_path / "prices.csv").write_text("open,close\n1,2\n")
    (run,) = discover(tmp_path)
    assert [path.name for path, _ in run.files] == ["metrics.csv"]
    assert "name the file itself" in dict(run.left)[tmp_path / "prices.csv"]
    assert readers(discover(tmp_path / "prices.csv")[0]) == ["table"]


def test_parts_of_a_run_lie_in_known_folders(tmp_path: Path) -> None:
    make(tmp_path, "a/csv/m.csv", "a/.hydra/config.yaml", "a/checkpoint-5/trainer_args.json", "b/m.csv", "b/deep/m.csv")
    runs = discover(tmp_path)
    assert [str(run.path.relative_to(tmp_path)) for run in runs] == ["a", "b", "b/deep"]
    assert [path.name for path in runs[0].configs] == ["config.yaml"]


def test_what_add_hparams_writes_belongs_to_the_run_around_it(tmp_path: Path) -> None:
    events = next((LOGS / "torchrl_ppo_pendulum").rglob("*tfevents*"))
    for folder in ("run", "run/1795637898.3811502", "1795637898.38"):
        (tmp_path / folder).mkdir(exist_ok=True)
        shutil.copy(events, tmp_path / folder / events.name)
    runs = discover(tmp_path)
    assert [(str(run.path.relative_to(tmp_path)), len(run.files)) for run in runs] == [("1795637898.38", 1), ("run", 2)]


def test_the_longest_trainer_state_counts(tmp_path: Path) -> None:
    for n in (5, 10):
        (tmp_path / f"checkpoint-{n}").mkdir()
        rows = ",".join(f'{{"step": {i}, "loss": 1}}' for i in range(n))
        (tmp_path / f"checkpoint-{n}" / "trainer_state.json").write_text(f'{{"log_history": [{rows}]}}')
    events = tmp_path / "runs" / "Nov20_host" / "events.out.tfevents.1.host.1.0"
    events.parent.mkdir(parents=True)
    shutil.copy(next((LOGS / "trl_grpo_hackable" / "tb").iterdir()), events)
    (run,) = discover(tmp_path)
    assert run.path == tmp_path
    assert [path.parent.name for path, reader in run.files if reader.name == "trainer_state"] == ["checkpoint-10"]
    assert any("shorter copy" in why for _, why in run.left)


def test_the_work_grows_with_the_number_of_runs_and_not_with_its_square(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three thousand runs in a folder cost `watch` a minute before its first word: each was compared with each."""
    calls: list[Path] = []

    def counted(path: Path, *other: Path) -> Path:
        calls.append(path)
        return found(path, *other)

    found = Path.relative_to
    make(tmp_path, *(f"run_{i}/progress.csv" for i in range(60)), "notes/todo.txt")
    monkeypatch.setattr(Path, "relative_to", counted)
    assert len(discover(tmp_path)) == 60
    assert len(calls) <= 4 * 61


def test_everything_left_has_a_reason(tmp_path: Path) -> None:
    make(tmp_path, "m.csv", "README.md", "training_args.bin", "model.pt", "x.pkl", "notes.xyz", "node_modules/a.csv")
    (run,) = discover(tmp_path)
    why = {path.name: reason for path, reason in run.left}
    assert "pickle" in why["training_args.bin"]
    assert "pickle" in why["x.pkl"]
    assert "never opened" in why["model.pt"]
    assert why.keys() == {"README.md", "training_args.bin", "model.pt", "x.pkl", "notes.xyz", "node_modules"}


def test_rollout_dumps_are_samples(tmp_path: Path) -> None:
    make(tmp_path, "m.csv")
    (tmp_path / "dump.jsonl").write_text('{"step": 1, "input": "a", "output": "b", "score": 1}\n')
    (run,) = discover(tmp_path)
    assert [path.name for path in run.samples] == ["dump.jsonl"]


def test_links_do_not_loop_and_nothing_is_read_twice(tmp_path: Path) -> None:
    make(tmp_path, "run/m.csv")
    os.symlink(tmp_path, tmp_path / "run" / "up")
    os.symlink(tmp_path / "run", tmp_path / "latest")
    os.symlink(tmp_path / "gone", tmp_path / "broken.csv")
    runs = discover(tmp_path)
    assert [path for run in runs for path, _ in run.files] == [tmp_path / "run" / "m.csv"]


def test_a_missing_path_offers_its_neighbours(tmp_path: Path) -> None:
    make(tmp_path, "ppo_cartpole/m.csv")
    with pytest.raises(InputError, match="ppo_cartpole"):
        discover(tmp_path / "ppo_cartpol")


def test_an_empty_folder_and_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        discover(tmp_path)
    (tmp_path / "a.csv").write_text("")
    with pytest.raises(InputError, match="empty"):
        discover(tmp_path / "a.csv")


def test_a_folder_without_logs_names_what_it_found(tmp_path: Path) -> None:
    make(tmp_path, "notes.xyz", "config.yaml")
    with pytest.raises(InputError, match=r"notes\.xyz") as caught:
        discover(tmp_path)
    assert "TensorBoard" in caught.value.hint


def test_hostile_names_are_shown_escaped(tmp_path: Path) -> None:
    (tmp_path / "a\x1b[31m\n.xyz").write_text("x")
    with pytest.raises(InputError) as caught:
        discover(tmp_path)
    assert "\x1b" not in str(caught.value)
