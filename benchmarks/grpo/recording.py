"""One run of GRPO on a tiny language model, recorded: what TRL logged, what the monitor's callback adds, the truth."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
import trl
from datasets import Dataset
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig

from benchmarks.grpo.planting import SETTINGS, Planted, Verifier
from benchmarks.grpo.tasks import TASKS, Problems, Task, pretrained, problems, true_score
from firstbreak.monitor.adapters.parts.trl.data import prompt_set
from firstbreak.monitor.adapters.trl import watch

UPDATES = 80
SCORED_EVERY = 4
"""Updates between two looks at the true score."""
RESCORED_EVERY = 8
"""Updates between two looks of the callback at the reward functions: some two fifths more scores."""
MODELS = 2
"""Pretrained models of a task; a run's seed chooses one, and drives everything else."""
HIDDEN = ("dir", "hub", "token", "push", "logging", "run_name", "path", "deepspeed", "fsdp", "project", "trackio")
"""Parts of names of settings that say nothing of training."""


@dataclass(frozen=True)
class Plan:
    """What to run."""

    id: str
    task: str
    kind: str
    seed: int
    fault: str = ""
    start: int = 0
    """Updates done when the fault begins."""
    needs: str = ""
    updates: int = UPDATES
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    resume_at: int = 0
    curriculum: bool = False
    easy: bool = False
    few: int = 0
    """Prompts that are trained on, where not all."""
    scale: float = 1.0
    """What a right answer pays more than a wrong one; `shift` is what a wrong one pays."""
    shift: float = 0.0
    weights: tuple[float, ...] = (1.0, 0.1)
    """Of the reward functions, as many as there are weights."""


@dataclass(frozen=True)
class Kit:
    """What plans are read with: tasks, settings that faults need, and where the faults are planted."""

    tasks: Mapping[str, Task]
    settings: Mapping[str, Mapping[str, Any]]
    trainer: type[Planted]
    verifier: type[Verifier]


KIT = Kit(TASKS, SETTINGS, Planted, Verifier)


class Rows:
    """Takes what the monitor's callback measures, in place of a monitor."""

    checkpoints = None
    """A monitor without a store of checkpoints of its own."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, dict[str, Any]]] = []

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Forget: the settings are recorded as TRL holds them."""

    def event(self, *_: Any, **__: Any) -> None:
        """Forget."""

    def fault(self, *_: Any) -> None:
        """Forget: what could not be read is not in the rows."""

    def flush(self) -> None:
        """Have nothing to flush."""

    def log(self, row: Mapping[str, Any], step: int, clock: str = "updates") -> Any:
        """Keep the row."""
        from firstbreak.monitor.verdict import Verdict

        self.rows.append((step, dict(row)))
        return Verdict()


class Switch(TrainerCallback):
    """Begins the fault, and writes down the truth after each update."""

    def __init__(self, plan: Plan, given: Problems) -> None:
        self.plan, self.given = plan, given
        self.trainer: Any = None
        self.truth: list[tuple[int, float]] = []

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.plan.fault and state.global_step == self.plan.start:
            self.trainer.switch_on(self.plan.fault)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step % SCORED_EVERY and state.global_step != 1:
            return
        model = self.trainer.model
        model.eval()
        self.truth.append((state.global_step, true_score(model, self.given.train)))
        model.train()


def record(plan: Plan, models: Path, kit: Kit = KIT) -> dict[str, Any]:
    """Run `plan` and return its record, in the format of the corpus."""
    began = time.process_time()
    task = kit.tasks[plan.task]
    model_seed = plan.seed % MODELS
    given = problems(task, model_seed)
    model = pretrained(task, model_seed, models)
    rows, died, switch = Rows(), "", Switch(plan, given)
    with tempfile.TemporaryDirectory() as folder:

        def make() -> Any:
            return trainer_of(plan, given, model, Path(folder), switch, rows, kit)

        trainer = make()
        begun_with = _config(trainer)
        try:
            trainer = _train(trainer, plan, make, Path(folder))
        except Exception as error:  # what it died of belongs to the record
            died = f"{type(error).__name__}: {str(error)[:200]}"
        history = trainer.state.log_history
    keys = columns([(row["step"], {k: v for k, v in row.items() if k != "step"}) for row in history
                    if "train_runtime" not in row])  # fmt: skip
    return {
        "schema": 1, "id": plan.id, "subject": "trl_grpo", "framework": "trl", "algorithm": "GRPO", "task": plan.task,
        "needs": plan.needs,
        "fault": plan.fault or None, "kind": plan.kind, "seed": plan.seed,
        "start_frac": plan.start / plan.updates if plan.fault else None,
        "start_step": plan.start if plan.fault else None,
        "config": begun_with if plan.start else _config(trainer),  # a logger reads settings once, at the start
        "more_config": {"prompt_set": prompt_set(trainer.train_dataset)}, "clock": "updates", "keys": keys,
        "more_keys": columns(rows.rows, besides=keys),
        "truth": {"step": [s for s, _ in switch.truth], "score": [_short(v) for _, v in switch.truth]},
        "died": died, "cpu_s": round(time.process_time() - began, 1),
        "versions": {"trl": trl.__version__, "transformers": transformers.__version__, "torch": torch.__version__},
        "end_step": int(trainer.state.global_step),
    }  # fmt: skip


