"""The data checks of prompts: cut, held out, with placeholders; each fires, is quiet, and nearly fires."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.check import Look
from firstbreak.finding import Severity
from firstbreak.preflight.data.api import inspect_data
from tests.unit.preflight.data.looking import fired, look
from tests.unit.preflight.data.making import pairs, save, tasks, token_rows


def test_evaluation_prompts_in_the_training_data(tmp_path: Path) -> None:
    rows = tasks(400)
    train = save(tmp_path, rows[:300])
    clean = save(tmp_path, rows[300:], "clean.jsonl")
    mixed = save(tmp_path, rows[270:], "mixed.jsonl")
    assert not inspect_data(train, eval_path=clean).findings
    (found,) = inspect_data(train, eval_path=mixed).findings
    assert (found.name, found.severity, found.evidence["seen"]) == ("eval-prompts-in-train", Severity.ERROR, 30)
    assert "eval-prompts-in-train" in {s.name for s in inspect_data(train).skipped}


def test_a_pile_at_the_greatest_length(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    long = [{"prompt": "word " * int(n)} for n in draw.integers(5, 400, 500)]
    assert fired("prompts-truncated", tmp_path, long) is None
    cut = [{"prompt": str(r["prompt"])[:1200]} for r in long]
    assert fired("prompts-truncated", tmp_path, cut) is Severity.WARNING
    full = token_rows(200, width=25)
    for row in full:
        row.update({k: v[:20] for k, v in row.items()})
    assert fired("prompts-truncated", tmp_path, full) is Severity.WARNING


def told_of_truncation(folder: Path, rows: list[Any]) -> Look:
    seen = look("prompts-truncated", folder, rows)
    assert not seen.error, seen.error
    return seen


@pytest.mark.parametrize("limit", [55, 80])
def test_prompts_that_are_all_cut_at_one_length_are_known_by_the_words_they_stop_in(tmp_path: Path, limit: int) -> None:
    rows = tasks(400)
    cut = [{**row, "question": f"{row['question']} Count them, and say which were broken."[:limit]} for row in rows]
    assert len({len(row["question"]) for row in cut}) == 1
    symptom = told_of_truncation(tmp_path, cut).symptom
    assert symptom is not None
    assert "stop inside a word" in symptom.message
    assert int(symptom.evidence["inside_a_word"]) >= 60


def test_prompts_that_are_equally_long_by_their_form_are_fine(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    forms = [
        f"Visitor {n:05d} asks once more for the sum of {a:03d} and {b:03d}"
        for n, a, b in draw.integers(0, 999, (300, 3))
    ]
    asked = [{"question": f"{form}?", "answer": "A sum."} for form in forms]
    assert told_of_truncation(tmp_path, asked) == Look("prompts-truncated")
    marked = [{"question": f"{form}\n### Answer", "answer": "A sum."} for form in forms]
    assert told_of_truncation(tmp_path, marked) == Look("prompts-truncated")
    few = [{"question": f"Which of the four letters comes {place} in the alphabet of this book", "answer": "A"}
           for place in ("first", "third", "fifth", "ninth") * 50]  # fmt: skip
    assert told_of_truncation(tmp_path, few) == Look("prompts-truncated")
    letters = [{"question": f"What? {i}", "answer": "ABCD"[i % 4]} for i in range(200)]
    assert told_of_truncation(tmp_path, letters) == Look("prompts-truncated")


def test_where_neither_lengths_nor_ends_tell_the_limit_is_asked_for(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    open_forms = [
        f"Visitor {n:05d} asks once more for the sum of {a:03d} and {b:03d}"
        for n, a, b in draw.integers(0, 999, (300, 3))
    ]
    for rows in (
        [{"question": form, "answer": "A sum."} for form in open_forms],
        [{"input_ids": draw.integers(5, 99, 64).tolist()} for _ in range(200)],
    ):
        skip = told_of_truncation(tmp_path, rows).skip
        assert skip is not None
        assert not skip.withholds
        assert "max_length" in skip.unlock_with[0]


def test_placeholders(tmp_path: Path) -> None:
    rows = pairs()
    for row in rows[:5]:
        row["prompt"] = "Answer this: {question}"
    assert fired("template-residue", tmp_path, rows) is Severity.WARNING
    assert fired("template-residue", tmp_path, [dict(r, prompt=f"{{{{ prompt }}}} {i}") for i, r in enumerate(rows)])
    maths = [dict(r, prompt=r["prompt"] + r" \text{answer} x_{prompt} {x} f{input} {1, 2}") for r in pairs()]
    assert fired("template-residue", tmp_path, maths) is None
