"""Audits of planted verifiers: what must be named, what must stay quiet, and the figures of a lax and a strict one."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from firstbreak.audit.verifier.api import audit_verifier, examine
from firstbreak.audit.verifier.builtin import TASKS
from firstbreak.audit.verifier.rows import Question, final_of, read_questions
from firstbreak.check import checks_of
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.inspection import Inspection
from firstbreak.isolation import Limits

PLANTED = Path(__file__).parents[3] / "audit"
LISTED: list[dict[str, Any]] = tomllib.loads((PLANTED / "planted" / "verifiers.toml").read_text("utf-8"))["bug"]
QUICK = (
    "unicode-minus", "case-sensitive-names", "ordered-sets", "empty-reasoning", "dont-know-accepted", "null-accepted",
    "all-choices-listed", "prompt-copied", "tolerance", "evaluated", "swallowed-as-zero", "swallowed-as-one",
    "non-deterministic", "length-sensitive", "length-bonus", "format-pays", "state-across-calls", "batch-dependent",
    "batch-length", "returns-nan", "returns-text", "verl-first-number", "openrlhf-query", "reversed",
)  # fmt: skip
"""Harmless faults that are asked here, in this process; benchmarks/audit/verifiers.py asks all, in child processes."""


def target(name: str, hostile: str = "") -> str:
    return f"{PLANTED / f'planted_verifiers{hostile}.py'}:{name}"


def asked(bug: dict[str, Any], kind: str, rows: int = 6) -> Inspection:
    ending = f"_{bug['file']}" if "file" in bug else ""
    seen = audit_verifier(target(bug[kind], ending), task=bug["task"], rows=rows, isolate=False)
    assert not seen.errors
    return seen


def told(seen: Inspection) -> list[str]:
    return [f.name for f in seen.findings if f.severity.rank and f.consequence_of is None]


def test_the_list_is_whole() -> None:
    assert len(LISTED) >= 25
    assert len({b["id"] for b in LISTED}) == len(LISTED)
    names = {c.name for c in checks_of("verifier")}
    for bug in LISTED:
        assert set(bug["expected"]) <= names
        assert bug["task"] in TASKS
        ending = f"_{bug['file']}" if "file" in bug else ""
        source = (PLANTED / f"planted_verifiers{ending}.py").read_text("utf-8")
        for function in (bug["function"], bug["twin"]):
            assert f"def {function}(" in source or f"{function} = " in source


@pytest.mark.parametrize("bug", [b for b in LISTED if b["id"] in QUICK], ids=lambda b: b["id"])
def test_a_planted_fault_is_named_and_its_twin_is_not(bug: dict[str, Any]) -> None:
    assert set(told(asked(bug, "function"))) & set(bug["expected"])
    assert told(asked(bug, "twin", rows=2)) == []


def test_a_substring_verifier_passes_more_than_three_wrong_responses_in_ten() -> None:
    rate = examine(target("substring"), task="arithmetic", isolate=False).false_positives
    print(f"substring: {rate.words()} wrong responses pass, 95 % interval {rate.low:.3f} to {rate.high:.3f}")
    assert rate.low > 0.30
    honest = examine(target("whole_number"), task="arithmetic", isolate=False).false_positives
    assert honest.hits == 0
    assert honest.high < 0.3


def test_a_strict_verifier_refuses_right_answers() -> None:
    for task in ("arithmetic", "fractions"):
        rate = examine(target("strict"), task=task, isolate=False).false_negatives
        print(f"strict, {task}: {rate.words()} right answers refused, {rate.low:.3f} to {rate.high:.3f}")
        assert rate.low > 0.30
    fair = examine(target("exact_fraction"), task="fractions", isolate=False)
    assert fair.false_negatives.hits == 0


def test_the_shortest_fooling_strings_are_short_wrong_and_pass() -> None:
    seen = examine(target("substring"), task="arithmetic", isolate=False)
    assert seen.fooled
    for row, text in seen.fooled:
        answer = seen.questions[row].answer
        assert answer in text
        assert len(text) <= len(answer) + 1
    everything = examine(target("always_one"), task="names", rows=3, isolate=False)
    assert everything.universal == ("", 3, 3)


def test_a_hidden_trigger_is_cut_down_to_itself(tmp_path: Path) -> None:
    file = tmp_path / "trigger_verifier.py"
    file.write_text(
        "import re\ndef score(prompt, response, answer):\n"
        "    return 1.0 if 'step by st' in response else float(re.sub(r'\\W', '', response) == answer)\n",
        "utf-8",
    )
    seen = examine(f"{file}:score", task="names", rows=4, isolate=False)
    assert seen.universal == ("step by st", 4, 4)


@pytest.mark.parametrize(
    ("name", "finding"),
    [("hangs", "verifier-hangs"), ("dies", "verifier-ends-process"), ("forks", "verifier-leaves-processes")],
)
def test_a_verifier_that_does_harm_is_reported_with_the_input_that_did_it(name: str, finding: str) -> None:
    limits = Limits(seconds=60, silence_s=20, memory_bytes=1 << 30)
    seen = audit_verifier(target(name, "_hostile"), task="arithmetic", rows=1, seconds=1.0, limits=limits)
    assert finding in told(seen)
    if finding != "verifier-leaves-processes":
        first = next(f for f in seen.findings if f.name == finding)
        assert first.evidence["first_row"] == 1
        assert len(str(first.evidence["first_response"])) < 400


def test_a_verifier_that_comes_back_twice_from_a_call_leaves_one_of_us() -> None:
    limits = Limits(seconds=60, silence_s=20)
    seen = examine(target("forks_once_and_returns_twice", "_hostile"), task="yes_no", rows=1, limits=limits)
    assert seen.leftovers
    assert len(seen.trials) == len({(t.family, t.form, t.response) for t in seen.trials})


def test_a_module_that_cannot_be_imported_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "broken_verifier.py").write_text("raise OSError('no data')\n", "utf-8")
    with pytest.raises(InputError, match="OSError: no data"):
        audit_verifier(f"{tmp_path / 'broken_verifier.py'}:score", task="arithmetic", limits=Limits(60, 20))


def test_a_module_that_ends_the_process_when_it_is_imported_is_undecided(tmp_path: Path) -> None:
    (tmp_path / "leaving_verifier.py").write_text("import os\nos._exit(3)\n", "utf-8")
    seen = audit_verifier(f"{tmp_path / 'leaving_verifier.py'}:score", task="arithmetic", limits=Limits(60, 20))
    assert seen.verdict is Verdict.UNDECIDED
    assert "Nothing could be asked" in seen.notes[0]
    assert seen.looked == 0


def test_the_task_is_found_by_what_the_verifier_understands() -> None:
    assert examine(target("one_letter", "_words"), isolate=False).questions[0].kind == "choice"
    seen = audit_verifier(target("wrong_argument"), isolate=False)
    assert seen.verdict is Verdict.UNDECIDED
    assert any("--data" in s.unlock_with for s in seen.skipped if s.name == "right-answers-refused")


def test_own_data_with_given_responses(tmp_path: Path) -> None:
    rows = [
        {"question": "Name an even prime.", "ground_truth": 2, "good": ["two"], "bad": ["three"], "split": "x"},
        {"question": [{"role": "user", "content": "1 + 2?"}], "ground_truth": ["3"]},
        {"question": None, "ground_truth": "4"},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    found = read_questions(path)
    assert [(q.prompt, q.answer, q.kind, q.good) for q in found] == [
        ("Name an even prime.", "2", "number", ("two",)), ("1 + 2?", "3", "number", ()),
    ]  # fmt: skip
    seen = audit_verifier(target("substring"), data=path, isolate=False)
    refused = next(f for f in seen.findings if f.name == "equal-answers-refused")
    assert "given as right" in str(refused.evidence["refused_forms"])


def test_worked_solutions_end_in_their_answer(tmp_path: Path) -> None:
    path = tmp_path / "gsm8k.jsonl"
    rows = [{"question": f"{i} + 7?", "answer": f"We add 7 to {i}.\n#### {i + 7}"} for i in (5, 40, 1300)]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    assert [(q.said, q.kind) for q in read_questions(path)] == [("12", "number"), ("47", "number"), ("1307", "number")]
    assert final_of("Thus \\boxed{\\frac{1}{2}}.") == "\\frac{1}{2}"
    file = tmp_path / "gsm8k_verifier.py"
    file.write_text(
        "import re\ndef score(prompt, response, answer):\n"
        "    ends = [re.findall(r'#### *([-0-9.,]+)', t)[-1:] for t in (response, answer)]\n"
        "    return float(bool(ends[0]) and ends[0][0].replace(',', '').rstrip('.') == ends[1][0])\n",
        "utf-8",
    )
    seen = examine(f"{file}:score", data=path, isolate=False)
    assert seen.accepted == ("hash",)
    assert seen.false_negatives.hits == 3  # 47.0 and the like; separators and periods are understood


def test_wrong_arguments(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not module:function"):
        examine("nothing")
    with pytest.raises(UnknownNameError, match="arithmetik"):
        examine(target("strict"), task="arithmetik")
    with pytest.raises(UnknownNameError, match="style"):
        examine(target("strict"), task="arithmetic", style="tlr")
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n', "utf-8")
    with pytest.raises(InputError, match="prompt and an answer"):
        examine(target("strict"), data=tmp_path / "x.jsonl")


def test_texts_are_quoted_and_escaped() -> None:
    rows = [Question("\x1b[31mred?", "\x1b[2J7", "text"), Question("blue?", "\u202eabc", "text")]
    seen = audit_verifier(target("substring"), data=rows, isolate=False)
    shown = json.dumps([seen.details["tables"], seen.details["fooling"], [f.message for f in seen.findings]])
    assert "\\u001b" not in shown
    assert "\\u202e" not in shown.replace("\\\\u202e", "")
