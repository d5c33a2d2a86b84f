"""A language model of 30,000 weights and a task it learns in seconds on a CPU: nothing is downloaded.

The task is to repeat the letter of the prompt. `grpo` and `tiny_ppo` are TRL's trainers of it; a fault can be
switched on while they run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

LETTERS = "abcdefgh"
PAD, BOS, EOS = "<pad>", "<bos>", "<eos>"
LENGTH = 8
"""Longest response, in tokens."""


def tiny_model(folder: str | Path, seed: int = 0) -> str:
    """Write a random Llama of two layers and its tokenizer (one token a character) into `folder`; return its path."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = [PAD, BOS, EOS, *LETTERS, *"0123456789", ">"]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=PAD))
    raw.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token=PAD, bos_token=BOS, eos_token=EOS, padding_side="left"
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def toy_prompts(copies: int = 8) -> Any:
    """Return the prompts (`a>`, `b>` ...) as a data set, each of them `copies` times."""
    from datasets import Dataset

    return Dataset.from_list([{"prompt": f"{letter}>"} for letter in LETTERS] * copies)


class Task:
    """The reward: the share of `LENGTH` places that hold the prompt's letter. Faults change it while training goes."""

    def __init__(self) -> None:
        self.sign = 1.0
        self.pays_length = False
        self.nothing = False

    def echo(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        """Reward each completion."""
        if self.nothing:
            return [0.0] * len(completions)
        if self.pays_length:
            return [len(text) / LENGTH for text in completions]
        return [self.sign * text.count(prompt[0]) / LENGTH for prompt, text in zip(prompts, completions, strict=True)]

    def true_accuracy(self, prompts: Sequence[str], completions: Sequence[str], **_: Any) -> list[float]:
        """Say whether each completion begins with the right letter; logged with weight 0, whatever the fault."""
        return [float(text.startswith(prompt[0])) for prompt, text in zip(prompts, completions, strict=True)]


def _learning_rate(trainer: Any, task: Task) -> None:
    del task
    schedule = getattr(trainer.lr_scheduler, "scheduler", trainer.lr_scheduler)
    schedule.base_lrs = [100 * lr for lr in schedule.base_lrs]
    for group in trainer.optimizer.param_groups:
        group["lr"] *= 100


def _hotter(trainer: Any, task: Task) -> None:
    del task
    trainer.generation_config.temperature = 4.0


def _shorter(trainer: Any, task: Task) -> None:
    del task
    trainer.generation_config.max_new_tokens = 2


FAULTS: dict[str, Callable[[Any, Task], None]] = {
    "learning_rate_x100": _learning_rate,
    "reward_sign_flipped": lambda trainer, task: setattr(task, "sign", -1.0),
    "reward_pays_length": lambda trainer, task: setattr(task, "pays_length", True),
    "reward_always_zero": lambda trainer, task: setattr(task, "nothing", True),
    "sampling_hotter": _hotter,
    "responses_cut_short": _shorter,
}
"""What can go wrong, switched on while the trainer runs: name -> change of the trainer or the task."""


def grpo(
    folder: str | Path,
    *,
    steps: int = 30,
    seed: int = 0,
    fault: str = "",
    fault_at: int = 0,
    callbacks: Sequence[Any] = (),
    **settings: Any,
) -> Any:
    """Return a GRPO trainer of the tiny model, ready for `train()`.

    Args:
        folder: Where the model and TRL's own files go.
        steps: Updates.
        seed: Of the weights, the sampling and the order of the prompts.
        fault: One of `FAULTS`, switched on after `fault_at` updates; none by default.
        fault_at: Updates done before the fault.
        callbacks: Added to the trainer's.
        settings: Anything that `GRPOConfig` takes, over the settings here.
    """
    from transformers import PrinterCallback, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    task = Task()
    model = tiny_model(Path(folder) / "model", seed)
    chosen: dict[str, Any] = {
        "output_dir": str(Path(folder) / "out"), "max_steps": steps, "seed": seed, "learning_rate": 3e-3,
        "lr_scheduler_type": "constant", "per_device_train_batch_size": 64, "num_generations": 8, "beta": 0.0,
        "max_completion_length": LENGTH, "logging_steps": 1, "save_strategy": "no", "report_to": [], "use_cpu": True,
        "disable_tqdm": True, "bf16": False, "gradient_checkpointing": False, "reward_weights": [1.0, 0.0],
    }  # fmt: skip
    trainer: Any = GRPOTrainer(
        model=model,
        args=GRPOConfig(**{**chosen, **settings}),
        reward_funcs=[task.echo, task.true_accuracy],
        train_dataset=toy_prompts(),
    )

    class Switch(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if fault and state.global_step == fault_at:
                FAULTS[fault](trainer, task)

    trainer.add_callback(Switch())
    trainer.remove_callback(PrinterCallback)
    for callback in callbacks:
        trainer.add_callback(callback)
    return trainer


def tiny_ppo(folder: str | Path, updates: int, seed: int = 0, **settings: Any) -> Any:
    """Return TRL's PPO trainer (up to 1.12) of the tiny model, its reward model being the task itself.

    Args:
        folder: Where the model and TRL's own files go.
        updates: Rollouts of 64 responses, each used for two epochs.
        seed: Of the weights, the sampling and the order of the prompts.
        settings: Anything that `PPOConfig` takes, over the settings here.
    """
    from datasets import Dataset
    from transformers import (
        AutoModelForCausalLM,
        AutoModelForSequenceClassification,
        AutoTokenizer,
        PrinterCallback,
        set_seed,
    )
    from trl.experimental.ppo import PPOConfig, PPOTrainer

    place = tiny_model(Path(folder) / "model", seed)
    set_seed(seed)  # TRL seeds neither the head of the value model nor the order of the rows
    tokenizer: Any = AutoTokenizer.from_pretrained(place)
    prompts = Dataset.from_list([{"input_ids": tokenizer(row["prompt"])["input_ids"]} for row in toy_prompts()])
    chosen: dict[str, Any] = {
        "output_dir": str(Path(folder) / "out"), "total_episodes": 64 * updates, "seed": seed, "learning_rate": 3e-3,
        "lr_scheduler_type": "constant", "per_device_train_batch_size": 64, "gradient_accumulation_steps": 1,
        "num_mini_batches": 1, "num_ppo_epochs": 2, "local_rollout_forward_batch_size": 64, "response_length": LENGTH,
        "temperature": 1.0, "missing_eos_penalty": None, "num_sample_generations": 0, "save_strategy": "no",
        "report_to": [], "use_cpu": True, "disable_tqdm": True, "bf16": False, "gradient_checkpointing": False,
    }  # fmt: skip
    trainer: Any = PPOTrainer(
        args=PPOConfig(**{**chosen, **settings}),
        processing_class=tokenizer,
        model=AutoModelForCausalLM.from_pretrained(place),
        ref_model=AutoModelForCausalLM.from_pretrained(place),
        reward_model=_echo_model(),
        value_model=AutoModelForSequenceClassification.from_pretrained(place, num_labels=1),
        train_dataset=prompts,
        eval_dataset=prompts,
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _echo_model() -> Any:
    """Return `Task.echo` in the shape of a reward model: the score of a row at each of its tokens."""
    import torch

    class Backbone(torch.nn.Module):
        def forward(self, input_ids: Any, **_: Any) -> Any:
            same = (input_ids[:, 2:] == input_ids[:, :1]).float().sum(1) / LENGTH
            return SimpleNamespace(hidden_states=[same[:, None, None].expand(-1, input_ids.shape[1], 1)])

    class Echo(torch.nn.Module):
        base_model_prefix = "backbone"

        def __init__(self) -> None:
            super().__init__()
            self.backbone, self.score = Backbone(), torch.nn.Identity()

    return Echo()
