"""Each data check: a case that fires, a healthy one, a near miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstbreak.check import Check, Look, checks_of, look_at
from firstbreak.diagnosis import Verdict
from firstbreak.finding import Severity
from firstbreak.preflight.data.api import inspect_data
from tests.unit.preflight.data.making import EOS, PAD, THINGS, Row, data, pairs, save, tasks, token_rows

Change = Callable[[list[Row]], list[Any]]


def find_check(name: str) -> Check:
    return next(c for c in checks_of("data") if c.name == name)


def look(name: str, folder: Path, rows: list[Any], **settings: Any) -> Look:
    return look_at(find_check(name), data(folder, rows, **settings))


def fired(name: str, folder: Path, rows: list[Any]) -> Severity | None:
    """Return the severity with which the check fires, None when it is clear; anything else fails the test."""
    seen = look(name, folder, rows)
    assert not seen.error, seen.error
    if seen.symptom is None:
        assert seen.skip is None, seen.skip
        return None
    assert len(seen.symptom.message) <= 120
    assert any(ch.isdigit() for ch in seen.symptom.message)
    return seen.symptom.severity or find_check(name).severity


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


def talk(prompt: str, reply: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": reply}]


def test_sides_of_different_prompts(tmp_path: Path) -> None:
    rows = pairs(100)
    chats = [{"chosen": talk(r["prompt"], r["chosen"]), "rejected": talk(r["prompt"], r["rejected"])} for r in rows]
    assert fired("pair-prompts-differ", tmp_path, chats) is None
    for i in range(0, 100, 2):
        chats[i]["rejected"] = chats[i + 1]["rejected"]
    assert fired("pair-prompts-differ", tmp_path, chats) is Severity.WARNING
    assert data(tmp_path, chats).samples[0].texts["prompt"].head == rows[0]["prompt"]


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
    draw = np.random.default_rng(1)
    shuffled = tasks()
    answers = [r["answer"] for r in shuffled]
    for row, i in zip(shuffled, draw.permutation(len(answers)), strict=True):
        row["answer"] = answers[i]
    seen = look("answers-misaligned", tmp_path, shuffled)
    assert seen.symptom is None


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


def test_messages_that_say_nothing(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "system", "content": ""}, *talk(r["question"], r["answer"])]} for r in tasks(50)]
    assert fired("messages-empty", tmp_path, rows) is Severity.INFO
    assert fired("messages-empty", tmp_path, [{"messages": talk("", r["answer"])} for r in tasks(50)])
    assert (
        fired("messages-empty", tmp_path, [{"messages": talk(r["question"], r["answer"])} for r in tasks(50)]) is None
    )


def changed(change: Callable[[Row], None], rows: list[Row] | None = None) -> list[Row]:
    rows = token_rows() if rows is None else rows
    for row in rows:
        change(row)
    return rows


def test_lengths_that_disagree(tmp_path: Path) -> None:
    rows = token_rows()
    rows[7]["labels"] = rows[7]["labels"][:-1]
    assert fired("token-lengths-disagree", tmp_path, rows) is Severity.ERROR
    assert fired("token-lengths-disagree", tmp_path, token_rows()) is None
    reply = [{"input_ids": [5, 6, 7, 8], "prompt_length": 2, "completion_mask": [1, 1]} for _ in range(9)]
    assert fired("token-lengths-disagree", tmp_path, reply) is None


def test_labels_of_other_places(tmp_path: Path) -> None:
    shifted = changed(lambda r: r.update(labels=[*r["labels"][1:], -100]))
    assert fired("labels-shifted", tmp_path, shifted) is Severity.ERROR
    other = changed(lambda r: r.update(labels=[x if x == -100 else x + 7 for x in r["labels"]]))
    assert fired("labels-shifted", tmp_path, other) is Severity.WARNING
    assert fired("labels-shifted", tmp_path, token_rows()) is None


def silence(row: Row) -> None:
    row["labels"] = [-100] * len(row["labels"])


def test_rows_without_a_loss(tmp_path: Path) -> None:
    assert fired("loss-covers-nothing", tmp_path, changed(silence)) is Severity.ERROR
    rows = token_rows(100)
    for row in rows[:5]:
        silence(row)
    assert fired("loss-covers-nothing", tmp_path, rows) is Severity.WARNING
    assert fired("loss-covers-nothing", tmp_path, token_rows()) is None


def pad_labels(row: Row) -> None:
    row["labels"] = [
        i if m == 0 else x for i, x, m in zip(row["input_ids"], row["labels"], row["attention_mask"], strict=True)
    ]


def test_padding_in_the_loss(tmp_path: Path) -> None:
    assert fired("padding-in-loss", tmp_path, changed(pad_labels)) is Severity.ERROR
    assert fired("padding-in-loss", tmp_path, token_rows()) is None
    blind = changed(lambda r: r.pop("attention_mask"), changed(pad_labels))
    assert fired("padding-in-loss", tmp_path, blind) is Severity.WARNING
    assert fired("padding-in-loss", tmp_path, changed(lambda r: r.pop("attention_mask"))) is None


def test_the_first_of_a_run_of_end_tokens_may_be_in_the_loss(tmp_path: Path) -> None:
    def end_pads(row: Row) -> None:
        row["input_ids"] = [EOS if t == PAD else t for t in row["input_ids"]]
        del row["attention_mask"]

    assert fired("padding-in-loss", tmp_path, changed(end_pads)) is None
    assert fired("end-token-not-trained", tmp_path, changed(end_pads)) is None


def from_the_start(row: Row) -> None:
    row["labels"] = [t if m else -100 for t, m in zip(row["input_ids"], row["attention_mask"], strict=True)]


def test_prompts_in_the_loss(tmp_path: Path) -> None:
    rows = token_rows()
    for row in rows[:20]:
        from_the_start(row)
    assert fired("prompt-in-loss", tmp_path, rows) is Severity.WARNING
    assert fired("prompt-in-loss", tmp_path, changed(from_the_start)) is Severity.INFO
    assert fired("prompt-in-loss", tmp_path, token_rows()) is None
    known = changed(lambda r: r.update(prompt_length=next(i for i, x in enumerate(r["labels"]) if x != -100)))
    assert fired("prompt-in-loss", tmp_path, known) is None
    assert fired("prompt-in-loss", tmp_path, changed(from_the_start, known)) is Severity.WARNING


def test_end_tokens(tmp_path: Path) -> None:
    name = "end-token-not-trained"
    masked = changed(lambda r: r.update(labels=[-100 if x == EOS else x for x in r["labels"]]))
    assert fired(name, tmp_path, masked) is Severity.WARNING
    subject = data(tmp_path, masked)
    subject.eos_id = EOS
    assert look_at(find_check(name), subject).symptom is not None

    def without(row: Row) -> None:
        at = row["input_ids"].index(EOS)
        for key, fill in (("input_ids", PAD), ("labels", -100), ("attention_mask", 0)):
            row[key][at] = fill

    assert fired(name, tmp_path, changed(without)) is Severity.WARNING
    some = token_rows()
    for row in some[:20]:
        without(row)
    assert fired(name, tmp_path, some) is Severity.WARNING
    few = token_rows()
    without(few[0])
    assert fired(name, tmp_path, few) is None


def test_a_line_break_after_the_end_token_may_be_masked(tmp_path: Path) -> None:
    def broken(row: Row) -> None:
        at = row["input_ids"].index(EOS) + 1
        row["input_ids"][at], row["attention_mask"][at] = 9, 1

    assert fired("end-token-not-trained", tmp_path, changed(broken)) is None


def test_words_of_a_tool_in_the_loss(tmp_path: Path) -> None:
    name = "tool-output-in-loss"
    turns = [
        {"role": "user", "content": "Go.", "weight": 0},
        {"role": "assistant", "content": "Call.", "weight": 1},
        {"role": "tool", "content": "Found.", "weight": 0},
        {"role": "assistant", "content": "Done.", "weight": 1},
    ]
    ids = list(range(10, 30))
    right = [0] * 4 + [1] * 5 + [0] * 5 + [1] * 6
    healthy = {"messages": turns, "input_ids": ids, "loss_mask": right}
    assert fired(name, tmp_path, [healthy] * 40) is None
    through = dict(healthy, loss_mask=[0] * 4 + [1] * 16)
    assert fired(name, tmp_path, [through] * 40) is Severity.ERROR
    flagged = {"messages": [*turns[:2], dict(turns[2], weight=1), turns[3]]}
    assert fired(name, tmp_path, [flagged] * 40) is Severity.ERROR
    last_only = dict(healthy, loss_mask=[0] * 4 + [1] * 5 + [0] * 11)
    assert fired(name, tmp_path, [last_only] * 40) is None
    both = {"input_ids": ids, "loss_mask": right, "tool_mask": [0] * 9 + [1] * 5 + [0] * 6}
    assert fired(name, tmp_path, [both] * 40) is None
    assert fired(name, tmp_path, [dict(both, tool_mask=right)] * 40) is Severity.ERROR


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
