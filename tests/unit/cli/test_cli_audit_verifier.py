"""`firstbreak audit verifier` and `audit reward-model`: answers, exit status, wrong arguments."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Answer

Call = Callable[..., Answer]
RULE = (
    "import re\ndef score(prompt, response, answer):\n"
    "    found = re.fullmatch(r'.*<answer>([^<]*)</answer>', response, re.S)\n"
    "    text = found[1] if found else ''\n"
    "    return float(text.strip().strip('*').casefold().rstrip('. ') == answer.casefold())\n"
)
MODEL = "def score(prompts, responses):\n    return [float(len(r)) for r in responses]\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    (tmp_path / "lax.py").write_text("def score(prompt, response, answer):\n    return 1.0\n", "utf-8")
    (tmp_path / "rule.py").write_text(RULE, "utf-8")
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    rows = [{"prompt": "P?", "chosen": "x" * (2 + i % 3), "rejected": "y" * (9 + i), "subset": "s"} for i in range(40)]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    return tmp_path


def test_a_verifier_that_passes_everything(call: Call, code: Path) -> None:
    seen = call("audit", "verifier", f"{code / 'lax.py'}:score", "--task", "yes_no", "--rows", "2")
    assert seen.status == 1
    assert "null-answers-accepted" in seen.out
    assert "what passes" in seen.out


def test_a_fair_rule_as_json(call: Call, code: Path) -> None:
    given = ("--task", "yes_no", "--rows", "2", "--format", "json")
    seen = call("audit", "verifier", f"{code / 'rule.py'}:score", *given)
    answer = json.loads(seen.out)
    assert answer["verdict"] == "healthy"
    assert seen.status == 0


def test_a_reward_model_that_goes_by_length(call: Call, code: Path) -> None:
    seen = call("audit", "reward-model", f"{code / 'model.py'}:score", "--pairs", code / "pairs.jsonl")
    assert seen.status == 1
    assert "preferences-reversed" in seen.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verifier", "x"], "not module:function"),
        (["verifier", "x:y", "--seconds", "0"], "--seconds is 0"),
        (["verifier", "x:y", "--rows", "0"], "--rows is 0"),
        (["verifier", "x:y", "--data", "a", "--task", "b"], "Give one"),
        (["verifier", "x:y", "--task", "yes-no"], "yes_no"),
        (["reward-model", "x:y"], "--pairs"),
        (["reward-model", "x:y", "--pairs", "missing.jsonl"], "no such file"),
        (["reward-model", "x:y", "--pairs", "missing.jsonl", "--rows", "0"], "--rows is 0"),
    ],
)
def test_wrong_arguments(call: Call, arguments: list[str], said: str) -> None:
    seen = call("audit", *arguments)
    assert seen.status == 2
    assert said in seen.err
