"""What loops of one's own print, and d3rlpy's and PFRL's files, which have no header or an unusual ending."""

from __future__ import annotations

from pathlib import Path

import pytest

from firstbreak.readers.console import read, sniff
from firstbreak.readers.discover import discover
from firstbreak.readers.printed_pairs import pairs_of
from firstbreak.readers.protocol import Options
from firstbreak.readers.sources import LIKELY


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("step: 200 | return: -12.5 | alpha: 1e-3", {"step": "200", "return": "-12.5", "alpha": "1e-3"}),
        (
            "Episode 10\tLast reward: 10.00\tAverage reward: 9",
            {"Episode": "10", "Last reward": "10.00", "Average reward": "9"},
        ),
        ("episode 10, reward=12.0, eps=.05", {"episode": "10", "reward": "12.0", "eps": ".05"}),
        ("INFO:agent:outdir:/x step:1200 episode:5 R:-9.3", {"step": "1200", "episode": "5", "R": "-9.3"}),
        ("[2024-01-02 12:00:01] Iteration 5/100 - loss: nan", {"Iteration": "5", "loss": "nan"}),
        ("Steps: 1_000_000 | FPS: 900 it/s", {"Steps": "1_000_000", "FPS": "900"}),
        ("ep 10 | ret 12.3 | mean len 200", {"ep": "10", "ret": "12.3", "mean len": "200"}),
        ("[2026-11-20 10:00:01] INFO trainer: ep 3 | ret -4", {"ep": "3", "ret": "-4"}),
        ("Episode 10 Reward 12.5 Loss 1e-3", {"Episode": "10", "Reward": "12.5", "Loss": "1e-3"}),
        ("step: 3/120, reward: 0.5, kl: .01", {"step": "3", "reward": "0.5", "kl": ".01"}),
        ("iter 5 | Mean reward: 12.3 +/- 4.1", {"iter": "5", "Mean reward": "12.3"}),
        ("{'iter': 3, 'ret': np.float64(1.5), 'n': tensor([2.], dtype=x)}", {"iter": "3", "ret": "1.5", "n": "2."}),
        ('INFO {"step": 3, "loss": 0.5}', {"step": "3", "loss": "0.5"}),
        (
            "Episode:    1 | Episode Reward:  -154.2 | Avg. Reward :  -150",
            {"Episode": "1", "Episode Reward": "-154.2", "Avg. Reward": "-150"},
        ),
        ("[iter 0012] return=-0.6 len=60", {"iter": "0012", "return": "-0.6", "len": "60"}),
        ("[Learner] Critic Loss = 0.5 | Steps = 10", {"Critic Loss": "0.5", "Steps": "10"}),
        ("Epoch #3: test_reward: 9.1 ± 3.2, best: 9", {"Epoch": "3", "test_reward": "9.1", "best": "9"}),
        ("I1125 12:00:01.1 140 run.py:321] episode 4 | return 2", {"episode": "4", "return": "2"}),
        ("Total T: 9 Episode Num: 2 Reward: 1.5", {"Total T": "9", "Episode Num": "2", "Reward": "1.5"}),
        ("episode  10 score 12.0 avg score 9.3", {"episode": "10", "score": "12.0", "avg score": "9.3"}),
        ("[100/900] return: 12.3, loss 0.1", {"step": "100", "return": "12.3", "loss": "0.1"}),
        ("[   0/200] avg reward: 0.12 | policy loss 1", {"step": "0", "avg reward": "0.12", "policy loss": "1"}),
        ("INFO:root:update 3, mean_reward 0.3", {"update": "3", "mean_reward": "0.3"}),
        ("Steps: 1,234,567 | Reward: -1,234.56", {"Steps": "1234567", "Reward": "-1234.56"}),
        ("Steps: 12k, reward 3, of 1.5M", {"Steps": "12000", "reward": "3", "of": "1500000"}),
        ("step 3 | time 5m | x 1.2e-4", {"step": "3", "time": "5", "x": "1.2e-4"}),
        ("2026-11-25 12:00:01,12 INFO run.py:33 - step 1 reward 3.2 kl .1", {"step": "1", "reward": "3.2", "kl": ".1"}),
        (" 50%|#### | 100/200 [00:10<00:10, 1.2it/s, ret=3.1, loss=0.3]", {"step": "100", "ret": "3.1", "loss": "0.3"}),
    ],
)
def test_lines_of_pairs(line: str, pairs: dict[str, str]) -> None:
    assert pairs_of(line) == pairs


