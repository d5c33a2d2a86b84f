"""Scores read, summed up and compared; what is refused and why."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from firstbreak.cli import main
from firstbreak.errors import InputError, UnknownNameError
from firstbreak.evaluation.gap import gap
from firstbreak.evaluation.protocol.protocol import DifferentProtocolsError, Protocol, of
from firstbreak.evaluation.results.comparing import compare
from firstbreak.evaluation.results.reading import Score, Scores, document, read_scores
from firstbreak.evaluation.results.summary import summary

RNG = np.random.default_rng(0)


def protocol(**control: object) -> Protocol:
    fixed = {"environment": "Ant-v5", "environment_version": "x 1", "action_mode": "sampled", "normaliser": "frozen"}
    return of(
        {"evaluation": {"name": "a", "dataset": "b", "metric": "c", "episodes": 9}, "control": {**fixed, **control}}
    )


def scores(values: object, *, items: bool = True, run: str = "", under: Protocol | None = None) -> Scores:
    rows = tuple(Score(f"q{i}", run, float(v)) for i, v in enumerate(values))  # type: ignore[call-overload]
    return Scores("s", rows, {"score": "score", **({"item": "item"} if items else {})}, under)


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


def test_usual_names_are_found_and_files_are_runs(tmp_path: Path) -> None:
    one = write(tmp_path / "a.jsonl", [{"question_id": 1, "correct": True}, {"question_id": 2, "correct": "false"}])
    with (tmp_path / "b.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "score"], ["1", "0"], ["2", "1"]])
    found = read_scores([one, tmp_path / "b.csv"])
    assert found.runs == ["a.jsonl#1", "b.csv#2"]
    assert found.items_of() == {"1": [1.0, 0.0], "2": [0.0, 1.0]}
    assert read_scores([one], columns={"score": "question_id"}).rows[1].value == 2


def test_a_document_brings_scores_and_protocol_back(tmp_path: Path) -> None:
    first = scores([1, 0, 1], under=protocol())
    (tmp_path / "s.json").write_text(json.dumps(document(first)))
    assert read_scores([tmp_path / "s.json"]) == first
    (tmp_path / "s.json").write_text(json.dumps({**document(first), "rows": [[1]]}))
    with pytest.raises(InputError, match="damaged"):
        read_scores([tmp_path / "s.json"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": 1, "score": "good"}], "no number"),
        ([{"id": 1, "score": float("nan")}], "nan"),
        ([{"id": 1, "score": None}], "no number"),
        ([{"id": 1, "score": 1}, {"id": 2}], "row 2: no 'score'"),
        ([{"id": 1, "points": 3}], "no column holds scores"),
        ([], "no scores"),
    ],
)
def test_bad_scores_are_named(tmp_path: Path, rows: list[dict[str, object]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_scores([write(tmp_path / "s.jsonl", rows)])


def test_rows_that_cannot_be_read_are_not_left_out(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": 1, "score": 1}\n{"id": 2, "sc\n')
    with pytest.raises(InputError, match="1 rows cannot be read"):
        read_scores([tmp_path / "s.jsonl"])
    with pytest.raises(UnknownNameError, match="score"):
        read_scores([write(tmp_path / "t.jsonl", [{"id": 1, "score": 1}])], columns={"scores": "score"})


def test_a_single_run_gets_no_interval_over_runs_and_a_single_item_none_at_all() -> None:
    found = summary(scores(RNG.random(30)))
    assert found.over_runs is None
    assert found.over_items is not None
    assert summary(scores([0.5])).over_items is None
    assert summary(scores([1] * 20)).over_items == pytest.approx(summary(scores([1] * 20)).over_items)
    sure = summary(scores([1] * 20)).over_items
    assert sure is not None
    assert sure.lo < 0.9


def test_an_interval_of_passes_ends_at_0_and_1_and_one_of_other_scores_where_it_ends() -> None:
    rows = tuple(Score(f"q{i}", f"r{r}", float(i > 3 * r)) for r in range(2) for i in range(1, 9))
    passes = summary(Scores("s", rows, {"score": "s", "item": "i"}))
    assert passes.over_runs is not None
    assert passes.iqm is not None
    assert (passes.over_runs.lo, passes.over_runs.hi) == (0.0, 1.0) == (passes.iqm.lo, passes.iqm.hi)
    other = tuple(Score(row.item, row.run, 0.5 * row.value) for row in rows)
    free = summary(Scores("s", other, {"score": "s", "item": "i"})).over_runs
    assert free is not None
    assert free.lo < 0
    assert free.hi > 1


def test_the_difference_of_two_shares_ends_at_1() -> None:
    one, other = scores([0, 1]), scores([1, 1])
    shares = compare(one, other, assume_same_protocol=True).over_items
    assert shares is not None
    assert (shares.lo, shares.hi) == (-1.0, 1.0)
    free = compare(scores([0, 0.9]), other, assume_same_protocol=True).over_items
    assert free is not None
    assert free.hi > 1.0


def test_several_runs_are_summed_up_over_runs() -> None:
    rows = tuple(Score(f"q{i}", f"r{r}", float(r + i)) for r in range(4) for i in range(5))
    found = summary(Scores("s", rows, {"score": "s", "item": "i"}))
    expected = scipy.stats.t.interval(0.95, 3, loc=3.5, scale=scipy.stats.sem([2, 3, 4, 5]))
    assert found.over_runs is not None
    assert (found.over_runs.lo, found.over_runs.hi) == pytest.approx(expected, rel=0.05)


def test_pass_at_k_needs_passes() -> None:
    rows = tuple(Score(f"q{i}", "", float(s < i)) for i in range(4) for s in range(4))
    found = summary(Scores("s", rows, {"score": "s", "item": "i"}), [1, 2])
    assert found.pass_at[1].value == pytest.approx(6 / 16)
    assert found.pass_at[2].value == pytest.approx((0 + 1 / 2 + 5 / 6 + 1) / 4)
    with pytest.raises(InputError, match=r"0\.5"):
        summary(scores([0.5, 1.0]), [1])


def test_items_that_match_are_paired() -> None:
    base = RNG.normal(0, 10, 40)
    one, other = scores(base, under=protocol()), scores(base + 1 + RNG.normal(0, 0.5, 40), under=protocol())
    found = compare(one, other)
    assert found.paired
    assert found.outcome == "better"
    assert found.over_runs is None
    unpaired = compare(scores(base, items=False), scores(base + 1, items=False), assume_same_protocol=True)
    assert not unpaired.paired
    assert unpaired.outcome == "undecided"
    assert unpaired.items_needed is not None
    assert unpaired.items_needed > 500


def test_runs_decide_where_there_are_several() -> None:
    def runs(means: list[float]) -> Scores:
        rows = tuple(Score(f"q{i}", f"r{r}", m + i) for r, m in enumerate(means) for i in range(6))
        return Scores("s", rows, {"score": "s", "item": "i", "run": "run"}, protocol())

    found = compare(runs([0.0, 10.0, 5.0]), runs([6.0, 1.0, 9.0]))
    assert found.outcome == "undecided"
    assert found.improvement is not None
    assert compare(runs([0.0, 0.1, 0.2]), runs([1.0, 1.1, 1.2])).outcome == "better"


def test_different_or_unknown_protocols_are_not_compared() -> None:
    one, other = scores([1, 2], under=protocol()), scores([1, 2], under=protocol(action_mode="deterministic"))
    with pytest.raises(DifferentProtocolsError, match=r"control\.action_mode"):
        compare(one, other)
    with pytest.raises(InputError, match="under which protocol"):
        compare(one, scores([1, 2]))
    rows = tuple(Score(f"z{i}", "", 1.0) for i in range(2))
    with pytest.raises(InputError, match="share no item"):
        compare(one, Scores("s", rows, {"score": "s", "item": "i"}, protocol()))


def test_the_same_scores_twice_are_undecided() -> None:
    found = compare(scores([1, 0, 1], under=protocol()), scores([1, 0, 1], under=protocol()))
    assert found.outcome == "undecided"
    assert found.over_items is not None
    assert found.over_items.refused


def test_the_gap_is_paired_and_allows_the_action_mode_only() -> None:
    returns = RNG.normal(100, 30, 25)
    sampled = scores(returns - 5, under=protocol())
    still = scores(returns + RNG.normal(0, 1, 25), under=protocol(action_mode="deterministic"))
    found = gap(sampled, still)
    assert found.outcome == "deterministic better"
    assert found.difference.holds(-5)
    with pytest.raises(DifferentProtocolsError, match="normaliser"):
        gap(sampled, scores(returns, under=protocol(action_mode="deterministic", normaliser="none")))
    with pytest.raises(InputError, match="paired"):
        gap(sampled, scores(returns, items=False))


def test_few_runs_are_said_not_to_rule_a_rare_failure_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(runs: int) -> str:
        rng = np.random.default_rng(0)
        rows = [{"item": 0, "run": r, "score": float(1 + 0.1 * rng.normal())} for r in range(runs)]
        path = tmp_path / f"{runs}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        assert main(["eval", "score", str(path)]) == 0
        return " ".join(capsys.readouterr().out.split())

    few = shown(20)
    assert "if 1 in 10 fails" in few
    assert "interval of the mean is known to be too narrow if 1 in 10 fails" in few
    assert "interval of the interquartile mean is known" not in few
    assert "too narrow if 1 in 10 fails" not in shown(60)


def test_items_without_a_spread_show_no_power(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text("".join(json.dumps({"item": i, "score": 1}) + "\n" for i in range(30)), "utf-8")
    assert main(["eval", "score", str(path)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "all items score the same" in out
    assert "difference of 0" not in out
