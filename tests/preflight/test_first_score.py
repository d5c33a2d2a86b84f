"""The first score of a list is made once, goes on where it stopped, and is never written over."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from benchmarks.preflight import unseen
from benchmarks.preflight.first_score import AlreadyScoredError, Entry, FirstScore

ASKED: list[Entry] = [{"id": name, "kind": "bug"} for name in ("one", "two", "three")]


def scored(folder: Path, monkeypatch: pytest.MonkeyPatch, breaks_at: str = "") -> list[str]:
    """Score ASKED with a stand-in for the inspection; return which entries were looked at."""
    looked: list[str] = []

    def look(entry: Entry, args: argparse.Namespace) -> Entry:
        if entry["id"] == breaks_at:
            raise KeyboardInterrupt
        looked.append(entry["id"])
        return {**entry, "caught": True, "named": True, "found": [], "said": [], "errors": []}

    monkeypatch.setattr(unseen, "FAMILIES", {"later-reward": look})
    args = argparse.Namespace(family="later-reward", jobs=1)
    unseen.scored(ASKED, args, FirstScore("later-reward", folder))
    return looked


def test_score_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt):
        scored(tmp_path, monkeypatch, breaks_at="two")
    assert [row["id"] for row in FirstScore("later-reward", tmp_path).rows()] == ["one"]
    assert scored(tmp_path, monkeypatch) == ["two", "three"]
    written = tmp_path / "later_reward_first.json"
    assert [row["id"] for row in json.loads(written.read_text("utf-8"))] == ["one", "two", "three"]
    assert list(tmp_path.iterdir()) == [written]


def test_score_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scored(tmp_path, monkeypatch)
    before = (tmp_path / "later_reward_first.json").read_text("utf-8")
    with pytest.raises(AlreadyScoredError, match="never written over"):
        scored(tmp_path, monkeypatch)
    assert (tmp_path / "later_reward_first.json").read_text("utf-8") == before


def test_part_of_a_score_is_no_score(tmp_path: Path) -> None:
    first = FirstScore("later-reward", tmp_path)
    first.keep({"id": "one", "kind": "bug"})
    with pytest.raises(KeyError):
        first.close([("one", "bug"), ("two", "bug")])
    assert not first.path.exists()


@pytest.mark.parametrize(
    ("family", "bugs", "harmless"), [("later-environment", 28, 18), ("later-reward", 16, 8), ("later-trainers", 40, 20)]
)
def test_lists_are_read_whole(family: str, bugs: int, harmless: int) -> None:
    kinds = [entry["kind"] for entry in unseen.entries(family)]
    assert (kinds.count("bug"), kinds.count("harmless")) == (bugs, harmless)
    assert family in unseen.FAMILIES
