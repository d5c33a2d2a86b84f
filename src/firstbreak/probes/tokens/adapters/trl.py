"""TRL's GRPO, RLOO and PPO on a token task: a folder with the tiny model and a tokenizer of one token a word."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from ....errors import missing_extra, unknown_name
from ..task import LETTERS, TokenTask

COPIES = 8
"""How often each prompt stands in the data set: enough for batches of any size up to 32 prompts."""
NAMES = ("GRPO", "RLOO", "PPO")


def trainer(name: str) -> Callable[..., Any]:
    """Return TRL's trainer `name` as `train(task, *, steps, seed, beta)`."""
    from . import trl_ppo

    return {"GRPO": train, "RLOO": train_rloo, "PPO": trl_ppo.train}[name]


def train_rloo(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0) -> Any:
    """Train with TRL's RLOO and return the model; its KL is part of the reward."""
    return train(task, steps=steps, seed=seed, beta=beta, name="RLOO")


def train(task: TokenTask, *, steps: int, seed: int, beta: float = 0.0, name: str = "GRPO", **settings: Any) -> Any:
    """Train with TRL's GRPO, or the trainer `name`; return the model. `settings` are laid over those of the ladder."""
    with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = built(task, Path(folder), steps=steps, seed=seed, beta=beta, name=name, **settings)
        made.train()
        return made.accelerator.unwrap_model(made.model)


def tiny(name: str, seed: int = 0) -> Any:
    """Return TRL's trainer `name` on a tiny Llama, for a look at its loss.

    Raises:
        InputError: there is no such trainer.
    """
    from . import trl_ppo

    if name not in NAMES:
        raise unknown_name("trainer of TRL", f"trl:{name}", [f"trl:{known}" for known in NAMES])
    task = TokenTask("a look", lambda _, completion: float(LETTERS[0] in completion), 6, seed=seed)
    with tempfile.TemporaryDirectory(prefix="firstbreak-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "PPO":
            return trl_ppo.built(task, Path(folder), steps=4, seed=seed, beta=0.05)
        return built(task, Path(folder), steps=4, seed=seed, beta=0.05, name=name)


def built(
    task: TokenTask, folder: Path, *, steps: int, seed: int, beta: float = 0.0, name: str = "GRPO", **settings: Any
) -> Any:
    """Return a trainer of the task, ready for `train()`."""
    try:
        library: Any = import_module("trl")
        from transformers import PrinterCallback
    except ImportError as error:
        raise missing_extra("trl", "full", "Probing a trainer of TRL") from error
    chosen: dict[str, Any] = {
        "output_dir": str(folder / "out"),
        "max_steps": steps,
        "seed": seed,
        "learning_rate": 3e-3,
        "lr_scheduler_type": "constant",
        "per_device_train_batch_size": task.group_size * len(task.prompts),
        "num_generations": task.group_size,
        "beta": beta,
        "max_completion_length": task.longest,
        "logging_steps": max(steps, 1),
        "save_strategy": "no",
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "bf16": False,
        "gradient_checkpointing": False,
    }
    names = {" ".join(map(str, prompt)): prompt for prompt in task.prompts}

    def reward(prompts: Sequence[str], completion_ids: Sequence[Sequence[int]], **_: Any) -> list[float]:
        return task.rewards([names[p] for p in prompts], completion_ids)

    made: Any = getattr(library, f"{name}Trainer")(
        model=saved(task, folder, seed),
        args=getattr(library, f"{name}Config")(**{**chosen, **settings}),
        reward_funcs=[reward],
        train_dataset=_data(list(names)),
    )
    made.remove_callback(PrinterCallback)
    return made


def _data(texts: Sequence[str]) -> Any:
    datasets: Any = import_module("datasets")
    return datasets.Dataset.from_list([{"prompt": text} for text in texts] * COPIES)


def saved(task: TokenTask, folder: Path, seed: int) -> str:
    """Write the tiny model and a tokenizer whose words are the numbers of the tokens; return the folder."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [str(i) for i in range(task.vocabulary)]
    raw = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token=words[task.pad_id]))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token=words[task.pad_id],
        bos_token=words[task.begin_id],
        eos_token=words[task.end_id],
        padding_side="left",
    )
    cast(Any, tokenizer).save_pretrained(folder)
    task.model(seed).save_pretrained(folder)
    return str(folder)
