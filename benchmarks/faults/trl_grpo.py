"""GRPO of TRL on the tiny language model of the examples: the rows of its `log_history`, and what the monitor adds."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Recording
from firstbreak.monitor.adapters.trl import watch

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LOGGED = (
    "learning_rate", "num_generations", "beta", "temperature", "max_completion_length", "num_iterations", "epsilon",
    "loss_type", "scale_rewards", "per_device_train_batch_size", "gradient_accumulation_steps", "max_steps",
    "lr_scheduler_type", "max_grad_norm", "logging_steps", "seed", "adam_epsilon", "top_p", "warmup_steps",
)  # fmt: skip
"""Settings that TRL reports to a logger, those of them that matter here."""


class Echo:
    """The reward: the share of places with the prompt's letter. It keeps the truth, and pays what a fault makes."""

    __name__ = "echo"

    def __init__(self, recording: Recording, length: int) -> None:
        self.recording, self.length = recording, length
        self.pays: Callable[[Sequence[str], Sequence[str], list[float]], list[float]] | None = None
        self.calls = 0

    def __call__(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        true = [text.count(prompt[0]) / self.length for prompt, text in zip(prompts, completions, strict=True)]
        self.recording.scores.append((float(self.calls), sum(true) / len(true)))
        self.calls += 1
        return true if self.pays is None else self.pays(prompts, completions, true)


def train(task: Task, plan: Plan, switch_frac: float | None, recording: Recording) -> None:
    """Train once."""
    settings, options = deepcopy(task.settings), deepcopy(task.options)
    planting.change_settings(plan.name, plan.subject, settings, options, task.total)
    total = int(options.pop("total", task.total))
    with tempfile.TemporaryDirectory() as folder, Guarded(recording, "GRPO", "trl", "updates") as guard:
        trainer, echo = built(folder, total, plan.seed, settings, recording)
        trainer.run_echo = echo
        at = None if switch_frac is None else round(switch_frac * total)
        added = {"kl": 0.0} if options.get("logs_kl") else {}
        watch(trainer, guard.monitor)
        trainer.add_callback(hooks(trainer, plan, at, recording, added))
        trainer.train()


def built(folder: str, total: int, seed: int, settings: dict[str, Any], recording: Recording) -> tuple[Any, Echo]:
    """The trainer and its reward, from a model with random weights."""
    on_path()
    from tiny_language_model import LENGTH  # pyright: ignore[reportMissingImports]

    echo = Echo(recording, LENGTH)
    return trainer_of(folder, total, seed, settings, echo), echo


def on_path() -> None:
    """Let the examples be imported."""
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))


def trainer_of(folder: str, total: int, seed: int, settings: dict[str, Any], reward: Any) -> Any:
    """TRL's trainer of a model with random weights, with this reward function."""
    from transformers import PrinterCallback
    from transformers.utils.logging import disable_progress_bar
    from trl import GRPOConfig, GRPOTrainer

    on_path()
    from tiny_language_model import LENGTH, tiny_model, toy_prompts  # pyright: ignore[reportMissingImports]

    disable_progress_bar()
    chosen: dict[str, Any] = {
        "output_dir": str(Path(folder) / "out"), "max_steps": total, "seed": seed, "lr_scheduler_type": "constant",
        "per_device_train_batch_size": 64, "num_generations": 8, "beta": 0.0, "max_completion_length": LENGTH,
        "logging_steps": 1, "save_strategy": "no", "report_to": [], "use_cpu": True, "disable_tqdm": True,
        "bf16": False, "gradient_checkpointing": False,
    }  # fmt: skip
    trainer: Any = GRPOTrainer(
        model=tiny_model(Path(folder) / "model", seed),
        args=GRPOConfig(**{**chosen, **settings}),
        reward_funcs=[reward],
        train_dataset=toy_prompts(),
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def hooks(trainer: Any, plan: Plan, at: int | None, recording: Recording, added: dict[str, float]) -> Any:
    """What switches the fault on and takes in the rows."""
    from transformers import TrainerCallback

    class Hooks(TrainerCallback):
        """Between two updates."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            recording.config = {
                name: value
                for name in LOGGED
                if isinstance(value := getattr(args, name, None), (int, float, str, bool))
            } | {"algorithm": "GRPO"}

        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if at is not None and recording.start_step is None and state.global_step >= at:
                recording.start_step = float(state.global_step)
                if (plan.name, plan.subject) in planting.TRAINER:
                    planting.TRAINER[plan.name, plan.subject](trainer)

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
            recording.log({**added, **(logs or {})}, state.global_step)

    return Hooks()
