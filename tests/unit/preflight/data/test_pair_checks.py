"""The data checks of chosen and rejected answers: each with a case that fires, a healthy one, a near miss."""

from __future__ import annotations

from pathlib import Path

from firstbreak.finding import Severity
from tests.unit.preflight.data.looking import fired, look, talk
from tests.unit.preflight.data.making import Row, data, pairs


def swap(rows: list[Row], share: float) -> list[Row]:
    for row in rows[: int(share * len(rows))]:
        row["chosen"], row["rejected"] = row["rejected"], row["chosen"]
        row["score_chosen"], row["score_rejected"] = row["score_rejected"], row["score_chosen"]
    return rows


def test_reversed_pairs(tmp_path: Path) -> None:
    name = "chosen-rejected-reversed"
    assert fired(name, tmp_path, swap(pairs(), 1.0)) is Severity.ERROR
    assert fired(name, tmp_path, swap(pairs(), 0.25)) is Severity.WARNING
    assert fired(name, tmp_path, swap(pairs(), 0.08)) is None
    bare = [{k: row[k] for k in ("prompt", "chosen", "rejected")} for row in pairs()]
    assert look(name, tmp_path, bare).skip is not None


def test_equal_sides(tmp_path: Path) -> None:
    name = "pair-sides-identical"
    rows = pairs()
    for row in rows[:30]:
        row["rejected"] = f"  {row['chosen'].upper()} "
    assert fired(name, tmp_path, rows) is Severity.WARNING
    for row in rows:
        row["rejected"] = row["chosen"]
    assert fired(name, tmp_path, rows) is Severity.ERROR
    rows = pairs()
    rows[0]["rejected"] = rows[0]["chosen"]
    assert fired(name, tmp_path, rows) is Severity.INFO
    rows[0]["rejected"] = rows[0]["chosen"] + " So they say"
    assert fired(name, tmp_path, rows) is None


def test_sides_of_different_prompts(tmp_path: Path) -> None:
    rows = pairs(100)
    chats = [{"chosen": talk(r["prompt"], r["chosen"]), "rejected": talk(r["prompt"], r["rejected"])} for r in rows]
    assert fired("pair-prompts-differ", tmp_path, chats) is None
    for i in range(0, 100, 2):
        chats[i]["rejected"] = chats[i + 1]["rejected"]
    assert fired("pair-prompts-differ", tmp_path, chats) is Severity.WARNING
    assert data(tmp_path, chats).samples[0].texts["prompt"].head == rows[0]["prompt"]


def test_weak_signs_of_swapped_sides_are_information_only(tmp_path: Path) -> None:
    rows = pairs()
    for row in rows[:60]:
        row["chosen"] = "I'm sorry, but I can't help with that."
    assert fired("chosen-looks-worse", tmp_path, rows) is Severity.INFO
    for i, row in enumerate(rows):
        row["rejected"] = "I cannot say." if i < 50 else row["rejected"]
    assert fired("chosen-looks-worse", tmp_path, rows) is None
    assert fired("chosen-looks-worse", tmp_path, pairs()) is None


def test_length_that_tells_the_chosen_side(tmp_path: Path) -> None:
    assert fired("length-tells-preference", tmp_path, pairs()) is None
    rows = [dict(r, chosen=r["chosen"] * 4) for r in pairs()]
    assert fired("length-tells-preference", tmp_path, rows) is Severity.INFO
