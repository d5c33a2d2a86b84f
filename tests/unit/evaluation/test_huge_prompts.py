"""Prompts of a megabyte: found where they are the same, told apart where they are not, and never printed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from firstbreak.cli import main

LONG = 1_000_000


def rows(path: Path, prompts: list[str]) -> str:
    path.write_text("".join(json.dumps({"prompt": one}) + "\n" for one in prompts))
    return str(path)


def test_contamination_finds_a_prompt_of_a_megabyte_and_prints_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(0)
    big = " ".join(f"w{chance.randrange(9000)}" for _ in range(200_000))[:LONG]
    other = " ".join(f"v{chance.randrange(9000)}" for _ in range(200_000))[:LONG]
    train = rows(tmp_path / "train.jsonl", [big, "a short one of the training set"])
    held = rows(tmp_path / "eval.jsonl", [big[:500_000] + " changed " + big[500_000:], other, "x" * LONG])
    status = main(["eval", "contamination", "--train", train, "--eval", held, "--format", "json"])
    out = capsys.readouterr().out
    found = json.loads(out)
    assert status == 1
    matches = found["contamination"]["matches"]
    assert [(m["kind"], m["eval_row"], m["train_row"]) for m in matches] == [("near", 1, 1)]
    assert len(out) < 100_000
