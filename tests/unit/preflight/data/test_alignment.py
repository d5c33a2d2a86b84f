"""Answers that stand by another row's prompt: shifted, shuffled, reversed; and what only looks like it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.finding import Severity
from firstbreak.preflight.data.alignment import words
from firstbreak.preflight.data.api import inspect_data
from firstbreak.preflight.data.fitting import COMMON, MARGIN, SHARED, best_fits, dealt_anew, fits
from tests.unit.preflight.data.looking import fired, look
from tests.unit.preflight.data.making import THINGS, Row, save, tasks


def shift(rows: list[Row], by: int, start: int = 0) -> list[Row]:
    answers = [row["answer"] for row in rows]
    for i in range(start, len(rows)):
        rows[i]["answer"] = answers[(i + by) % len(rows)]
    return rows


@pytest.mark.parametrize("by", [1, -1, 2])
def test_answers_of_neighbours(by: int, tmp_path: Path) -> None:
    seen = look("answers-misaligned", tmp_path, shift(tasks(), by)).symptom
    assert seen is not None
    assert seen.evidence["shift_rows"] == -by


def test_answers_shifted_from_the_middle_on(tmp_path: Path) -> None:
    seen = look("answers-misaligned", tmp_path, shift(tasks(600), 1, start=300)).symptom
    assert seen is not None
    assert float(seen.evidence["first_row"]) >= 250


def test_answers_that_say_nothing_of_their_prompt_are_not_judged(tmp_path: Path) -> None:
    rows = [{"question": r["question"], "answer": "ABCD"[i % 4]} for i, r in enumerate(tasks())]
    assert look("answers-misaligned", tmp_path, rows).skip is not None
    seen = inspect_data(save(tmp_path, rows))
    (skipped,) = [s for s in seen.skipped if s.name == "answers-misaligned"]
    assert skipped.applies
    assert "ten rows" in skipped.unlock_with[0]


def test_neighbours_about_the_same_thing_are_no_shift(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    rows: list[Row] = []
    for block in range(40):
        thing = THINGS[block]
        for i in range(8):
            other = str(draw.choice(THINGS))
            rows.append({"prompt": f"What of the {thing} and {other}, {i}?", "answer": f"The {thing} stands there."})
    assert fired("answers-misaligned", tmp_path, rows) is None


def passages(n: int = 300, seed: int = 0) -> list[Row]:
    """Prompts and answers of everyday words, and three that the pair alone holds."""
    draw = np.random.default_rng(seed)
    rows: list[Row] = []
    for i in range(n):
        own = [f"{stem}{''.join(draw.choice(list('bdfgklmnprst'), 6))}" for stem in ("gar", "mel", "tor")]
        asked, said = draw.choice(THINGS, 5), draw.choice(THINGS, 12)
        rows.append(
            {"prompt": f"{' '.join(asked)} {' '.join(own)} {i}?", "answer": f"{' '.join(said)} {' '.join(own)}"}
        )
    return rows


def reordered(rows: list[Row], order: Any) -> list[Row]:
    return [{**row, "answer": rows[int(i)]["answer"]} for row, i in zip(rows, order, strict=True)]


@pytest.mark.parametrize("how", ["shuffled", "reversed"])
def test_answers_in_another_order_than_their_prompts(tmp_path: Path, how: str) -> None:
    order = np.random.default_rng(0).permutation(300) if how == "shuffled" else np.arange(300)[::-1]
    rows = reordered(passages(), order)
    assert fired("answers-misaligned", tmp_path, rows) is Severity.WARNING
    seen = look("answers-misaligned", tmp_path, rows).symptom
    assert seen is not None
    prompt, answer = int(seen.evidence["prompt_row"]), int(seen.evidence["answer_row"])
    assert set(rows[answer - 1]["answer"].split()[-3:]) <= set(rows[prompt - 1]["prompt"].split())


def test_answers_in_their_place_or_to_other_questions_are_not_out_of_order(tmp_path: Path) -> None:
    assert fired("answers-misaligned", tmp_path, passages()) is None
    asked, others = passages(), passages(seed=1)
    rows = [{"prompt": p["prompt"], "answer": a["answer"]} for p, a in zip(asked, others, strict=True)]
    assert look("answers-misaligned", tmp_path, rows).symptom is None


@pytest.mark.parametrize("shuffled", [False, True])
def test_turns_of_a_conversation_quote_the_rows_before_and_are_no_shift(tmp_path: Path, *, shuffled: bool) -> None:
    rows: list[Row] = []
    for start in range(0, 300, 4):
        said = ""
        for row in passages()[start : start + 4]:
            other = passages(seed=1)[start]["answer"].split()[0]
            answer = f"{row['answer']} {other}"
            rows.append({"prompt": f"{said} What of the {THINGS[start % len(THINGS)]} {start}?", "answer": answer})
            said += f" {rows[-1]['prompt']} {answer}"
    if shuffled:
        rows = [rows[int(i)] for i in np.random.default_rng(0).permutation(len(rows))]
    assert look("answers-misaligned", tmp_path, rows).symptom is None


def texts(rows: list[Row]) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
    return [words(row["question"]) for row in rows], [words(row["answer"]) for row in rows]


@pytest.mark.parametrize("n", [100, 600])
@pytest.mark.parametrize("how", ["shuffled", "reversed"])
def test_answers_out_of_order_that_share_everyday_words_only(tmp_path: Path, how: str, n: int) -> None:
    """No word is held by one row alone; which of them come together tells."""
    order = np.random.default_rng(0).permutation(n) if how == "shuffled" else np.arange(n)[::-1]
    rows = reordered(tasks(n), order)
    seen = look("answers-misaligned", tmp_path, rows).symptom
    assert seen is not None
    assert seen.severity is Severity.WARNING
    prompt, answer = int(seen.evidence["prompt_row"]), int(seen.evidence["answer_row"])
    assert len(words(rows[answer - 1]["answer"]) & words(rows[prompt - 1]["question"]) & set(THINGS)) == 2


@pytest.mark.parametrize("n", [100, 600])
def test_answers_to_other_questions_with_the_same_words_are_not_out_of_order(tmp_path: Path, n: int) -> None:
    asked, others = tasks(n), tasks(n, seed=5)
    rows = [{**p, "answer": a["answer"]} for p, a in zip(asked, others, strict=True)]
    assert look("answers-misaligned", tmp_path, rows).symptom is None


def test_a_few_shuffled_rows_are_too_few() -> None:
    rows = reordered(tasks(18), np.arange(18)[::-1])
    assert not fits(*texts(rows)).out_of_order


def test_fits_in_place_and_elsewhere() -> None:
    asked, said = texts(tasks(200))
    here = fits(asked, said)
    assert here.in_place > 100
    assert not here.out_of_order
    turned = fits(asked, said[::-1])
    assert turned.out_of_order
    assert all(i + j == 199 for i, j in turned.elsewhere)


def slow_fits(prompts: list[frozenset[str]], answers: list[frozenset[str]]) -> list[tuple[int, int]]:
    """`best_fits` word by word."""
    n = len(prompts)

    def telling(word: str) -> bool:
        most = max(1.0, COMMON * n)
        held = (sum(word in text for text in side) for side in (prompts, answers))
        return not word[0].isdigit() and all(0 < count <= most for count in held)

    def common(i: int, j: int) -> list[str]:
        return [w for w in prompts[i] & answers[j] if telling(w)]

    def weight(i: int, j: int) -> float:
        return float(sum(np.log(n / sum(w in p for p in prompts)) for w in common(i, j)))

    found = []
    for j in range(n):
        ranked = sorted(range(n), key=lambda i: -weight(i, j))
        best, second = ranked[0], ranked[1]
        mutual = all(weight(best, k) < weight(best, j) for k in range(n) if k != j)
        if len(common(best, j)) >= SHARED and weight(best, j) >= MARGIN * weight(second, j) and mutual:
            found.append((best, j))
    return found


def test_fits_against_a_slow_twin() -> None:
    asked, said = texts(tasks(24, seed=3))
    random = np.random.default_rng(0)
    order = random.permutation(24)
    said = [said[int(i)] for i in order]
    found = best_fits(asked, said)
    assert found
    assert set(slow_fits(asked, said)) <= set(found)  # ties for a prompt count as its best where they come first
    assert len(found) - len(slow_fits(asked, said)) <= 2


def test_dealing_keeps_how_many_answers_hold_a_word() -> None:
    _, said = texts(tasks(50))
    dealt = dealt_anew(said, np.random.default_rng(0))

    def counts(side: Any) -> dict[str, int]:
        return {w: sum(w in a for a in side) for w in {w for a in side for w in a}}

    assert counts(dealt) == counts(said)
    assert dealt != said