def _train(trainer: Any, plan: Plan, make: Callable[[], Any], folder: Path) -> Any:
    if not plan.resume_at:
        trainer.train()
        return trainer
    trainer.args.save_steps = trainer.state.save_steps = plan.resume_at
    trainer.args.save_strategy = "steps"
    trainer.add_callback(_StopAt(plan.resume_at))
    trainer.train()
    later = make()
    later.train(resume_from_checkpoint=str(folder / "out" / f"checkpoint-{plan.resume_at}"))
    return later


class _StopAt(TrainerCallback):
    def __init__(self, update: int) -> None:
        self.update = update

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.update:
            control.should_training_stop = control.should_save = True


def trainer_of(
    plan: Plan, given: Problems, model: str, folder: Path, switch: Switch, rows: Rows, kit: Kit = KIT
) -> Any:
    """Return the trainer of `plan`, ready for `train()`; `switch` and `rows` watch it."""
    task = kit.tasks[plan.task]
    verifier = kit.verifier(given, task.cap, plan.seed)
    verifier.scale, verifier.shift = plan.scale, plan.shift
    chosen: dict[str, Any] = {
        "output_dir": str(folder / "out"), "max_steps": plan.updates, "seed": plan.seed,
        "learning_rate": task.learning_rate, "lr_scheduler_type": "constant", "per_device_train_batch_size": 64,
        "num_generations": 8, "beta": 0.0, "max_completion_length": task.cap, "logging_steps": 1, "use_cpu": True,
        "save_strategy": "no", "report_to": [], "disable_tqdm": True, "bf16": False, "gradient_checkpointing": False,
        "reward_weights": list(plan.weights), **kit.settings[plan.needs], **plan.settings,
    }  # fmt: skip
    trainer = kit.trainer(
        model=model, args=GRPOConfig(**chosen), reward_funcs=verifier.functions(len(plan.weights)),
        train_dataset=_dataset(plan, given), eval_dataset=_held_out(given) if "eval_strategy" in chosen else None,
    )  # fmt: skip
    trainer.given, trainer.verifier, switch.trainer = given, verifier, trainer
    verifier.group = trainer.num_generations
    if "sampler" in plan.needs:
        trainer.use_sampler()
    trainer.add_callback(switch)
    trainer.remove_callback(PrinterCallback)
    watch(trainer, rows, rescore_every=RESCORED_EVERY)
    return trainer


def _dataset(plan: Plan, given: Problems) -> Any:
    if plan.easy:
        return Dataset.from_list([*given.easy, *given.train[: len(given.easy)]])
    if not plan.curriculum:
        return Dataset.from_list(given.train[: plan.few or None])
    rng = np.random.default_rng(plan.seed)
    asked = plan.updates * 8  # groups in the whole run: from easy prompts only to the usual ones only
    chance = np.clip(np.linspace(-0.5, 1.5, asked), 0, 1)
    pools = [given.train if rng.random() < p else given.easy for p in chance]
    return Dataset.from_list([pool[int(rng.integers(len(pool)))] for pool in pools])


def _held_out(given: Problems) -> Any:
    """Return eight prompts that are not trained on: of half of them the model was told right answers before."""
    return Dataset.from_list([*given.easy[:4], *given.hard[:4]])


def _config(trainer: Any) -> dict[str, Any]:
    """Return the settings that say something of training, as a logger would get them from TRL."""
    found = trainer.args.to_dict()
    kept = {
        name: value
        for name, value in found.items()
        if isinstance(value, (bool, int, float, str, list))
        and value not in ("", [])
        and not any(part in name for part in HIDDEN)
    }  # fmt: skip
    return {**kept, "reward_funcs": list(trainer.reward_func_names)}


def columns(rows: Sequence[tuple[int, Mapping[str, Any]]], besides: Mapping[str, Any] = {}) -> dict[str, Any]:
    """Return the curve of each key as [steps, values], without the keys in `besides`."""
    found: dict[str, tuple[list[float], list[Any]]] = {}
    for step, row in rows:
        for key, value in row.items():
            if key in besides or not isinstance(value, (int, float)):
                continue
            steps, values = found.setdefault(key, ([], []))
            steps.append(step)
            values.append(_short(float(value)))
    return {key: [steps, values] for key, (steps, values) in found.items()}


def _short(value: float) -> float | str:
    if math.isfinite(value):
        return float(f"{value:.5g}")
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
