"""Episodes from npz files and from Minari data sets."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak import errors
from firstbreak.audit.trajectories import npz
from firstbreak.audit.trajectories.npz import episodes_of
from firstbreak.audit.trajectories.reading import has_trajectories, read_trajectories

MINARI = Path(__file__).parents[3] / "data" / "minari" / "goal"
"""Written by Minari 0.5.4: tools/record_logs/minari_goal.py."""


def recorded(path: Path, episodes: int = 4) -> None:
    """Write a real run of CartPole as one buffer."""
    env = gymnasium.make("CartPole-v1", max_episode_steps=15)
    rows: list[tuple[Any, ...]] = []
    for seed in range(episodes):
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        over = False
        while not over:
            action = env.action_space.sample()
            after, reward, terminated, truncated, _ = env.step(action)
            rows.append((observation, action, reward, terminated, truncated))
            observation, over = after, terminated or truncated
    names = ("observations", "actions", "rewards", "terminated", "truncated")
    np.savez(path, **{name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def test_a_buffer_of_real_episodes_is_cut_at_their_ends(tmp_path: Path) -> None:
    recorded(tmp_path / "x.npz")
    found = list(read_trajectories(tmp_path))
    assert len(found) == 4
    assert all(one.terminated or one.truncated for one in found)
    assert all(one.paid == one.steps == len(one.actions) for one in found)
    assert all(one.discrete for one in found)
    assert sum(one.steps for one in found) == len(np.load(tmp_path / "x.npz")["rewards"])


def test_one_episode_a_file_in_natural_order(tmp_path: Path) -> None:
    for i in (2, 10, 1):
        np.savez(tmp_path / f"episode_{i}.npz", obs=np.zeros((4, 2)), actions=np.zeros((3, 1)), rewards=np.full(3, i),
                 terminated=np.array(True), success=np.array(False))  # fmt: skip
    found = list(read_trajectories(tmp_path))
    assert [one.paid for one in found] == [3, 6, 30]
    assert found[0].terminated is True
    assert found[0].truncated is None
    assert found[0].success is False
    assert found[0].observations.shape == (4, 2)


def test_a_batch_is_cut_behind_its_ends(tmp_path: Path) -> None:
    done = np.array([[0, 0, 1, 0], [0, 0, 0, 0]], bool)
    np.savez(tmp_path / "x.npz", observations=np.zeros((2, 4, 3)), actions=np.zeros((2, 4, 2)), rewards=np.ones((2, 4)),
             dones=done)  # fmt: skip
    found = list(read_trajectories(tmp_path / "x.npz"))
    assert [one.steps for one in found] == [3, 4]
    assert [one.terminated for one in found] == [True, False]


def test_starts_of_episodes_cut_too(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", obs=np.zeros((5, 1)), actions=np.zeros(5, int), rewards=np.ones(5),
             episode_starts=np.array([1, 0, 1, 0, 0]), episode_returns=np.zeros(2))  # fmt: skip
    assert [one.steps for one in read_trajectories(tmp_path / "x.npz")] == [2, 3]


def test_pictures_become_frames(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", obs=np.zeros((3, 3, 8, 8), np.uint8), actions=np.zeros(3, int), rewards=np.zeros(3),
             frames=np.random.default_rng(0).random((3, 8, 8, 1)))  # fmt: skip
    (one,) = read_trajectories(tmp_path / "x.npz")
    assert one.frames is not None
    assert one.frames.shape == (3, 8, 8, 3)
    assert one.frames.max() > 128
    assert one.observations.shape == (3, 0)


class Bomb:
    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.place),))


def test_objects_in_an_npz_are_refused_and_not_run(tmp_path: Path) -> None:
    bomb = np.array([Bomb(tmp_path / "boom")], dtype=object)
    np.savez(tmp_path / "x.npz", rewards=bomb, actions=np.zeros(1))
    with pytest.raises(errors.InputError, match="pickle"):
        list(read_trajectories(tmp_path / "x.npz"))
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    "arrays",
    [
        {"rewards": np.zeros(3)},
        {"rewards": np.zeros(3), "actions": np.zeros(2)},
        {"rewards": np.zeros(3), "actions": np.zeros(3), "observations": np.zeros((9, 2))},
        {"rewards": np.zeros((2, 2, 2)), "actions": np.zeros((2, 2, 2))},
        {"rewards": np.array(["a", "b"]), "actions": np.zeros(2)},
    ],
)
def test_arrays_that_are_no_episodes_are_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(errors.InputError):
        list(read_trajectories(tmp_path / "x.npz"))


def test_an_array_too_large_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MOST_BYTES", 1000)
    np.savez_compressed(tmp_path / "x.npz", rewards=np.zeros(10_000), actions=np.zeros(10_000))
    with pytest.raises(errors.InputError, match="GiB"):
        list(read_trajectories(tmp_path / "x.npz"))


def test_damaged_files_and_other_files(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 not a zip")
    with zipfile.ZipFile(tmp_path / "y.npz", "w") as archive:
        archive.writestr("rewards.npy", b"no array")
    for name in ("x.npz", "y.npz"):
        with pytest.raises(errors.InputError, match="npz"):
            list(read_trajectories(tmp_path / name))
    (tmp_path / "z.txt").write_text("")
    for path in (tmp_path / "z.txt", tmp_path / "empty"):
        path.parent.mkdir(exist_ok=True)
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(errors.InputError):
            list(read_trajectories(path))
    assert has_trajectories(tmp_path)
    assert not has_trajectories(tmp_path / "empty")


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.lists(st.booleans(), min_size=30, max_size=30))
def test_every_step_lies_in_one_episode(ends: list[bool], cuts: list[bool]) -> None:
    size = len(ends)
    arrays = {"rewards": np.arange(size, dtype=float), "actions": np.arange(size), "terminated": np.array(ends),
              "truncated": np.array(cuts[:size]), "observations": np.arange(size, dtype=float)[:, None]}  # fmt: skip
    found = list(episodes_of(arrays, Path("x"), "x"))
    assert np.concatenate([one.rewards for one in found]).tolist() == list(range(size))
    assert all(np.array_equal(one.observations[:, 0], one.rewards) for one in found)
    over = [a or b for a, b in zip(ends, cuts, strict=False)]
    assert len(found) == sum(over) + (not over[-1])


def test_a_data_set_that_minari_itself_wrote() -> None:
    """Pendulum with a dictionary of observations; the rewards are those `minari_goal.py` printed."""
    found = list(read_trajectories(MINARI))
    assert [one.steps for one in found] == [8, 8, 8, 8]
    ends = [(round(float(one.rewards[0]), 4), round(float(one.rewards[-1]), 4)) for one in found]
    assert ends == [(-0.7621, -3.546), (-0.0867, -1.1703), (-2.2619, -10.2307), (-6.8058, -9.5347)]
    for one in found:
        assert one.observations.shape == (9, 5)
        assert one.observations[:, :2].tolist() == [[1.0, 0.0]] * 9
        assert np.allclose((one.observations[:, 2:4] ** 2).sum(axis=1), 1, atol=1e-5)
        assert (one.terminated, one.truncated) == (False, True)


def a_minari_file(path: Path, episodes: Mapping[str, Mapping[str, Any]]) -> Path:
    with h5py.File(path, "w") as file:
        for name, arrays in episodes.items():
            group = file.create_group(name)
            for key, values in arrays.items():
                group[key] = values
    return path


def test_minari_episodes_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    def episode(size: int) -> dict[str, Any]:
        return {"observations/goal": np.ones((size + 1, 2)), "observations/robot/arm": np.zeros((size + 1, 3)),
                "actions": np.zeros((size, 2)), "rewards": np.ones(size),
                "terminations": [False] * (size - 1) + [True], "truncations": [False] * size}  # fmt: skip

    path = a_minari_file(tmp_path / "main_data.hdf5", {"episode_10": episode(3), "episode_2": episode(5), "other": {}})
    found = list(read_trajectories(path))
    assert [one.steps for one in found] == [5, 3]
    assert found[0].observations.shape == (6, 5)
    assert (found[0].terminated, found[0].truncated) == (True, False)


def test_files_that_are_no_minari_data_sets_say_so(tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="no episodes"):
        list(read_trajectories(a_minari_file(tmp_path / "empty.hdf5", {})))
    with pytest.raises(errors.InputError, match="no actions"):
        list(read_trajectories(a_minari_file(tmp_path / "half.hdf5", {"episode_0": {"rewards": [1.0]}})))
    whole = (MINARI / "main_data.hdf5").read_bytes()
    (tmp_path / "cut.hdf5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(errors.InputError, match="not a readable HDF5"):
        list(read_trajectories(tmp_path / "cut.hdf5"))


def test_a_minari_file_without_h5py_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "main_data.hdf5").write_bytes(b"\x89HDF")
    with pytest.raises(errors.MissingExtraError, match="h5py"):
        list(read_trajectories(tmp_path))
