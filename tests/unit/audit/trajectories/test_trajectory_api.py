"""Audits of files of episodes, and the views of single episodes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from firstbreak import errors
from firstbreak.audit.trajectories.api import inspect_trajectories, read_record
from firstbreak.audit.trajectories.gathering import summarise
from firstbreak.audit.trajectories.trajectory import Trajectory
from firstbreak.check import checks_of
from firstbreak.report.audit.trajectories import data, facts, points, render, rewards, section, shown
from firstbreak.report.inspection.html import page
from firstbreak.report.page import Face
from tests.audit.control import record, save


def one(rewards: list[float], **more: object) -> Trajectory:
    steps = len(rewards)
    fields = {"observations": np.ones((steps, 1)), "actions": np.zeros(steps), "rewards": np.array(rewards), **more}
    return Trajectory("x", 0, **fields)  # type: ignore[arg-type]


def test_a_file_of_real_episodes(tmp_path: Path) -> None:
    save(tmp_path / "x.npz", record("CartPole-v1", "random", 30))
    heard: list[str] = []
    seen = inspect_trajectories(tmp_path / "x.npz", tell=lambda look: heard.append(look.check))
    assert heard == [c.name for c in checks_of("trajectories")]
    assert (seen.verdict, seen.details["episodes"], seen.details["terminated"]) == ("healthy", 30, 30)
    with pytest.raises(errors.UnreadableError):
        inspect_trajectories(tmp_path / "none.npz")


def test_the_tables_hold_the_quantiles(tmp_path: Path) -> None:
    save(tmp_path / "x.npz", record("CartPole-v1", "random", 30))
    found = read_record(tmp_path / "x.npz")
    returns, lengths = inspect_trajectories(tmp_path / "x.npz").details["tables"][0]["rows"]
    assert returns[1:] == lengths[1:] == np.quantile(found.summary.returns, [0, 0.25, 0.5, 0.75, 1]).tolist()


def test_the_view_shows_high_low_and_random() -> None:
    summary = summarise([one([float(i)]) for i in range(9)], kept=2)
    rows = shown(summary, 2)
    assert [[s.episode.paid for s in row][:2] for row in rows] == [[8, 0], [7, 1]]
    assert [s.kind for s in rows[0]] == ["high return", "low return", "random"]
    assert shown(summarise([]), 3) == []
    assert "none" in render([])
    assert "None" in section([])


def test_what_is_said_of_an_episode() -> None:
    nan = float("nan")
    found = facts(
        one(
            [1.0, 2.0],
            terminated=True,
            truncated=True,
            success=False,
            observations=np.array([[0, nan, 1, 2, 3, 4], [1, nan, 1, 2, 3, 4]]),
        )
    )
    assert found[:3] == ["return 3, 2 steps", "end: terminated and truncated", "failure"]
    assert "obs[0] 0 to 1" in found
    assert "obs[1] no finite value" in found
    assert found[-1] == "and 2 more"
    assert "end: not stored" in facts(one([1.0]))
    assert "end: no flag set" in facts(one([1.0], terminated=False))


@given(st.lists(st.floats(-1e9, 1e9) | st.sampled_from([float("nan"), float("inf")]), min_size=1, max_size=700))
def test_any_rewards_can_be_drawn(values: list[float]) -> None:
    marks, caption = rewards(one(values), 25)
    assert len(marks) == 25
    assert caption
    drawn = [tuple(map(float, p.split(","))) for p in points(one(values)).split()]
    assert bool(drawn) == any(np.isfinite(values))
    assert all(0 <= x <= 200 and 0 <= y <= 40 for x, y in drawn)
    assert [x for x, _ in drawn] == sorted(x for x, _ in drawn)


def test_the_spike_of_a_long_episode_is_drawn() -> None:
    values = [0.0] * 5000
    values[3333] = 9.0
    drawn = [tuple(map(float, p.split(","))) for p in points(one(values)).split()]
    assert min(drawn, key=lambda p: p[1])[0] == pytest.approx(200 * 3333 / 4999, abs=0.1)


@pytest.mark.parametrize("width", [80, 50])
def test_a_page_of_text_fits(width: int) -> None:
    summary = summarise(record("CartPole-v1", "random", 10))
    text = render(shown(summary, 2), Face(width=width, ascii_only=True))
    assert text.isascii()
    assert max(cell_len(line) for line in text.splitlines()) <= width


def test_hostile_names_of_files_are_shown_as_text() -> None:
    hostile = Trajectory("\x1b[31m<script>alert(1)</script>.npz", 0, np.ones((1, 1)), np.ones(1), np.ones(1))
    rows = shown(summarise([hostile]), 1)
    assert "\x1b" not in render(rows)
    assert "<script" not in section(rows)
    assert "\x1b" not in str(data(rows))


def test_frames_become_pictures_in_the_page(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (6, 20, 30, 3)).astype(np.uint8)
    for i in range(2):
        np.savez(tmp_path / f"{i}.npz", obs=np.ones((6, 2)), actions=np.zeros(6, int), rewards=np.ones(6) * i,
                 frames=frames)  # fmt: skip
    record_ = read_record(tmp_path)
    text = page([inspect_trajectories(tmp_path)], below=section(shown(record_.summary, 1)))
    assert len(re.findall(r'<img src="data:image/png;base64,[A-Za-z0-9+/=]{50,}"', text)) == 3
    assert text.count("<footer>") == 1
    assert "http" not in re.sub(r"http-equiv", "", text)
