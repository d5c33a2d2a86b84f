from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firstbreak.errors import InputError
from firstbreak.readers.console import read, sniff
from firstbreak.readers.protocol import Options
from firstbreak.runlog import Recording

LOGS = Path(__file__).parents[2] / "data" / "logs"


def heard(tmp_path: Path, text: str) -> Recording:
    path = tmp_path / "train.log"
    path.write_text(text)
    assert sniff(path) > 0.5
    return read(path, Options())


def test_a_real_rsl_rl_run() -> None:
    path = LOGS / "rsl_rl_ppo" / "console.log"
    assert sniff(path) > 0.5
    found = read(path, Options())
    assert (found.framework, found.clock) == ("rsl_rl", "updates")
    loss = found.curves["Mean value loss"]
    assert loss.step.tolist() == list(range(120))
    assert loss.value[0] == pytest.approx(35.0004)
    assert found.curves["Collection time"].value[0] == pytest.approx(0.045)


def test_verl_lines(tmp_path: Path) -> None:
    text = (
        "(TaskRunner pid=1) step:1 - actor/entropy:0.5 - critic/score/mean:np.float64(-1e-3) - val/a@32:nan\n"
        "noise\n"
        "(TaskRunner pid=1) step:2 - actor/entropy:0.25 - text:hello - critic/score/mean:tensor(2.0)\n"
    )
    found = heard(tmp_path, text)
    assert (found.framework, found.clock) == ("verl", "updates")
    assert found.curves["actor/entropy"].step.tolist() == [1, 2]
    assert found.curves["critic/score/mean"].value.tolist() == [-1e-3, 2.0]
    assert np.isnan(found.curves["val/a@32"].value[0])
    assert "text" not in found.curves


def test_boxes_of_stable_baselines(tmp_path: Path) -> None:
    box = """----------------------------------
| rollout/           |           |
|    ep_rew_mean     | {r}       |
| time/              |           |
|    total_timesteps | {n}       |
| train/             |           |
|    approx_kl       | 0.0079    |
----------------------------------
"""
    found = heard(tmp_path, "Using cpu device\n" + box.format(r=25.7, n=2048) + box.format(r="1.2e+03", n=4096))
    assert (found.framework, found.clock) == ("stable_baselines3", "env_steps")
    assert found.curves["rollout/ep_rew_mean"].step.tolist() == [2048, 4096]
    assert found.curves["rollout/ep_rew_mean"].value.tolist() == [25.7, 1200.0]
    assert "train/approx_kl" in found.curves


def test_dictionaries_of_transformers(tmp_path: Path) -> None:
    text = (
        "{'lr': 0.1, 'gamma': 0.99}\n"
        "{'loss': 0.1, 'grad_norm': nan, 'epoch': 0.1}\n"
        "{'loss': '0.2', 'grad_norm': 1.0, 'epoch': 0.2}\n"
        "{'train_runtime': 10.0, 'epoch': 1.0}\n"
    )
    found = heard(tmp_path, text)
    assert found.clock == "rows"
    assert found.curves["loss"].value.tolist() == [0.1, 0.2]
    assert np.isnan(found.curves["grad_norm"].value[0])
    assert "gamma" not in found.curves
    assert "train_runtime" not in found.curves


def test_openrlhf_lines(tmp_path: Path) -> None:
    found = heard(tmp_path, "INFO Global step 7: {'policy_loss': 0.5, 'kl': 0.01}\n")
    assert (found.framework, found.clock) == ("openrlhf", "updates")
    assert found.curves["kl"].step.tolist() == [7]


def test_nothing_of_the_text_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "train.log"
    path.write_text("{'loss': __import__('pathlib').Path('exploded').touch()}\n{'loss': " + "[" * 5000 + "}\n")
    with pytest.raises(InputError):
        read(path, Options())
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "Steps: 5\n", "| a | b |\n", "torch==2.1\n"])
def test_prose_is_no_log(tmp_path: Path, text: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    assert sniff(path) == 0.0
    with pytest.raises(InputError):
        read(path, Options())


def test_episodes_that_cleanrl_prints(tmp_path: Path) -> None:
    text = (
        "global_step=37, episodic_return=21.5\nSPS: 900\n"
        "global_step=80, episodic_return=[22.]\n"
        "global_step=99, episodic_return=array([-3.5e1], dtype=float32)\n"
        "global_step=120, episodic_return=soon\n"
    )
    found = heard(tmp_path, text)
    assert (found.framework, found.clock) == ("cleanrl", "env_steps")
    curve = found.curves["charts/episodic_return"]
    assert curve.step.tolist() == [37, 80, 99]
    assert curve.value.tolist() == [21.5, 22.0, -35.0]


def test_losses_that_such_a_script_prints_beside_its_episodes(tmp_path: Path) -> None:
    episode, update = (
        "global_step={n}, episodic_return=[{n}.]\nSPS: 900\n",
        "global_step={n}, value_loss=0.5, clipfrac=0.1\n",
    )
    once = "global_step=7, ratio=1.0\n"
    found = heard(tmp_path, once + "".join(episode.format(n=n) + update.format(n=n + 5) for n in (10, 20, 30)))
    assert (found.framework, found.clock) == ("cleanrl", "env_steps")
    assert found.curves["charts/episodic_return"].step.tolist() == [10, 20, 30]
    assert found.curves["value_loss"].step.tolist() == [15, 25, 35]
    assert found.curves.keys() == {"charts/episodic_return", "value_loss", "clipfrac"}


def test_a_sentence_about_steps_is_no_episode(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("we log global_step and episodic_return\nglobal_step=3 reached\n")
    assert sniff(path) == 0.0
