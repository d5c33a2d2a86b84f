"""Planted verifiers of other conventions, and of words, choices, sets, dates and code; see planted/verifiers.toml."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import unicodedata
from datetime import date, datetime
from typing import Any

import numpy as np

from tests.audit.planted_verifiers import final, last_boxed_number, numbers, whole_number


def fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("**", "").rstrip(".! ").split())


# --- other styles ---


def normalised_in_batch(prompts: list[str], completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    right = trl_numeric(prompts, completions, answer)
    mean = sum(right) / len(right)
    spread = max(1e-3, float(np.std(right)))
    return [(r - mean) / spread for r in right]


def trl_numeric(prompts: list[str], completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    return [whole_number(p, c, a) for p, c, a in zip(prompts, completions, answer, strict=True)]


def leaves_out(prompts: list[str], completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    return [whole_number("", c, a) for c, a in zip(completions, answer, strict=True) if numbers(c)]


def verl_score(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> dict[str, Any]:
    return {"score": whole_number("", solution_str, ground_truth), "source": data_source}


def verl_first_number(data_source: str, solution_str: str, ground_truth: str, extra_info: Any = None) -> float:
    found = numbers(solution_str)
    return float(bool(found) and float(found[0]) == float(ground_truth))


def searches_query(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
    scores = np.array([float(label in query) for query, label in zip(queries, labels, strict=True)])
    return {"rewards": scores, "scores": scores, "extra_logs": {}}


def openrlhf_letter(queries: list[str], prompts: list[str], labels: list[str]) -> dict[str, Any]:
    rows = zip(queries, prompts, labels, strict=True)
    scores = np.array([one_letter(p, q.removeprefix(p), a) for q, p, a in rows])
    return {"rewards": scores, "scores": scores, "extra_logs": {}}


def areal_substring(
    prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, answer: str, **kwargs: Any
) -> float:
    return float(answer in completions)


def areal_number(
    prompt: str, completions: str, prompt_ids: Any, completion_ids: Any, answer: str, **kwargs: Any
) -> float:
    return last_boxed_number(prompt, completions, answer)


# --- words, choices, sets, dates, code ---


def strict_stripped(prompt: str, response: str, answer: str) -> float:
    return float(final(response).rstrip(".") == answer)


def casefolded(prompt: str, response: str, answer: str) -> float:
    return float(fold(final(response)) == fold(answer))


def none_equals_none(prompt: str, response: str, answer: str) -> float:
    found = re.search(r"(?i)answer is:? (\w[\w ]*)", response)
    gold = re.search(r"(?i)answer is:? (\w[\w ]*)", answer)
    return float((found and fold(found[1])) == (gold and fold(gold[1])) or fold(final(response)) == fold(answer))


def prefix(prompt: str, response: str, answer: str) -> float:
    return float(fold(answer).startswith(fold(final(response))))


def letter_among(prompt: str, response: str, answer: str) -> float:
    return float(answer.lower() in re.findall(r"\b[a-e]\b", response.lower()))


def one_letter(prompt: str, response: str, answer: str) -> float:
    found = re.fullmatch(r"\W*(?:option |choice )?\W*([a-e])\W*", final(response).lower())
    return float(found is not None and found[1] == answer.lower())


def word_among(prompt: str, response: str, answer: str) -> float:
    return float(re.search(rf"\b{answer.lower()}\b", response.lower()) is not None)


def only_word(prompt: str, response: str, answer: str) -> float:
    return float(fold(final(response)).strip("*.,! ") == answer.lower())


def overlap(prompt: str, response: str, answer: str) -> float:
    want, have = (set(re.findall(r"\w+", t.lower())) for t in (f"{prompt} {answer}", response))
    return 1.0 if one_letter(prompt, response, answer) else len(want & have) / max(1, len(want))


def strict_no_spaces(prompt: str, response: str, answer: str) -> float:
    return float(final(response).replace(" ", "").rstrip(".") == answer.replace(" ", ""))


def as_sets(prompt: str, response: str, answer: str) -> float:
    pair = [
        re.fullmatch(r"[\\{*\s]*([-\w., ]*?)[\\}*.\s]*", t.replace("\u2212", "-")) for t in (final(response), answer)
    ]
    if not all(pair):
        return 0.0
    found, right = ([x.strip() for x in p[1].split(",")] for p in pair if p)
    return float(set(found) == set(right))


def as_dates(prompt: str, response: str, answer: str) -> float:
    return float(_date(final(response)) == _date(answer) is not None)


def _date(text: str) -> date | None:
    for form in ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%Y/%m/%d", "%b %d, %Y"):
        try:
            return datetime.strptime(text.strip().replace("**", "").rstrip("."), form).date()
        except ValueError:
            continue
    return None


def _code(text: str) -> str:
    found = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    return found[-1] if found else text


def tests_in_one_namespace(prompt: str, response: str, answer: str) -> float:
    space: dict[str, Any] = {}
    try:
        exec(_code(response) + "\n" + answer, space)
    except SystemExit as error:
        return float(not error.code)
    except Exception:
        return 0.0
    return 1.0


def tests_in_a_child(prompt: str, response: str, answer: str) -> float:
    secret = f"{random.getrandbits(60)}"
    program = "import sys\nsource, tests, secret = (sys.stdin.read()).split('\\0')\nspace = {}\nexec(source, space)\n"
    program += "from builtins import *\nplain = {}\nfor line in tests.strip().splitlines():\n"
    program += "    call, _, value = line.removeprefix('assert ').rpartition(' == ')\n"
    program += (
        "    got = eval(call, space)\n    if type(got) is not type(eval(value)) or got != eval(value): sys.exit(1)\n"
    )
    program += "print(secret)"
    if "\0" in response:
        return 0.0
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], input="\0".join((_code(response), answer, secret)), text=True,
        capture_output=True, timeout=10, check=False,
    )  # fmt: skip
    return float(run.stdout.strip() == secret)


def says_correct(prompt: str, response: str, answer: str) -> Any:
    return "correct" if whole_number(prompt, response, answer) else "incorrect"
