"""Run the `train()` of TRL's PPO up to the gradient of one batch, with columns put in the place of what it computes.

`train()` asks functions of its module (`batch_generation`, `selective_log_softmax`, `get_reward`, `masked_whiten`), and
then `accelerator.backward`. For the time of one run these answer with the columns that are given, and `backward` ends
it; what the loop had computed by then is read from its frame. Nothing is stepped.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from ....errors import InputError
from ...invariants.torch_types import Tensor, load_torch

ASKED = ("batch_generation", "selective_log_softmax", "get_reward", "masked_whiten", "np")
READ = ("queries", "query_responses", "responses", "logprobs", "ref_logprobs", "values", "scores", "rewards",
        "advantages", "returns", "padding_mask", "new_logprobs", "vpred", "pg_loss", "vf_loss")  # fmt: skip
CHANGED = ("num_total_batches", "num_ppo_epochs", "num_mini_batches", "local_batch_size", "local_mini_batch_size",
           "per_device_train_batch_size", "batch_size", "local_rollout_forward_batch_size", "whiten_rewards",
           "gradient_accumulation_steps")  # fmt: skip


class _Reached(Exception):
    """The gradient is asked for."""

    def __init__(self, found: dict[str, Any]) -> None:
        super().__init__()
        self.found = found


def up_to_the_gradient(trainer: Any, given: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return what `train()` has computed when it asks for the gradient of one batch.

    Args:
        trainer: the PPO trainer; it is left as it was, but for the state of random generators.
        given: columns [B, ...] in the place of the trainer's: `queries responses old ref values scores rewards
            advantages`; with none a batch is drawn as training does.

    Raises:
        InputError: `train()` is not laid out as in TRL 1.12.
    """
    space = inspect.unwrap(cast(Any, type(trainer)).train).__globals__
    lacking = [name for name in ASKED if name not in space]
    if lacking:
        raise InputError(
            f"the train() of {type(trainer).__name__} knows no {', '.join(lacking)}, as TRL's own does.",
            "Write TokenPieces for it: firstbreak.preflight.tokens.pieces.",
        )
    whitens = bool(trainer.args.whiten_rewards)
    with _one_batch(trainer, given), _answers(trainer, space, given, whitens) as noted:
        try:
            trainer.train()
        except _Reached as reached:
            return {**reached.found, **noted}
    raise InputError(f"the train() of {type(trainer).__name__} ended without asking for a gradient.")


@contextmanager
def _one_batch(trainer: Any, given: Mapping[str, Tensor]) -> Generator[None, None, None]:
    """Let `train()` make one batch of one minibatch, speak to nobody, and end at the gradient."""
    args, accelerator = trainer.args, trainer.accelerator
    rows = len(given["queries"]) if given else int(args.local_batch_size)
    settings = {name: getattr(args, name) for name in CHANGED}
    parts = {name: getattr(trainer, name) for name in ("dataloader", "callback_handler", "control", "state")}
    stepped, training = accelerator.step, trainer.model.training
    ones = ("num_total_batches", "num_ppo_epochs", "num_mini_batches", "gradient_accumulation_steps")
    for name in CHANGED:
        setattr(args, name, True if name == "whiten_rewards" else 1 if name in ones else rows)
    if given:
        trainer.dataloader = [{"input_ids": given["queries"]}]
    trainer.callback_handler = SimpleNamespace(on_train_begin=_unheard)
    trainer.state = SimpleNamespace(**vars(trainer.state))
    accelerator.print, accelerator.backward = _unheard, _reached
    try:
        yield
    finally:
        del accelerator.print, accelerator.backward
        accelerator.step = stepped
        for name, value in settings.items():
            setattr(args, name, value)
        for name, value in parts.items():
            setattr(trainer, name, value)
        trainer.model.train(training)


def _unheard(*said: Any) -> Any:
    """Say nothing; return the last, as a handler of callbacks returns its control."""
    return said[-1] if said else None


def _reached(loss: Tensor, **_: Any) -> None:
    frame: Any = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_name != "train":
        frame = frame.f_back
    local: dict[str, Any] = frame.f_locals if frame is not None else {}
    raise _Reached({"loss": loss, **{name: local[name] for name in READ if name in local}})


@contextmanager
def _answers(
    trainer: Any, space: dict[str, Any], given: Mapping[str, Tensor], whitens: bool
) -> Generator[dict[str, Any], None, None]:
    """Put answers in the place of the functions that `train()` asks, and note what it whitens."""
    kept = {name: space[name] for name in ASKED}
    noted: dict[str, Any] = {}
    turns = {"log-probs": 0, "whitened": 0}

    def batch_generation(*_: Any, **__: Any) -> Any:
        torch = load_torch()
        ids = torch.cat([given["queries"], given["responses"]], 1)
        return ids, torch.zeros(*given["responses"].shape, 1)

    def selective_log_softmax(*args: Any, **kwargs: Any) -> Any:
        turns["log-probs"] += 1
        name = {1: "old", 2: "ref"}.get(turns["log-probs"], "")
        return given[name].clone() if name in given else kept["selective_log_softmax"](*args, **kwargs)

    def get_reward(model: Any, *args: Any, **kwargs: Any) -> Any:
        if model is trainer.reward_model:
            return (
                (None, given["scores"].clone(), None)
                if "scores" in given
                else kept["get_reward"](model, *args, **kwargs)
            )
        if "values" not in given:
            return kept["get_reward"](model, *args, **kwargs)
        return _ahead(given["values"], given["queries"].shape[1]), None, None

    def masked_whiten(values: Tensor, mask: Tensor, **kwargs: Any) -> Any:
        turns["whitened"] += 1
        if turns["whitened"] == 1:  # the rewards of tokens: whitening them is on here, so that they come by
            noted["token_rewards"] = values.detach().clone()
            if "rewards" in given:
                return given["rewards"].clone()
            return kept["masked_whiten"](values, mask, **kwargs) if whitens else values
        noted["raw_advantages"] = values.detach().clone()
        if "raw" in given:
            return kept["masked_whiten"](given["raw"], mask, **kwargs)
        return given["advantages"].clone() if "advantages" in given else kept["masked_whiten"](values, mask, **kwargs)

    space |= {"selective_log_softmax": selective_log_softmax, "get_reward": get_reward, "masked_whiten": masked_whiten,
              "np": _InOrder()}  # fmt: skip
    if given:
        space["batch_generation"] = batch_generation
    try:
        yield noted
    finally:
        space |= kept


def _ahead(values: Tensor, width: int) -> Tensor:
    """Values of columns of the response [B, T] where the loop looks for them: one column earlier, [B, L, 1]."""
    torch = load_torch()
    full = torch.zeros(len(values), width + values.shape[1])
    full[:, width - 1 : -1] = values
    return full[..., None]


class _InOrder:
    """numpy whose permutations leave rows where they are."""

    random = SimpleNamespace(permutation=np.arange)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)