@pytest.mark.parametrize(
    "line",
    [
        "",
        "lr: 0.001 | batch: 64",  # no step: settings
        "Saved a checkpoint at step 1000",  # nothing but a step
        "At step 12 we saw 3 errors",
        "Saved model 3 at step 1000",
        "2024-01-02 12:00:01 INFO started",
        "Map: 100%|####| 1000/1000 [00:01<00:00, 900.1 examples/s]",  # a bar that shows nothing
        "Checkpoint 3 kept, 12 more in epoch folder",
        "step: 1, " + "x" * 5000,
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert pairs_of(line) == {}


def test_blocks_of_one_number_a_line(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    block = (
        "I1125 12:00:01.1 140 run.py:500] Starting iteration {i}\nnotes\n[eval] INFO Mean return: {r}\nloss: 0.5\n\n"
    )
    path.write_text("notes\n" + "".join(block.format(i=i, r=i / 2) for i in range(5)))
    curves = read(path, Options()).curves
    assert curves["Mean return"].step.tolist() == [0, 1, 2, 3, 4]
    assert curves["Mean return"].value.tolist() == [0, 0.5, 1, 1.5, 2]
    assert len(curves["loss"].value) == 5


@pytest.mark.parametrize("text", ["lr: 0.1\nepoch: 3\nbatch: 64\n", "reward: 1\nloss: 2\n" * 9, "epoch: 3\n" * 9])
def test_a_configuration_is_no_block(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.txt"
    path.write_text(text)
    assert sniff(path) == 0


def test_lines_of_several_pairs_are_preferred_to_blocks(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"step {i} | reward {i}\niter: {i}\nloss: 0.5\n" for i in range(9)))
    assert set(read(path, Options()).curves) == {"reward"}


def _printed(n: int) -> str:
    return "lr: 0.1, steps: 500\n" + "".join(f"Episode {i}, reward: {i / 2}, loss: 0.5\n" for i in range(n))


def test_a_loop_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(_printed(5) + "done\n")
    assert 0 < sniff(path) < LIKELY
    found = read(path, Options())
    assert found.curves["reward"].value.tolist() == [0, 0.5, 1, 1.5, 2]
    assert found.curves["reward"].step.tolist() == [0, 1, 2, 3, 4]
    assert "lr" not in found.curves
    assert found.clock == "rows"


def test_names_that_come_once_or_twice_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(_printed(2))
    assert sniff(path) == 0


def test_a_loggers_lines_are_heard_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(_printed(5) + "".join(f"step:{i} - actor/entropy:0.5\n" for i in range(3)))
    found = read(path, Options())
    assert found.framework == "verl"
    assert set(found.curves) == {"actor/entropy"}


def test_printed_lines_are_read_only_where_there_is_nothing_better(tmp_path: Path) -> None:
    (tmp_path / "train.log").write_text(_printed(5))
    assert [file.name for file, _ in discover(tmp_path)[0].files] == ["train.log"]
    (tmp_path / "metrics.csv").write_text("step,reward\n1,2\n2,3\n")
    run = discover(tmp_path)[0]
    assert [file.name for file, _ in run.files] == ["metrics.csv"]
    assert run.left == [(tmp_path / "train.log", "printed lines beside a log; name the file itself to read it")]


def test_of_several_runs_some_may_have_printed_lines_alone(tmp_path: Path) -> None:
    for name, file, text in (
        ("a", "metrics.csv", "step,reward\n1,2\n2,3\n"),
        ("a/out", "train.log", _printed(5)),  # beside a log of the same run
        ("b", "train.log", _printed(5)),
        ("c", "notes.log", "nothing\n"),
    ):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / file).write_text(text)
    assert [(run.path.name, run.files[0][0].name) for run in discover(tmp_path)] == [
        ("a", "metrics.csv"),
        ("b", "train.log"),
    ]


def test_a_text_table_is_parted_by_tabs(tmp_path: Path) -> None:
    (tmp_path / "scores.txt").write_text("steps\tepisodes\telapsed\tmean\n100\t3\t1.5\t9.0\n200\t6\t3.0\t12.0\n")
    (run,) = discover(tmp_path)
    ((file, reader),) = run.files
    found = reader.read(file, Options())
    assert (reader.name, found.clock) == ("table", "")
    assert found.curves["mean"].step.tolist() == [100, 200]


@pytest.mark.parametrize("text", ["a, b, step\n1, 2, 3\n", "step\tloss\n1\t2\n", "step\tloss\tnote\n1\t2\tgood\n"])
def test_other_texts_are_no_table(tmp_path: Path, text: str) -> None:
    (tmp_path / "notes.txt").write_text(text)
    with pytest.raises(Exception, match="no log in a known format"):
        discover(tmp_path)


def test_d3rlpy_files(tmp_path: Path) -> None:
    run = tmp_path / "DQN_1"
    run.mkdir()
    (run / "params.json").write_text('{"config": {"type": "dqn", "params": {"gamma": 0.99}}}')
    (run / "loss.csv").write_text("1,100,0.5\n2,200,0.25\nbroken\n")
    (run / "rollout_return.csv").write_text("1,100,20.0\n2,200,nan\n")
    (run / "q.weight_grad.csv").write_text("epoch,step,min,max,mean,std\n1,100,-1,1,0,0.5\n")
    (found_run,) = discover(tmp_path)
    ((folder, reader),) = found_run.files
    found = reader.read(folder, Options())
    assert (reader.name, found.framework, found.clock) == ("d3rlpy_csv", "d3rlpy", "env_steps")
    assert (found.config["algorithm"], found.config["config.params.gamma"]) == ("dqn", 0.99)
    assert found.curves["loss"].step.tolist() == [100, 200]
    assert found.curves["loss"].value.tolist() == [0.5, 0.25]
    assert "q.weight_grad" not in found.curves
    assert [problem.what for problem in found.problems] == ["1 lines are not epoch,step,value and were passed over."]
    (run / "rollout_return.csv").unlink()
    assert reader.read(folder, Options()).clock == "updates"


def test_a_folder_of_tables_with_headers_is_not_d3rlpys(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text("{}")
    (tmp_path / "progress.csv").write_text("step,loss,x\n1,2,3\n")
    assert discover(tmp_path)[0].files[0][1].name == "table"
