"""What holds by construction in TRL's own GRPO, and what of it a planted fault breaks, seen by the callback."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks.grpo import recording
from benchmarks.grpo.campaign import FOURTH, SECOND, THIRD
from benchmarks.grpo.recording import Kit, Plan, Rows, Switch, trainer_of
from benchmarks.grpo.tasks import pretrained, problems

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]

EXACT = {
    "policy/loss_residual_frac": 0.0,
    "policy/loss_size_ratio": 1.0,
    "policy/clip_high_off": 0.0,
    "policy/logprob_recomputed_gap": 0.0,
    "policy/ref_logprob_recomputed_gap": 0.0,
    "advantage/residual_frac": 0.0,
    "advantage/size_ratio": 1.0,
    "optim/gradient_lost_frac": 0.0,
    "optim/gradient_left_frac": 0.0,
    "optim/gradient_altered_frac": 0.0,
    "sample/unscored_settings": 0.0,
    "data/answer_changed_frac": 0.0,
    "data/prompt_foreign_frac": 0.0,
    "data/scored_text_off_frac": 0.0,
    "reward/altered_reference_paid_frac": 0.0,
    "reward/verdict_reused_frac": 0.0,
    "reward/no_answer_paid_frac": 0.0,
    "reward/question_paid_frac": 0.0,
    "data/prompt_swapped_frac": 0.0,
    "data/prompt_tokens_vary_frac": 0.0,
    "data/prompt_tokens_off": 0.0,
    "data/group_repeat_frac": 0.0,
    "seq/counted_past_end_frac": 0.0,
    "sample/random_state_repeated": 0.0,
    "advantage/groups_dropped_frac": 0.0,
    "policy/kl_coef_off": 0.0,
    "policy/ent_coef_gradient": 0.0,
    "data/rows_changed_frac": 0.0,
    "data/trained_unlike_drawn_frac": 0.0,
    "advantage/altered_frac": 0.0,
    "reward/rescored_off_frac": 0.0,
    "reward/settings_changed": 0.0,
    "sample/settings_changed": 0.0,
    "policy/settings_changed": 0.0,
    "data/settings_changed": 0.0,
    "optim/generation_change_frac": 0.0,
    "optim/moment_bound_broken_frac": 0.0,
    "optim/trainable_frac": 1.0,
    "optim/without_gradient_frac": 0.0,
    "eval/prompts_trained_frac": 0.0,
    "eval/scored_otherwise_frac": 0.0,
    "eval/weights_off_frac": 0.0,
}
"""Of every row in which it is measured, whatever the batch."""
TASK = "shift"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    found = tmp_path_factory.mktemp("models")
    pretrained(SECOND.tasks[TASK], 0, found, updates=60)
    return found


def rows_under(fault: str, needs: str, folder: Path, tmp_path: Path, kit: Kit = SECOND) -> list[dict[str, float]]:
    """Return the rows of four updates, and of evaluations after every second one; a fault begins after two."""
    rows, given = Rows(), problems(SECOND.tasks[TASK], 0)
    kit = replace(kit, tasks=SECOND.tasks)
    often = {"eval_steps": 2} if needs == "evaluated" else {}
    plan = Plan("x", task=TASK, kind="fault", seed=0, fault=fault, start=2, updates=4, needs=needs, settings=often)
    switch = Switch(plan, given)
    trainer_of(plan, given, str(folder / f"{TASK}-0"), tmp_path, switch, rows, kit).train()
    return [row for _, row in rows.rows]


@pytest.mark.parametrize("needs", ["", "kl", "reused", "accumulated", "evaluated"])
def test_trl_itself_is_exact(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, needs: str):
    monkeypatch.setattr(recording, "RESCORED_EVERY", 1)
    rows = rows_under("", needs, folder, tmp_path)
    for name, value in EXACT.items():
        assert all(abs(row[name] - value) < 0.01 for row in rows if name in row), name
    measured = {name for row in rows for name in row}
    lacking = set() if needs == "kl" else {"policy/ref_logprob_recomputed_gap", "policy/kl_coef_off"}
    lacking |= set() if needs == "accumulated" else {"optim/gradient_lost_frac"}
    lacking |= set() if needs == "evaluated" else {name for name in EXACT if name.startswith("eval/")}
    assert set(EXACT) - measured <= lacking | {"reward/verdict_reused_frac", "reward/question_paid_frac"}


@pytest.mark.parametrize(
    ("fault", "needs", "metric", "least"),
    [
        ("advantage-last-token", "", "policy/loss_residual_frac", 0.3),
        ("mask-late", "", "policy/loss_residual_frac", 0.3),
        ("clip-too-tight", "reused", "policy/clip_high_off", 0.9),
        ("reference-unprompted", "kl", "policy/ref_logprob_recomputed_gap", 0.1),
        ("accumulation-zeroed", "accumulated", "optim/gradient_lost_frac", 0.9),
        ("repetition-penalised", "", "sample/unscored_settings", 1),
        ("answers-cut", "", "data/answer_changed_frac", 0.3),
        ("special-tokens-kept", "", "data/scored_text_off_frac", 0.9),
        ("order-ignored", "", "reward/altered_reference_paid_frac", 0.9),
    ],
)
def test_a_fault_breaks_what_it_touches(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, needs: str, metric: str, least: float
):
    monkeypatch.setattr(recording, "RESCORED_EVERY", 1)
    rows = rows_under(fault, needs, folder, tmp_path)
    assert all(abs(row[metric] - EXACT[metric]) < 0.01 for row in rows[:2] if metric in row)
    assert max(abs(row[metric]) for row in rows[2:] if metric in row) >= least


@pytest.mark.parametrize(
    ("fault", "needs", "metric", "least"),
    [
        ("history-kept", "", "data/prompt_tokens_off", 1),
        ("prompts-misaligned", "", "data/prompt_swapped_frac", 0.5),
        ("seed-reset", "", "sample/random_state_repeated", 1),
        ("filter-inverted", "", "advantage/groups_dropped_frac", 1),
        ("layers-frozen", "", "optim/trainable_frac", 0.5),
        ("second-moment-underflows", "", "optim/moment_bound_broken_frac", 0.01),
        ("sync-scales-trainer", "sampler", "optim/generation_change_frac", 0.001),
        ("beta-runs-away", "kl", "policy/kl_coef_off", 0.09),
        ("end-unknown-to-trainer", "", "seq/counted_past_end_frac", 0.1),
        ("fails-open", "", "reward/no_answer_paid_frac", 1),
        ("columns-crossed", "", "reward/question_paid_frac", 1),
        ("eval-on-train", "evaluated", "eval/prompts_trained_frac", 1),
        ("eval-lenient", "evaluated", "eval/scored_otherwise_frac", 0.1),
        ("eval-of-old-weights", "evaluated", "eval/weights_off_frac", 1e-4),
    ],
)
def test_a_fault_of_the_third_list_breaks_what_it_touches(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, needs: str, metric: str, least: float
):
    monkeypatch.setattr(recording, "RESCORED_EVERY", 1)
    rows = rows_under(fault, needs, folder, tmp_path, THIRD)
    assert all(abs(row[metric] - EXACT[metric]) < 0.01 for row in rows[:2] if metric in row)
    assert max(abs(row[metric] - EXACT[metric]) for row in rows[2:] if metric in row) >= least


def test_the_entropy_that_the_loss_adds_is_in_the_gradient(folder: Path, tmp_path: Path):
    rows = rows_under("entropy-penalised", "", folder, tmp_path, FOURTH)
    pulls = [row["policy/ent_coef_gradient"] for row in rows]
    assert pulls[:2] == [0.0, 0.0]
    assert max(pulls[2:]) < -1e-4
