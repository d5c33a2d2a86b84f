from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firstbreak.errors import InputError, UnreadableError
from firstbreak.readers.discover import discover
from firstbreak.readers.exports import BOUNDS
from firstbreak.readers.protocol import Options
from firstbreak.readers.table import read, sniff


def write(tmp_path: Path, text: str | bytes, name: str = "metrics.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_step_wall_and_sparse_cells(tmp_path: Path) -> None:
    path = write(tmp_path, "step,timestamp,loss,eval\n10,1700000000,1.5,\n20,1700000010,nan,3\n30,1700000020,inf,\n")
    assert sniff(path) == pytest.approx(0.6)
    found = read(path, Options())
    assert sorted(found.curves) == ["eval", "loss"]
    loss = found.curves["loss"]
    assert loss.step.tolist() == [10, 20, 30]
    assert np.isnan(loss.value[1])
    assert np.isinf(loss.value[2])
    assert loss.wall is not None
    assert loss.wall[-1] == 1700000020
    assert found.curves["eval"].step.tolist() == [20]


@pytest.mark.parametrize(
    ("header", "clock"),
    [("total_timesteps", "env_steps"), ("iteration", "updates"), ("Global Step", ""), ("_step", ""), ("epoch", "rows")],
)
def test_the_step_column_says_what_it_counts(tmp_path: Path, header: str, clock: str) -> None:
    found = read(write(tmp_path, f"loss,{header}\n1,100\n2,200\n"), Options())
    assert found.clock == clock
    assert found.curves["loss"].step.tolist() == [100, 200]


def test_rows_are_numbered_without_a_step_column(tmp_path: Path) -> None:
    found = read(write(tmp_path, "loss\n1\n2\n"), Options())
    assert found.clock == "rows"
    assert found.curves["loss"].step.tolist() == [0, 1]


def test_a_counter_that_starts_again_each_epoch_is_no_step(tmp_path: Path) -> None:
    rows = "".join(f"{i % 4},{i}\n" for i in range(40))
    found = read(write(tmp_path, f"step,loss\n{rows}"), Options())
    assert found.clock == "rows"
    assert found.curves["loss"].step.tolist() == list(range(40))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_dialects(tmp_path: Path, delimiter: str, newline: str, mark: bytes) -> None:
    text = newline.join([delimiter.join(["step", "loss"]), delimiter.join(["1", "2"]), delimiter.join(["2", "3"]), ""])
    found = read(write(tmp_path, mark + text.encode()), Options())
    assert found.curves["loss"].value.tolist() == [2, 3]
    assert not found.problems


def test_utf16(tmp_path: Path) -> None:
    found = read(write(tmp_path, "step,loss\n1,2\n2,3\n".encode("utf-16")), Options())
    assert found.curves["loss"].value.tolist() == [2, 3]


def test_bytes_that_are_not_text_are_reported(tmp_path: Path) -> None:
    found = read(write(tmp_path, b"step,loss,note\n1,2,\xff\xfe\n2,3,ok\n"), Options())
    assert found.curves["loss"].value.tolist() == [2, 3]
    assert "not valid text" in str(found.problems[0])


def test_ragged_rows_are_kept_and_counted(tmp_path: Path) -> None:
    found = read(write(tmp_path, "step,loss,kl\n1,2,3\n2,3\n3,4,5,6\n"), Options())
    assert found.curves["loss"].value.tolist() == [2, 3, 4]
    assert found.curves["kl"].step.tolist() == [1, 3]
    assert "2 rows" in str(found.problems[0])


def test_a_second_header_in_the_middle(tmp_path: Path) -> None:
    found = read(write(tmp_path, "step,loss\n1,2\nstep,loss\n2,3\nstep,loss,kl\n3,4,5\n"), Options())
    assert found.curves["loss"].value.tolist() == [2, 3, 4]
    assert found.curves["kl"].value.tolist() == [5]


def test_odd_keys_are_data(tmp_path: Path) -> None:
    found = read(write(tmp_path, 'step,\x1b[31mred,"a,b",,x,x\n1,2,3,4,5,6\n'), Options())
    assert list(found.curves) == ["\x1b[31mred", "a,b", "column 4", "x", "x (2)"]


def test_all_nan_and_one_row(tmp_path: Path) -> None:
    found = read(write(tmp_path, "step,loss\n5,nan\n"), Options())
    assert found.curves["loss"].step.tolist() == [5]
    assert np.isnan(found.curves["loss"].value).all()


def test_twenty_thousand_columns(tmp_path: Path) -> None:
    names = ",".join(f"m{i}" for i in range(20_000))
    row = ",".join("1" for _ in range(20_000))
    found = read(write(tmp_path, f"step,{names}\n0,{row}\n1,{row}\n"), Options())
    assert len(found.curves) == 20_000
    assert found.curves["m19999"].step.tolist() == [0, 1]


@pytest.mark.parametrize("text", [b"", b"\n\n", b"step,loss\n", b"a,b\nx,y\n", b"\x00\x01\x02\xff" * 100])
def test_no_numbers_is_an_input_error(tmp_path: Path, text: bytes) -> None:
    with pytest.raises(InputError):
        read(write(tmp_path, text), Options())


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="cannot be read"):
        read(tmp_path / "none.csv", Options())


