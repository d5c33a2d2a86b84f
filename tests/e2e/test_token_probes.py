"""Real trainings of the ladder for language models: TRL's GRPO, the reference trainers, and a few planted bugs."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.preflight.tokens.api import inspect_tokens
from firstbreak.probes.tokens.api import probe_tokens

pytestmark = pytest.mark.full
TRAINING = "tests.probes.token_training:train_"


HEALTHY = (
    f"{TRAINING}grpo",
    f"{TRAINING}ppo",
    "trl:GRPO",
    "trl:RLOO",
    "language:GRPO",
    "language:RLHFPPO",
    "language:AsyncGRPO",
)


@pytest.mark.parametrize("trainer", HEALTHY)
def test_a_healthy_trainer_passes_every_rung(trainer: str) -> None:
    seen = probe_tokens(trainer)
    assert seen.verdict is Verdict.HEALTHY, seen.details["tables"]


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        ("loss_sign_flipped", "rewarded-token-not-learned"),
        ("advantage_without_mean", "constant-reward-moves-policy"),
        ("advantage_of_next_row", "token-by-prompt-not-learned"),
        ("reference_follows_policy", "kl-does-not-pull-back"),
    ],
)
def test_a_planted_bug_is_seen_by_training_alone(mutant: str, name: str) -> None:
    seen = probe_tokens(f"{TRAINING}{mutant}")
    assert seen.verdict is Verdict.BROKEN
    assert name in {f.name for f in seen.findings}


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"beta": 0.05, "temperature": 0.7, "loss_type": "grpo", "num_iterations": 2},
        {"beta": 0.05, "temperature": 1.3, "loss_type": "dr_grpo", "scale_rewards": "batch"},
    ],
    ids=["default", "grpo", "dr_grpo"],
)
def test_the_loss_of_trl_keeps_every_invariant(settings: dict[str, Any]) -> None:
    from firstbreak.target import load_target

    grpo = load_target(f"{Path('examples/tiny_language_model.py').resolve()}:grpo")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seen = inspect_tokens(grpo(folder, steps=2, **settings))
    assert seen.verdict is Verdict.HEALTHY, [f.message for f in seen.findings]
    assert len(seen.clear) >= 25


def test_a_mask_of_trl_that_takes_padding_in_is_seen() -> None:
    """The mask is the trainer's own word; where a completion ended is told by its tokens."""
    from firstbreak.target import load_target

    grpo = load_target(f"{Path('examples/tiny_language_model.py').resolve()}:grpo")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trainer = grpo(folder, steps=2)
        inner = trainer._generate_and_score_completions

        def everything(inputs: Any) -> Any:
            made = inner(inputs)
            return made | {"completion_mask": made["completion_mask"] * 0 + 1}

        trainer._generate_and_score_completions = everything
        seen = inspect_tokens(trainer)
    assert seen.first_break is not None
    assert seen.first_break.name == "padding-token-weighted", [f.message for f in seen.findings]
