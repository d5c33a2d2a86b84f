"""The list of public logs, and what is written of them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from benchmarks.public.look import Answer, Note, Source, clone, logs, look, page, rows, sources
from firstbreak.registry import all_rules

LOGS = Path(__file__).parents[1] / "data/logs"
HERE = Source(
    "somebody/something", "0" * 40, "2026-01-01", ("**/progress.csv",), (Note("kl-overshoot", "right", "so"),)
)


def test_each_repository_is_listed_once_with_a_whole_commit() -> None:
    listed = sources()
    assert len({source.repository for source in listed}) == len(listed) >= 25
    assert all(re.fullmatch(r"[0-9a-f]{40}", source.commit) for source in listed)


def test_notes_are_of_rules_that_exist_and_say_why() -> None:
    known = {rule.name for rule in all_rules()}
    notes = [note for source in sources() for note in source.notes]
    assert {note.rule for note in notes} <= known
    assert {note.verdict for note in notes} <= {"right", "wrong", "unknown"}
    assert all(len(note.why) > 20 for note in notes)


def test_logs_of_a_clone_are_found_and_looked_at(tmp_path: Path) -> None:
    place = tmp_path / "somebody+something"
    (place / "deep/er").mkdir(parents=True)
    shutil.copy(LOGS / "sb3_ppo_cartpole/progress.csv", place / "deep/er/progress.csv")
    (place / "progress.csv").write_text("")
    assert clone(HERE, tmp_path) == place  # what is there is not cloned
    found = [look(path, str(path.relative_to(place))) for path in logs(HERE, place)]
    assert [one.path for one in found] == ["deep/er/progress.csv", "progress.csv"]
    assert found[0].metrics > 5
    assert found[0].verdict in {"healthy", "undecided"}
    assert found[1] == Answer("progress.csv", "", (), 0)


@pytest.mark.parametrize(("verdict", "counts"), [("broken", "0 | 0 | 1"), ("healthy", "1 | 0 | 0")])
def test_the_page_counts_what_was_said(verdict: str, counts: str) -> None:
    answers = {HERE.repository: [Answer("a", verdict, ("kl-overshoot",), 9), Answer("b", "undecided", (), 0)]}
    (row,) = list(rows([HERE], answers))[2:]
    assert f"| 1 | {counts} | `kl-overshoot` (1) |" in row
    text = page([HERE], answers)
    assert f"1 {verdict}" in text
    assert "1 further files" in text
    assert "| somebody/something | `kl-overshoot` | right | so |" in text
