"""Hard negatives of TRL's GRPO: what looks like trouble and is none."""

from __future__ import annotations

from typing import Any

from benchmarks.faults.planting import in_settings, in_trainer

SUBJECT = "trl_grpo"


@in_settings("loss-exactly-zero", SUBJECT)
def loss_zero(change: dict[str, Any]) -> None:
    change["settings"] |= {"num_iterations": 1, "beta": 0.0, "loss_type": "grpo"}


@in_settings("kl-logged-as-zero", SUBJECT)
def kl_zero(change: dict[str, Any]) -> None:
    # TRL logs no KL without a reference; some forks log 0 in its place, and so does this.
    change["settings"]["beta"] = 0.0
    change["options"]["logs_kl"] = True


@in_settings("slow-learner", SUBJECT)
def slow_learner(change: dict[str, Any]) -> None:
    change["settings"]["learning_rate"] = 2.5e-4


@in_settings("short-run", SUBJECT)
def short_run(change: dict[str, Any]) -> None:
    change["options"]["total"] = 80


@in_settings("entropy-falls", SUBJECT)
def entropy_falls(change: dict[str, Any]) -> None:
    change["settings"]["learning_rate"] = 2e-3  # it repeats the letter well before the end


@in_trainer("curriculum-shift", SUBJECT)
def last_half_only(trainer: Any) -> None:
    """From now on only the places after the first half count: the reward falls, and is earned again."""
    echo = trainer.run_echo

    def strict(prompts: Any, completions: Any, true: Any) -> list[float]:
        half = echo.length // 2
        return [text[half:].count(p[0]) / half for p, text in zip(prompts, completions, strict=True)]

    echo.pays = strict
