"""Of errors, costs and times less is better: comparisons, gaps and the Ladder, each the mirror of what more is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firstbreak.evaluation.ledger.ladder import climb
from firstbreak.evaluation.ledger.looks import record
from firstbreak.evaluation.protocol.protocol import of

Call = Callable[..., tuple[int, str, str]]
MORE = of({"evaluation": {"name": "m", "dataset": "d", "metric": "x", "episodes": 3}})
LESS = of({"evaluation": {"name": "m", "dataset": "d", "metric": "x", "episodes": 3, "better": "lower"}})
VALUES = [0.5, 0.3, 0.2999, 0.7, 0.1]


@pytest.fixture
def errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Errors of two checkpoints, three runs each; those of b are smaller."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    for name, level in (("a", 2.0), ("b", 1.0)):
        rows = [{"item": i, "run": r, "score": level + random.normal(0, 0.3)} for i in range(40) for r in range(3)]
        Path(f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    fields = LESS.values["evaluation"].items()
    for name, skipped in (("less", ""), ("open", "better")):
        lines = [f"{n} = {json.dumps(v)}" for n, v in fields if n != skipped]
        Path(f"{name}.toml").write_text("[evaluation]\n" + "\n".join(lines) + "\n")
    Path("more.toml").write_text(Path("less.toml").read_text().replace('"lower"', '"higher"'))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--assume-same-protocol", "--lower-is-better"), "is better. Lower is better."),
        (("--protocol", "open.toml", "--lower-is-better"), "is better. Lower is better."),
        (("--protocol", "less.toml"), "is better. Lower is better."),
        (("--protocol", "open.toml"), "is worse."),
        (("--protocol", "more.toml"), "is worse."),
    ],
)
def test_the_smaller_error_is_the_better_one(errors: Path, call: Call, words: tuple[str, ...], said: str) -> None:
    status, out, _ = call("compare", "a.jsonl", "b.jsonl", *words)
    assert status == 0
    assert said in out


def test_a_run_that_beats_another_is_the_lower_one(errors: Path, call: Call) -> None:
    found = [
        json.loads(call("compare", "a.jsonl", "b.jsonl", "--protocol", name, "--format", "json")[1])["comparison"]
        for name in ("less.toml", "more.toml")
    ]
    assert [one["probability_of_improvement"]["value"] for one in found] == [1.0, 0.0]
    assert [one["lower_is_better"] for one in found] == [True, False]
    assert found[0]["over_items"] == found[1]["over_items"]  # a difference stays other minus one


def test_the_gap_names_the_better_way_to_act(errors: Path, call: Call) -> None:
    shared = ("compare", "a.jsonl", "b.jsonl", "--gap")
    assert "Deterministic is better" in call(*shared, "--lower-is-better")[1]
    assert "Sampled is better" in call(*shared)[1]


def test_option_and_protocol_may_not_contradict_each_other(errors: Path, call: Call) -> None:
    for more in ((), ("--gap",)):
        words = ("compare", "a.jsonl", "b.jsonl", "--protocol", "more.toml", "--lower-is-better", *more)
        status, _, err = call(*words)
        assert status == 2
        assert 'evaluation.better = "higher"' in err


@settings(deadline=None, max_examples=60)
@given(st.one_of(st.none(), st.floats(-50, 50)), st.floats(-50, 50), st.floats(0.01, 5))
def test_a_rung_down_is_the_mirror_of_a_rung_up(best: float | None, new: float, step: float) -> None:
    down, up = climb(best, new, step, lower=True), climb(None if best is None else -best, -new, step)
    assert down.improved == up.improved
    assert down.told == pytest.approx(-up.told, abs=1e-9)


@pytest.mark.parametrize("split", ["public_test", "dev"])
def test_a_ledger_of_errors_is_the_mirror_of_one_of_their_opposites(tmp_path: Path, split: str) -> None:
    standings = []
    for name, protocol, sign in (("less.db", LESS, 1.0), ("more.db", MORE, -1.0)):
        for i, value in enumerate(VALUES):
            look, standing = record(
                tmp_path / name, split, f"c{i}", protocol, score=sign * value, noise=0.01, items=100
            )
            assert look.told == pytest.approx(
                sign * {"public_test": min(VALUES[: i + 1]), "dev": value}[split], abs=0.011
            )
        standings.append(standing)
    assert standings[0].best is not None
    assert standings[1].best is not None
    assert standings[0].best.score == 0.1
    assert standings[1].best.score == -0.1
    assert standings[0].gain == pytest.approx(standings[1].gain)


def test_the_page_of_a_ledger_says_which_way_choosing_errs(errors: Path, call: Call) -> None:
    for name in ("a", "b"):
        words = ("record", f"{name}.jsonl", "--split", "public_test", "--protocol", "less.toml", "--ledger", "l.db")
        status, out, _ = call(*words)
        assert status == 0
    assert "improved" in out
    assert "too low if all are equally good" in out
    assert "expected smallest" in " ".join(call("ledger", "show", "l.db")[1].split())
    status, out, _ = call("record", "a.jsonl", "--split", "public_test", "--protocol", "less.toml", "--ledger", "l.db")
    assert "no better than noise" in out
