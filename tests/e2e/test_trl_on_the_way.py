"""Faults between loader and loss in TRL's own GRPO, and settings that move, seen by the callback at the very update."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmarks.grpo.recording import Rows
from firstbreak.monitor.adapters.trl import watch

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings(
        "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning", "ignore::ResourceWarning"
    ),
]
CALM = {
    "data/rows_changed_frac": 0.0,
    "data/prompt_foreign_frac": 0.0,
    "data/trained_unlike_drawn_frac": 0.0,
    "advantage/altered_frac": 0.0,
    "reward/rescored_off_frac": 0.0,
    "reward/settings_changed": 0.0,
    "sample/settings_changed": 0.0,
    "policy/settings_changed": 0.0,
    "data/settings_changed": 0.0,
    "policy/ent_coef_gradient": 0.0,
}
BEGINS, UPDATES = 4, 7


def prompts_lost(trainer: Any) -> None:
    usual = trainer._generate_and_score_completions
    trainer._generate_and_score_completions = lambda inputs: usual([{**row, "prompt": ">>"} for row in inputs])


def old_batch(trainer: Any) -> None:
    usual = trainer._generate_and_score_completions
    kept: list[Any] = []

    def again(inputs: Any) -> Any:
        kept.append(usual(inputs))
        return {name: value.clone() if torch.is_tensor(value) else value for name, value in kept[0].items()}

    trainer._generate_and_score_completions = again


def turned(trainer: Any) -> None:
    usual = trainer._generate_and_score_completions

    def generated(inputs: Any) -> Any:
        found = usual(inputs)
        return {**found, "advantages": -found["advantages"]}

    trainer._generate_and_score_completions = generated


def hotter(trainer: Any) -> None:
    trainer.generation_config.temperature = 4.0


def summed(trainer: Any) -> None:
    trainer.loss_type = "bnpo"


def shorter(trainer: Any) -> None:
    trainer.generation_config.max_new_tokens = 1


def others_paid(trainer: Any) -> None:
    trainer.reward_funcs[0] = lambda prompts, completions, **_: [
        2.0 - float(text.startswith(prompt[0])) for prompt, text in zip(prompts, completions, strict=True)
    ]


def nothing(trainer: Any) -> None:
    del trainer


def rows_under(change: Callable[[Any], None], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, float]]:
    monkeypatch.setattr(sys, "path", [*sys.path, str(EXAMPLES)])
    from tiny_language_model import grpo
    from transformers import TrainerCallback

    class Switch(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.global_step == BEGINS:
                change(trainer)

    torch.set_num_threads(1)
    rows = Rows()
    trainer = grpo(folder, steps=UPDATES, max_completion_length=2, callbacks=[Switch()])
    watch(trainer, rows)  # type: ignore[arg-type]
    trainer.train()
    return [row for _, row in rows.rows]


def test_nothing_is_lost_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = rows_under(nothing, tmp_path, monkeypatch)
    assert len(rows) == UPDATES
    for name, value in CALM.items():
        assert {row[name] for row in rows if name in row} == {value}, name
    assert rows[-1]["reward/rescored_pairs"] > 3


@pytest.mark.parametrize(
    ("change", "metric", "least"),
    [
        (prompts_lost, "data/rows_changed_frac", 1.0),
        (prompts_lost, "data/prompt_foreign_frac", 1.0),
        (old_batch, "data/trained_unlike_drawn_frac", 0.5),
        (turned, "advantage/altered_frac", 0.2),
        (others_paid, "reward/rescored_off_frac", 0.5),
        (others_paid, "reward/settings_changed", 1.0),
        (hotter, "sample/settings_changed", 1.0),
        (summed, "policy/settings_changed", 1.0),
        (shorter, "data/settings_changed", 1.0),
    ],
)
def test_what_is_changed_on_the_way_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], None], metric: str, least: float
):
    rows = rows_under(change, tmp_path, monkeypatch)
    assert all(row[metric] == 0 for row in rows[:BEGINS] if metric in row)
    assert max(row[metric] for row in rows[BEGINS:] if metric in row) >= least
