"""TRL's PPO on a token task. TRL holds a PPO trainer up to 1.12, in `trl.experimental.ppo`."""

from __future__ import annotations

import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from ....errors import InputError, missing_extra
from ..task import TokenTask
from .trl import COPIES, saved

HINT = "Install an older TRL in an environment of its own: pip install 'trl==1.12.0' 'transformers>=5.23' firstbreak"


def train(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0, **settings: Any) -> Any:
    """Train with TRL's PPO and return the policy; its KL is part of the reward."""
    with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = built(task, Path(folder), steps=steps, seed=seed, beta=beta, **settings)
        made.train()
        return made.accelerator.unwrap_model(made.model).policy


def built(task: TokenTask, folder: Path, *, steps: int, seed: int, beta: float = 0.0, **settings: Any) -> Any:
    """Return a PPO trainer of the task; `settings` are laid over those of the ladder.

    Raises:
        InputError: the TRL that is installed has no PPO trainer.
    """
    library = _ppo()
    models: Any = import_module("transformers")
    place = saved(task, folder, seed)
    tokenizer = models.AutoTokenizer.from_pretrained(place)
    rows = task.group_size * len(task.prompts)
    chosen: dict[str, Any] = {
        "output_dir": str(folder / "out"), "total_episodes": steps * rows, "seed": seed, "learning_rate": 2e-3,
        "lr_scheduler_type": "constant", "per_device_train_batch_size": rows, "gradient_accumulation_steps": 1,
        "num_mini_batches": 1, "num_ppo_epochs": 2, "local_rollout_forward_batch_size": rows,
        "response_length": task.longest, "temperature": 1.0, "stop_token": "eos", "kl_coef": beta,
        "missing_eos_penalty": None, "num_sample_generations": 0, "logging_steps": max(steps, 1), "save_strategy": "no",
        "report_to": [], "use_cpu": True, "disable_tqdm": True, "bf16": False, "gradient_checkpointing": False,
    }  # fmt: skip
    datasets: Any = import_module("datasets")
    prompts = [{"input_ids": list(prompt)} for prompt in task.prompts] * (COPIES * task.group_size)
    policy, reference = (_without_padding(models.AutoModelForCausalLM.from_pretrained(place), task) for _ in range(2))
    trainer: Any = library.PPOTrainer(
        args=library.PPOConfig(**{**chosen, **settings}),
        processing_class=tokenizer,
        model=policy,
        ref_model=reference,
        reward_model=scorer(task),
        value_model=models.AutoModelForSequenceClassification.from_pretrained(place, num_labels=1),
        train_dataset=datasets.Dataset.from_list(prompts),
        eval_dataset=datasets.Dataset.from_list(prompts),
    )
    trainer.remove_callback(models.PrinterCallback)
    return trainer


def _without_padding(model: Any, task: TokenTask) -> Any:
    """Let `model` never draw the padding token: TRL takes one for the end, and a response of nothing else for empty."""

    def forbid(_module: Any, _inputs: Any, logits: Any) -> Any:
        return logits - 1e4 * (logits.new_ones(logits.shape[-1]).cumsum(0) == task.pad_id + 1)

    model.lm_head.register_forward_hook(forbid)
    return model


def _ppo() -> Any:
    try:
        library: Any = import_module("trl")
    except ImportError as error:
        raise missing_extra("trl", "full", "Probing a trainer of TRL") from error
    try:
        return import_module("trl.experimental.ppo")
    except ImportError as error:
        raise InputError(
            f"TRL {library.__version__} has no PPO trainer; 1.12 is the last that has one.", HINT
        ) from error


def scorer(task: TokenTask) -> Any:
    """The task's reward in the shape of a reward model: the score of a row in every one of its columns."""
    import torch

    class Backbone(torch.nn.Module):
        def forward(self, input_ids: Any, attention_mask: Any, **_: Any) -> Any:
            ids = cast(list[list[int]], cast(Any, torch.where(attention_mask, input_ids, task.pad_id)).tolist())
            width = len(ids[0]) - task.longest
            scores = torch.tensor(task.rewards([row[:width] for row in ids], [row[width:] for row in ids]))
            return SimpleNamespace(hidden_states=[scores[:, None, None].expand(-1, len(ids[0]), 1)])

    class Scorer(torch.nn.Module):
        base_model_prefix = "backbone"

        def __init__(self) -> None:
            super().__init__()
            self.backbone = Backbone()
            self.score = torch.nn.Identity()

    return Scorer()
