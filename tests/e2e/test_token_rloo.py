"""TRL's RLOO through the token invariants: sound settings, and bugs planted by subclassing the real trainer."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from firstbreak.diagnosis import Verdict
from firstbreak.inspection import Inspection
from firstbreak.preflight.tokens.api import inspect_tokens
from firstbreak.target import load_target

pytestmark = pytest.mark.full
TINY = Path("examples/tiny_language_model.py").resolve()


def rloo(folder: Path, bug: str = "", **settings: Any) -> Any:
    """An RLOO trainer of the tiny model, one bug of `BUGS` in it."""
    from trl import RLOOConfig, RLOOTrainer

    made = load_target(f"{TINY}:tiny_model")(folder / "model")
    task = load_target(f"{TINY}:Task")()
    chosen: dict[str, Any] = {
        "output_dir": str(folder / "out"), "max_steps": 2, "per_device_train_batch_size": 16, "num_generations": 4,
        "max_completion_length": 8, "report_to": [], "use_cpu": True, "bf16": False, "disable_tqdm": True,
        "gradient_checkpointing": False, "save_strategy": "no",
    }  # fmt: skip
    kind: Any = type("Buggy", (RLOOTrainer,), BUGS[bug]) if bug else RLOOTrainer
    return kind(
        model=made,
        args=RLOOConfig(**{**chosen, **settings}),
        reward_funcs=[task.echo],
        train_dataset=load_target(f"{TINY}:toy_prompts")(),
    )


def _negated(self: Any, model: Any, inputs: Any) -> Any:
    return -super(type(self), self)._compute_loss(model, inputs)


def _no_baseline(self: Any, inputs: Any) -> Any:
    kept: list[Any] = []
    inner = self._calculate_rewards

    def calculate(*args: Any, **kwargs: Any) -> Any:
        kept.append(inner(*args, **kwargs))
        return kept[-1]

    self._calculate_rewards = calculate
    found = super(type(self), self)._generate_and_score_completions(inputs)
    self._calculate_rewards = inner
    return found | {"advantages": kept[-1].sum(1)}


def _everything_counts(self: Any, model: Any, inputs: Any) -> Any:
    whole = inputs["completion_mask"] * 0 + 1
    return super(type(self), self)._compute_loss(model, inputs | {"completion_mask": whole})


def _clip_only(self: Any, model: Any, inputs: Any) -> Any:
    import torch

    ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
    mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
    keep = inputs["completion_ids"].shape[1]
    tokens = self._get_per_token_logps_and_entropies(model, ids, mask, keep)[0]
    ratio = ((tokens * inputs["completion_mask"]).sum(1) - inputs["old_logps"]).exp()
    return -(ratio.clamp(1 - self.epsilon_low, 1 + self.epsilon_high) * inputs["advantages"]).mean()


BUGS: dict[str, dict[str, Any]] = {
    "sign flipped": {"_compute_loss": _negated},
    "no baseline": {"_generate_and_score_completions": _no_baseline},
    "padding in the sum": {"_compute_loss": _everything_counts},
    "clip without min": {"_compute_loss": _clip_only},
}
NAMES = {
    "sign flipped": "token-advantage-sign-flipped",
    "no baseline": "equal-rewards-give-advantage",
    "padding in the sum": "padding-changes-loss",
    "clip without min": "token-clip-stops-correction",
}


def seen(folder: Path, bug: str = "", **settings: Any) -> Inspection:
    """What the invariants find."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return inspect_tokens(rloo(folder, bug, **settings))


@pytest.mark.parametrize(
    "settings",
    [{}, {"beta": 0.05, "temperature": 0.7, "num_iterations": 2}, {"beta": 0.0, "normalize_advantages": True}],
    ids=["default", "kl", "normalised"],
)
def test_the_loss_of_rloo_keeps_every_invariant(tmp_path: Path, settings: dict[str, Any]) -> None:
    found = seen(tmp_path, **settings)
    assert found.verdict is Verdict.HEALTHY, [f.message for f in found.findings]
    assert len(found.clear) >= 25


@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_of_rloo_is_named(tmp_path: Path, bug: str) -> None:
    found = seen(tmp_path, bug)
    assert found.verdict is Verdict.BROKEN
    assert NAMES[bug] in {f.name for f in found.findings}, [(f.name, f.message) for f in found.findings]
