"""Refusals and absent environments are told by the first words of a result."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstbreak.audit.episodes.failing import gist, says_absent, says_failed

FAILED = (
    "Error: no file a.txt",
    "ERROR executing tool",
    "error - slot 3 is taken",
    "Exception: boom",
    "ValueError: x must be positive",
    "[Error] bad call",
    "Traceback (most recent call last):\n  File ...",
    "bash: foo: command not found"[10:],
    "Exit code 1\nls: cannot access",
    "exit status: 127",
    '{"error": "no such slot"}',
    '{"success": false}',
    '{"status": "error", "detail": "x"}',
    '{"exit_code": 2, "stdout": ""}',
    '{"isError": true, "content": []}',
    "Failed to open the page",
    "Tool error: bad arguments",
)
FINE = (
    "",
    "ok",
    "12:00 start\n12:01 error: disk full\nfailed 3 times",
    "The error rate is 3 %",
    "error rate: 3 %",
    "Errors found: none",
    "Exit code 0\ndone",
    '{"error": null, "result": 4}',
    '{"error": "", "ok": true}',
    '{"status": "done"}',
    '{"exit_code": 0}',
    '{"broken json',
    "[1, 2, 3]",
    "no errors",
    "successfully failed over",
)


@pytest.mark.parametrize("text", FAILED)
def test_refusals_are_seen(text: str) -> None:
    assert says_failed(text)
    assert says_failed("  \n" + text)


@pytest.mark.parametrize("text", FINE)
def test_results_are_not_taken_for_refusals(text: str) -> None:
    assert not says_failed(text)


@pytest.mark.parametrize(
    "text",
    [
        "Error: connection refused by sandbox:8080",
        "Error: No such container: abc",
        "environment not initialised",
        "Error: sandbox is not running",
        "HTTP 503 Service Unavailable",
        "Error: timed out after 30 s",
        "failed to start container",
    ],
)
def test_an_absent_environment_is_seen(text: str) -> None:
    assert says_absent(text)


@pytest.mark.parametrize("text", ["Error: slot 3 is taken", "Error: no file a.txt", "Error: missing argument path"])
def test_the_agents_own_fault_is_not_the_environments(text: str) -> None:
    assert not says_absent(text)


def test_the_gist_leaves_out_numbers_names_and_later_lines() -> None:
    assert gist("Error: slot 3 is taken\nmore") == gist("error: slot 17 is taken")
    assert gist("Error: no file 'a'") == gist('Error: no file "b"')
    assert gist("Error: slot 3 is taken") != gist("Error: slot 3 is gone")


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    assert says_failed(text) in (True, False)
    assert says_absent(text) in (True, False)


@given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=4))
def test_an_object_without_a_word_of_failure_is_fine(found: dict[str, object]) -> None:
    words = {"error", "exception", "success", "ok", "succeeded", "iserror", "exit_code", "returncode", "exit_status"}
    kept = {k: v for k, v in found.items() if k.lower() not in words | {"status"}}
    assert not says_failed(json.dumps(kept))