def test_a_long_file_is_read_in_a_stream(tmp_path: Path) -> None:
    path = write(tmp_path, "step,loss\n" + "".join(f"{i},{i}\n" for i in range(20_000)))
    heard: list[tuple[int, int]] = []
    found = read(path, Options(progress=lambda done, total: heard.append((done, total))))
    assert len(found.curves["loss"]) == 20_000
    assert heard
    assert all(0 < done <= total for done, total in heard)


def test_a_line_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firstbreak.readers.textfile.MAX_LINE", 100)
    path = write(tmp_path, "step,loss\n1,2\n" + "9" * 1000 + "\n2,3\n")
    found = read(path, Options())
    assert found.curves["loss"].value.tolist() == [2, 3]
    assert "longer than 100" in str(found.problems[0])


def test_decimal_commas_where_a_semicolon_parts_cells(tmp_path: Path) -> None:
    path = write(tmp_path, "Episode;Return;Loss\n0;12,5;1,5e-3\n1;-,5;2\n2;13;nan\n")
    assert sniff(path) == pytest.approx(0.6)
    found = read(path, Options())
    assert found.curves["Return"].value.tolist() == [12.5, -0.5, 13]
    assert found.curves["Loss"].value.tolist()[:2] == [0.0015, 2]


def test_a_comma_that_parts_cells_is_no_decimal_comma(tmp_path: Path) -> None:
    found = read(write(tmp_path, 'step,loss\n1,"2,5"\n2,3\n'), Options())
    assert found.curves["loss"].value.tolist() == [3]


def test_a_table_without_a_header_is_told_what_it_lacks(tmp_path: Path) -> None:
    path = write(tmp_path, "0,12.5\n1,13.5\n")
    assert sniff(path) == 0
    for where in (path, tmp_path):
        with pytest.raises(InputError, match="a table without a header; name its columns in the first line"):
            discover(where)


def test_a_folder_of_what_cannot_be_read_says_why(tmp_path: Path) -> None:
    write(tmp_path, "reward,loss\n1,2\n2,3\n")
    with pytest.raises(InputError, match="might be CSV or TSV table, but has no step column; name the file"):
        discover(tmp_path)


def test_what_tensorboard_exports_is_named_by_its_file(tmp_path: Path) -> None:
    rows = "Wall time,Step,Value\n1700000000.5,100,1.5\n1700000010.5,200,2.5\n"
    for tag in ("rollout_ep_rew_mean", "train_value_loss"):
        write(tmp_path, rows, f"run-PPO_1-tag-{tag}.csv")
    (run,) = discover(tmp_path)
    curves = [read(path, Options()).curves for path, _ in run.files]
    assert sorted(key for one in curves for key in one) == ["rollout/ep_rew_mean", "train/value_loss"]
    assert curves[0]["rollout/ep_rew_mean"].step.tolist() == [100, 200]
    assert list(read(write(tmp_path, rows, "x.csv"), Options()).curves) == ["Value"]


def test_what_wandb_exports_loses_the_name_of_its_one_run(tmp_path: Path) -> None:
    def header(*runs: str) -> str:
        keys = [f"{run} - {key}{end}" for run in runs for key in ("a/loss", "_step") for end in ("", *BOUNDS)]
        return ",".join(f'"{key}"' for key in ("Step", *keys)) + "\n"

    one = read(write(tmp_path, header("calm - sun-3") + '"1","2","2","2","1","1","1"\n'), Options())
    assert list(one.curves) == ["a/loss"]
    several = read(write(tmp_path, header("x", "y") + ",".join("1" * 13) + "\n"), Options())
    assert "x - a/loss" in several.curves
    plain = read(write(tmp_path, "step,x - loss\n1,2\n2,3\n"), Options())
    assert list(plain.curves) == ["x - loss"]


def test_a_step_column_may_stand_in_a_scope(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_text("misc/total_timesteps,loss\n100,1\n200,2\n300,1.5\n")
    assert sniff(path) == pytest.approx(0.6)
    assert read(path, Options()).curves["loss"].step.tolist() == [100, 200, 300]


def test_a_duration_in_a_scope_is_no_step(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_text("updates,time/step,loss\n1,0.3,1\n2,0.1,2\n3,0.2,1.5\n4,0.4,1\n")
    assert read(path, Options()).curves["loss"].step.tolist() == [1, 2, 3, 4]
    path.write_text("time/step,eval/episode,loss\n0.1,1,1\n0.2,2,2\n0.3,3,1.5\n")
    assert read(path, Options()).curves["loss"].step.tolist() == [0, 1, 2]
