"""Experiments on samples and saved batches: each confirmed, refuted, inconclusive; and what they must refuse."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from firstbreak.errors import InputError
from firstbreak.experiments.result import Outcome, Result, Why
from firstbreak.monitor.checkpoints import Checkpoints
from tests.unit.experiments.batch.here import conduct

torch.set_num_threads(1)
CONFIRMED, REFUTED, OPEN = Outcome.CONFIRMED, Outcome.REFUTED, Outcome.INCONCLUSIVE


# ---- a golden set -----------------------------------------------------------------------------------------------


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.jsonl"
    rows = [
        {"prompt": f"{i}+1=", "response": str(i + 1) if i % 2 else f"about {i + 1}", "answer": str(i + 1)}
        for i in range(60)
    ]
    path.write_text("".join(json.dumps({**row, "reward": float(i % 2)}) + "\n" for i, row in enumerate(rows)))
    return path


def rescored(golden: Path, scorer: str, **more: Any) -> Result:
    return conduct("rescore-golden-set", samples=str(golden), scorer=f"subjects.py:{scorer}", **more)


def test_a_scorer_that_became_lenient_is_found(golden: Path) -> None:
    result = rescored(golden, "lenient")
    assert result.outcome is CONFIRMED
    assert result.effects == (0.5, 0.5, 0.5)
    assert any("50% score differently now, mean shift +0.5" in note for note in result.notes)


def test_the_same_scorer_scores_the_same(golden: Path) -> None:
    assert rescored(golden, "strict").outcome is REFUTED


def test_a_judge_that_throws_dice_is_not_taken_for_one_that_drifted(golden: Path) -> None:
    random.seed(1)
    result = rescored(golden, "noisy", before="subjects.py:noisy", most=6)
    assert result.outcome is OPEN
    assert result.why is Why.TOO_FEW_SEEDS
    assert result.seeds_needed is not None


def test_a_judge_that_fails_now_has_changed(golden: Path) -> None:
    result = rescored(golden, "failing")
    assert result.outcome is CONFIRMED
    assert result.pairs[0].changed["failed_frac"] > 0.1


# ---- responses --------------------------------------------------------------------------------------------------


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    letters = "abcdef"
    rows = [{"prompt": f"C{a}{b}>", "answer": a + b} for a in letters for b in letters]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def capped(prompts: Path, generate: str, **more: Any) -> Result:
    return conduct("longer-cap", prompts=str(prompts), generate=f"subjects.py:{generate}", cap=10, count=30, **more)


def test_answers_that_need_room_get_it(prompts: Path) -> None:
    result = capped(prompts, "needs_room", scorer="subjects.py:begins_with_a")
    assert result.outcome is CONFIRMED
    assert result.pairs[0].control["cut_frac"] > 0.2
    assert "score" in result.pairs[0].changed


def test_a_model_that_never_stops_is_not_helped_by_room(prompts: Path) -> None:
    assert capped(prompts, "never_stops").outcome is REFUTED


def test_about_a_quarter_is_neither(prompts: Path) -> None:
    result = capped(prompts, "hardly_stops", most=4)
    assert result.outcome is OPEN
    assert result.why is Why.TOO_FEW_SEEDS


def test_where_nothing_is_cut_nothing_is_concluded(prompts: Path) -> None:
    result = capped(prompts, "stops_at_once")
    assert result.why is Why.NOT_REPRODUCED
    assert "0.0% of the answers are cut" in result.words


def test_a_generator_that_returns_too_few_is_refused(prompts: Path) -> None:
    with pytest.raises(InputError, match="groups of 0 for 30 prompts of 1"):
        capped(prompts, "too_few")


def grouped(prompts: Path, scorer: str, **more: Any) -> Result:
    return conduct(
        "group-size-x4",
        prompts=str(prompts),
        generate="subjects.py:needs_room",
        scorer=f"subjects.py:{scorer}",
        **{"group": 4, "cap": 2, "count": 36, **more},
    )


def test_rare_answers_are_found_by_larger_groups(prompts: Path) -> None:
    result = grouped(prompts, "begins_with_a")
    assert result.outcome is CONFIRMED
    assert result.pairs[0].control["silent_frac"] > 0.5


def test_what_is_never_paid_is_not_found_by_larger_groups(prompts: Path) -> None:
    assert grouped(prompts, "impossible").outcome is REFUTED


def test_with_few_seeds_a_small_gain_is_open(prompts: Path) -> None:
    result = grouped(prompts, "begins_with_a", margin=0.3, most=3)
    assert result.outcome is OPEN


def test_groups_that_are_not_silent_need_no_explanation(prompts: Path) -> None:
    assert grouped(prompts, "four_letters", group=24).why is Why.NOT_REPRODUCED


# ---- precision --------------------------------------------------------------------------------------------------


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "batch.pt"
    torch.save({"ids": torch.randint(3, 32, (8, 12), generator=torch.Generator().manual_seed(0))}, path)
    return path


def low(batch: Path, loss: str, **more: Any) -> Result:
    given = {"model": "subjects.py:language_model", **more}
    return conduct("low-precision", batch=str(batch), loss=f"subjects.py:{loss}", **given)


def test_gradients_below_the_range_of_half_precision_are_found(tokens: Path) -> None:
    result = low(tokens, "unscaled_loss", format="float16", how="cast")
    assert result.outcome is CONFIRMED
    assert any("gradient" in note for note in result.notes)


def test_an_overflow_is_found(tmp_path: Path) -> None:
    path = tmp_path / "batch.pt"
    torch.save({"x": torch.full((4, 8), 500.0), "y": torch.zeros(4, 1)}, path)
    result = low(path, "regression", format="float16", model="subjects.py:tower")
    assert result.outcome is CONFIRMED
    assert result.effects[0] == pytest.approx(6)
    assert any("not finite in float16" in note for note in result.notes)


def test_ordinary_low_precision_is_what_rounding_explains(tokens: Path) -> None:
    result = low(tokens, "token_loss", format="float16")
    assert result.outcome is REFUTED, result.effects


def test_at_the_border_it_is_open(tokens: Path) -> None:
    middle = sum(low(tokens, "token_loss").effects) / 3
    assert middle > 0
    assert low(tokens, "token_loss", margin=middle, most=4).outcome is OPEN


def test_formats_and_batches_that_are_none_are_refused(tokens: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No low precision int8"):
        low(tokens, "token_loss", format="int8")
    with pytest.raises(InputError, match="no such file"):
        low(tmp_path / "none.pt", "token_loss")
    pickled = tmp_path / "pickle.pt"
    torch.save({"f": pytest.raises}, pickled)
    with pytest.raises(InputError, match="no batch that can be opened"):
        low(pickled, "token_loss")


# ---- a failed update --------------------------------------------------------------------------------------------


def critic(scale: float = 1.0) -> dict[str, Any]:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    return {k: scale * v for k, v in net.state_dict().items()}


def store(folder: Path, *, returns: list[float], scale: float = 1.0) -> Path:
    kept = Checkpoints(folder)
    kept.save({"critic": critic()}, step=10)
    batch = {"obs": torch.ones(len(returns), 4), "returns": torch.tensor(returns)}
    kept.fail({"critic": critic(scale)}, step=20, batch=batch, reason="loss not finite")
    return folder


def replay(folder: Path, function: str = "update", **more: Any) -> Result:
    return conduct("replay-failed-batch", checkpoints=str(folder), replay=f"subjects.py:{function}", **more)


def test_returns_without_spread_fail_from_any_state(tmp_path: Path) -> None:
    result = replay(store(tmp_path, returns=[1.0, 1.0, 1.0, 1.0]))
    assert result.outcome is CONFIRMED
    assert any("last healthy state the first is loss: 1 of 1 not finite" in note for note in result.notes)


def test_weights_gone_bad_are_not_the_batch(tmp_path: Path) -> None:
    result = replay(store(tmp_path, returns=[0.0, 1.0, 2.0], scale=float("nan")))
    assert result.outcome is REFUTED
    assert any("from the failed state the first is 0 (Linear): 24 of 24 not finite" in note for note in result.notes)


def test_the_input_is_named_before_what_it_spoils(tmp_path: Path) -> None:
    folder = store(tmp_path, returns=[0.0, float("inf"), 2.0])
    result = replay(folder)
    assert result.outcome is CONFIRMED
    assert any("first is returns: 1 of 3 not finite" in note for note in result.notes)


def test_huge_counts_where_a_limit_is_given(tmp_path: Path) -> None:
    folder = store(tmp_path, returns=[0.0, 1e6, 2.0])
    assert replay(folder).why is Why.NOT_REPRODUCED
    assert replay(folder, limit=1e3).outcome is CONFIRMED


def test_what_does_not_fail_again_is_said_first(tmp_path: Path) -> None:
    result = replay(store(tmp_path, returns=[0.0, 1.0, 2.0]))
    assert (result.outcome, result.why) == (OPEN, Why.NOT_REPRODUCED)


def test_an_update_that_raises_has_failed(tmp_path: Path) -> None:
    folder = store(tmp_path, returns=[0.0, 1.0], scale=float("nan"))
    result = replay(folder, "refusing_update")
    assert result.outcome is REFUTED


def test_what_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    folder = store(tmp_path, returns=[0.0, 1.0])
    with pytest.raises(InputError, match="Nothing was seen"):
        replay(folder, "silent_update")
    with pytest.raises(InputError, match="no such folder"):
        replay(tmp_path / "none")


# ---- prompts of a megabyte --------------------------------------------------------------------------------------


def test_a_prompt_of_a_megabyte_is_an_experiments_prompt_like_any_other(tmp_path: Path) -> None:
    rows = [{"prompt": "y" * 1_000_000, "response": "4", "answer": "4", "reward": 1.0} for _ in range(10)]
    path = tmp_path / "huge.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = rescored(path, "strict")
    assert result.outcome is REFUTED
    assert max(map(len, (result.words, *result.notes))) < 1000
