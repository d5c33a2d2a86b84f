"""The data checks of rows, answers and messages: each with a case that fires, a healthy one, a near miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity
from firstbreak.preflight.data.api import inspect_data
from tests.unit.preflight.data.looking import fired, look, talk
from tests.unit.preflight.data.making import Row, pairs, save, tasks, token_rows


@pytest.mark.parametrize("make", [pairs, tasks, token_rows])
def test_healthy_data_is_healthy(make: Callable[[], list[Row]], tmp_path: Path) -> None:
    seen = inspect_data(save(tmp_path, make()))
    assert seen.verdict is Verdict.HEALTHY, seen.findings
    assert not seen.findings
    assert not seen.errors


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    path = save(tmp_path, tasks(150))
    text = path.read_text()
    path.write_text(text + "{broken\n[1, 2]\n")
    seen = inspect_data(path)
    assert [(f.name, f.evidence["unreadable"], f.severity) for f in seen.findings] == [
        ("rows-unreadable", 2, Severity.ERROR)
    ]
    path.write_text(text + '{"question": "cut in the mid')
    assert [f.severity for f in inspect_data(path).findings] == [Severity.WARNING]


def test_cells_that_are_no_text(tmp_path: Path) -> None:
    rows = pairs()
    for i in range(10):
        rows[i * 7]["prompt"] = [float("nan"), None, {"a": 1}][i % 3]
    assert fired("cells-not-text", tmp_path, rows) is Severity.ERROR
    rows = pairs()
    rows[5]["chosen"] = "None"
    assert fired("cells-not-text", tmp_path, rows) is Severity.WARNING
    optional = tasks()
    for row in optional:
        row["completion"] = None
    optional[0]["completion"] = "There are some."
    assert fired("cells-not-text", tmp_path, optional) is None


def test_empty_answers(tmp_path: Path) -> None:
    rows = tasks(1200)
    rows[3]["answer"] = " \n"
    assert fired("answers-empty", tmp_path, rows) is Severity.INFO
    for row in rows[:60]:
        row["answer"] = ""
    assert fired("answers-empty", tmp_path, rows) is Severity.WARNING
    for row in rows:
        row["answer"] = ""
    assert fired("answers-empty", tmp_path, rows) is Severity.ERROR
    assert fired("answers-empty", tmp_path, tasks()) is None


def test_one_answer_for_nearly_all(tmp_path: Path) -> None:
    rows = tasks()
    for row in rows[:290]:
        row["answer"] = "yes"
    assert fired("answers-all-alike", tmp_path, rows) is Severity.WARNING
    for i, row in enumerate(rows):
        row["answer"] = "yes" if i % 5 else "no"
    assert fired("answers-all-alike", tmp_path, rows) is None


def test_repeated_rows_and_prompts(tmp_path: Path) -> None:
    rows = tasks()
    assert fired("rows-duplicated", tmp_path, rows + rows[:30]) is Severity.WARNING
    assert fired("rows-duplicated", tmp_path, rows + rows[:1]) is Severity.INFO
    assert fired("rows-duplicated", tmp_path, rows) is None
    again = [dict(r, question=f" {r['question'].upper()}", answer=r["answer"] + " Or so.") for r in rows[:30]]
    assert fired("rows-duplicated", tmp_path, rows + again) is None
    seen = look("prompts-duplicated", tmp_path, rows + again).symptom
    assert seen is not None
    assert (seen.evidence["repeats"], seen.evidence["repeats_exact"], seen.severity) == (30, 0, None)
    twice = [dict(r, chosen=r["chosen"] + " Yes.") for r in pairs()]
    assert fired("prompts-duplicated", tmp_path, pairs() + twice) is Severity.INFO
    prompts = [{"prompt": r["question"]} for r in rows]
    assert fired("rows-duplicated", tmp_path, [*prompts, *({"prompt": p["prompt"] + "!"} for p in prompts[:9])])


def test_contradicting_answers(tmp_path: Path) -> None:
    rows = tasks()
    same = [dict(r, answer=r["answer"].upper()) for r in rows[:20]]
    assert fired("answers-contradict", tmp_path, rows + same) is None
    other = [dict(r, answer="There are none.") for r in rows[:20]]
    assert fired("answers-contradict", tmp_path, rows + other) is Severity.WARNING


def test_messages_that_say_nothing(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "system", "content": ""}, *talk(r["question"], r["answer"])]} for r in tasks(50)]
    assert fired("messages-empty", tmp_path, rows) is Severity.INFO
    assert fired("messages-empty", tmp_path, [{"messages": talk("", r["answer"])} for r in tasks(50)])
    assert (
        fired("messages-empty", tmp_path, [{"messages": talk(r["question"], r["answer"])} for r in tasks(50)]) is None
    )
