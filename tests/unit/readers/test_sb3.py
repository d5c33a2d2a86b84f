from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

import firstbreak
from firstbreak.errors import InputError
from firstbreak.readers import sb3, sb3_eval, sb3_monitor
from firstbreak.readers.protocol import Options

LOGS = Path(__file__).parents[2] / "data" / "logs"
PPO = LOGS / "sb3_fixtures" / "sb3_ppo"


@pytest.mark.parametrize("name", ["progress.csv", "progress.json"])
def test_progress_of_a_real_run(name: str) -> None:
    path = PPO / name
    assert sb3.sniff(path) == pytest.approx(0.95)
    found = sb3.read(path, Options())
    assert (found.framework, found.clock) == ("stable_baselines3", "env_steps")
    assert found.curves["rollout/ep_rew_mean"].step.tolist() == [256, 512, 768, 1024]
    assert found.curves["train/approx_kl"].step.tolist() == [512, 682, 1024]
    assert found.curves["eval/mean_reward"].step.tolist() == [682]


def test_monitor_of_a_real_run() -> None:
    path = PPO / "0.monitor.csv"
    assert sb3_monitor.sniff(path) == 1.0
    found = sb3_monitor.read(path, Options())
    assert found.config["env_id"] == "CartPole-v1"
    returns = found.curves["monitor/r"]
    assert returns.step[0] == 20
    assert np.array_equal(returns.step, np.cumsum(found.curves["monitor/l"].value))
    assert returns.wall is not None
    assert returns.wall[0] == pytest.approx(1795206332.3453925 + 1.795989)


def test_monitors_of_parallel_environments_count_all_steps() -> None:
    parts = [sb3_monitor.read(PPO / f"{i}.monitor.csv", Options()) for i in range(2)]
    both = sb3_monitor.combine(parts)
    assert len(both.curves["monitor/r"]) == 26 + 19
    assert both.config["n_envs"] == 2
    assert np.all(np.diff(both.curves["monitor/r"].step) >= 0)
    # The run took 1,024 steps; the last episodes ended a little before.
    assert 900 < both.curves["monitor/r"].step[-1] <= 1024


def test_monitors_that_ran_apart_are_put_in_order_of_time(tmp_path: Path) -> None:
    for i, (start, rows) in enumerate([(1000.0, "1,10,1\n1,10,2\n"), (5000.0, "1,100,1\n")]):
        (tmp_path / f"{i}.monitor.csv").write_text(f'#{{"t_start": {start}}}\nr,l,t\n{rows}')
    parts = [sb3_monitor.read(tmp_path / f"{i}.monitor.csv", Options()) for i in range(2)]
    assert sb3_monitor.combine(parts).curves["monitor/l"].step.tolist() == [10, 20, 120]


def test_monitor_of_openai_baselines_beside_its_table(tmp_path: Path) -> None:
    """The monitor writes a space behind the `#`; the names of the table say whose run it is."""
    rows = "".join(f"{n},9,{n + 1}.0\n" for n in range(30))
    (tmp_path / "0.0.monitor.csv").write_text('# {"t_start": 1558056922.4, "env_id": "Cars-v0"}\nr,l,t\n' + rows)
    table = "".join(f"{98 - n},{n}00,{n}.5,{n}219\n" for n in range(1, 30))
    (tmp_path / "progress.csv").write_text("% time spent exploring,episodes,mean 100 episode reward,steps\n" + table)
    assert sb3_monitor.sniff(tmp_path / "0.0.monitor.csv") == 1.0
    log = firstbreak.load(tmp_path)
    assert (log.framework, log.algorithm) == ("baselines", "DQN")
    epsilon, returns = log.get("dqn/epsilon"), log.get("reward/episode_return_mean")
    assert epsilon is not None
    assert returns is not None
    assert epsilon.value[0] == pytest.approx(0.97)
    assert returns.step[-1] == 29219


@pytest.mark.parametrize("text", ["", '#{"t_start": 1}\nr,l,t\n', "#{broken\nr,l,t\n", "#{\n\n"])
def test_monitor_without_episodes(tmp_path: Path, text: str) -> None:
    (tmp_path / "monitor.csv").write_text(text)
    with pytest.raises(InputError):
        sb3_monitor.read(tmp_path / "monitor.csv", Options())


def test_evaluations_of_a_real_run() -> None:
    path = PPO / "evaluations.npz"
    assert sb3_eval.sniff(path) == pytest.approx(0.95)
    found = sb3_eval.read(path, Options())
    assert found.curves["eval/mean_reward"].step.tolist() == [682]
    assert found.curves["eval/mean_reward"].value[0] == pytest.approx(85.33333333)
    assert found.curves["eval/mean_ep_length"].value[0] == pytest.approx(85.33333333)
    assert found.curves["eval/reward_std"].value[0] > 0
    assert found.config["eval_episodes"] == 3


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("exploded"),))  # type: ignore[return-value]


def test_evaluations_never_unpickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    objects = np.empty(1, dtype=object)
    objects[0] = Bomb()
    np.savez(tmp_path / "evaluations.npz", timesteps=objects, results=objects)
    with pytest.raises(InputError):
        sb3_eval.read(tmp_path / "evaluations.npz", Options())
    assert not (tmp_path / "exploded").exists()
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("timesteps.npy", pickle.dumps(Bomb()))
    with pytest.raises(InputError):
        sb3_eval.read(tmp_path / "e.npz", Options())
    assert not (tmp_path / "exploded").exists()


def test_evaluations_cut_short(tmp_path: Path) -> None:
    whole = (PPO / "evaluations.npz").read_bytes()
    for cut in range(0, len(whole), 41):
        path = tmp_path / "evaluations.npz"
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError):
            sb3_eval.read(path, Options())


def test_evaluations_of_no_evaluation(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, timesteps=np.empty(0), results=np.empty((0, 5)))
    (tmp_path / "evaluations.npz").write_bytes(buffer.getvalue())
    with pytest.raises(InputError):
        sb3_eval.read(tmp_path / "evaluations.npz", Options())
