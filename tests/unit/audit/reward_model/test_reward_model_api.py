"""Scoring in a child process: functions, a model folder, files in RewardBench's format, and scorers that fail."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from firstbreak.audit.reward_model.api import audit_reward_model
from firstbreak.audit.reward_model.pairs import read_golden, read_pairs
from firstbreak.audit.reward_model.scoring import scorer_of
from firstbreak.diagnosis import Verdict
from firstbreak.errors import InputError, UnreadableError
from firstbreak.isolation import Limits

from .made_pairs import SCORERS, pairs, scored

LIMITS = Limits(seconds=60, silence_s=30)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    rows = [
        {"id": p.row, "prompt": p.prompt, "chosen": p.chosen, "rejected": p.rejected, "subset": p.subset}
        for p in pairs(90)
    ]
    path.write_text("".join(json.dumps(r) + "\n" for r in [*rows, {"prompt": "no sides"}]) + "{broken\n", "utf-8")
    return path


def test_a_sound_scorer_on_a_file(file: Path) -> None:
    golden = file.with_name("golden.jsonl")
    rows = [{"prompt": p.prompt, "response": p.chosen, "score": re.findall(r"=(\S+)", p.chosen)[0]} for p in pairs(20)]
    golden.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    seen = audit_reward_model(f"{SCORERS}:sound", file, golden=golden, limits=LIMITS)
    assert not seen.errors
    assert seen.verdict is Verdict.HEALTHY, seen.skipped
    here = scored("sound", pairs(90)).accuracy()
    assert seen.details["accuracy"] == {"frac": here.value, "low": here.low, "high": here.high, "pairs": 90}
    assert set(seen.details["subsets"]) == {"maths", "chat", "safety"}
    assert seen.details["left_out"] == 1
    assert "golden-scores-drifted" in seen.clear


@pytest.mark.parametrize("scorer", ["raises", "too_short"])
def test_a_scorer_that_fails_is_reported(scorer: str, file: Path) -> None:
    if scorer == "too_short":
        with pytest.raises(InputError, match="1 for 16"):
            audit_reward_model(f"{SCORERS}:{scorer}", file, limits=LIMITS)
        return
    seen = audit_reward_model(f"{SCORERS}:{scorer}", file, limits=LIMITS)
    assert [f.name for f in seen.findings] == ["scorer-fails"]
    assert "no weights" in seen.findings[0].message


def reply(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def test_formats_of_pairs(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    said = [{"role": "user", "content": "Hi?"}]
    rows = [
        {"chosen": [*said, reply("good")], "rejected": [*said, reply("bad")]},
        {"prompt": "P", "chosen": ["a", "b"], "rejected": ["c"], "subset": "Focus"},
        {"prompt": "P", "chosen": "", "rejected": "x"},
        {"prompt": "P", "chosen": 3, "rejected": "x"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), "utf-8")
    found, bad = read_pairs(path)
    assert [(p.row, p.prompt, p.chosen, p.rejected, p.subset) for p in found] == [
        (1, "Hi?", "good", "bad", ""), (2, "P", "a", "c", "Focus"), (2, "P", "b", "c", "Focus"), (3, "P", "", "x", ""),
    ]  # fmt: skip
    assert bad == 1
    assert len(read_pairs(path, most=2)[0]) == 2


def test_parquet_pairs(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {k: [getattr(p, k) for p in pairs(5)] for k in ("prompt", "chosen", "rejected", "subset")}
    parquet.write_table(pa.table(columns), tmp_path / "pairs.parquet")
    assert [p.chosen for p in read_pairs(tmp_path / "pairs.parquet")[0]] == [p.chosen for p in pairs(5)]


def test_wrong_arguments(tmp_path: Path, file: Path) -> None:
    empty = tmp_path / "none.jsonl"
    empty.write_text('{"a": 1}\n', "utf-8")
    with pytest.raises(InputError, match="prompt, chosen and rejected"):
        read_pairs(empty)
    with pytest.raises(UnreadableError):
        read_pairs(tmp_path / "missing.jsonl")
    with pytest.raises(InputError, match="neither module:function nor a folder"):
        audit_reward_model("nothing", file)
    with pytest.raises(InputError, match="without golden"):
        audit_reward_model(f"{SCORERS}:sound", file, before=file)
    with pytest.raises(InputError, match="row 1"):
        read_golden(empty)
    (tmp_path / "two.jsonl").write_text('{"score": 1}\n{"score": 2}\n', "utf-8")
    with pytest.raises(InputError, match="2"):
        read_golden(empty, tmp_path / "two.jsonl")


def test_a_scorer_written_for_one_pair_is_told_how_it_is_called(tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text("def score(prompt, response):\n    return float(response.startswith('Yes'))\n")
    with pytest.raises(InputError, match="cannot take lists") as told:
        scorer_of(f"{script}:score")(["a"], ["b"])
    assert "fn(prompts, responses)" in str(told.value)
    script.write_text("def score(prompts, responses):\n    return [None.width for r in responses]\n")
    with pytest.raises(AttributeError, match="width"):
        scorer_of(f"{script}:score")(["a"], ["b"])
