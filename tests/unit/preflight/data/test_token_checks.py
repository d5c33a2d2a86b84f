"""The data checks of token rows: each with a case that fires, a healthy one, a near miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from firstbreak.check import look_at
from firstbreak.finding import Severity
from tests.unit.preflight.data.looking import find_check, fired
from tests.unit.preflight.data.making import EOS, PAD, Row, data, token_rows


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
