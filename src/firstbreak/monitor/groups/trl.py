"""Dynamic filtering in TRL's GRPO trainer, which has no hook for it: a class derived from the trainer's own.

Written for TRL 1.16; it leans on three methods without a public name, and says so when a version lacks them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .filter import GroupFilter

NEEDED = ("_generate_and_score_completions", "_calculate_rewards")
LEFT, RIGHT = ("prompt_ids", "prompt_mask"), (
    "completion_ids", "completion_mask", "tool_mask", "old_per_token_logps", "ref_per_token_logps",
    "sampling_per_token_logps", "importance_sampling_ratio",
)  # fmt: skip
"""Columns padded on the left and on the right. Any other column that is not one number a row means pictures."""


def filtered(trainer_class: Any, groups: GroupFilter, *, rounds: int = 0) -> Any:
    """Return a class derived from `trainer_class` (TRL's `GRPOTrainer`) that trains only on groups that `groups` keeps.

    Rejected groups are replaced by kept ones of other prompts, in up to `rounds` further rounds of generation; what is
    then still rejected is left out of loss, KL and token count. Evaluation is not filtered.

    Args:
        trainer_class: `trl.GRPOTrainer`, or a class derived from it.
        groups: What to keep. With several processes each has its own; all see every group, so all decide alike.
        rounds: Further rounds of generation in an update, each as large as the first.

    Raises:
        InputError: the class has not the methods that this needs.
    """
    missing = [name for name in NEEDED if not hasattr(trainer_class, name)]
    if missing:
        raise InputError(
            f"{getattr(trainer_class, '__name__', trainer_class)} has no {', '.join(missing)}.",
            "This is written for GRPOTrainer of TRL 1.16; with another version filter in your own loop.",
        )

    def calculate(self: Any, *args: Any, **kwargs: Any) -> Any:
        self.firstbreak_rewards = found = trainer_class._calculate_rewards(self, *args, **kwargs)
        return found

    def generate(self: Any, inputs: list[Any]) -> Any:
        def draw(rows: list[Any]) -> tuple[dict[str, Any], NDArray[np.bool_]]:
            output = trainer_class._generate_and_score_completions(self, rows)
            return output, _kept(self, groups, self.firstbreak_rewards, rows, output)

        if not self.model.training:
            return trainer_class._generate_and_score_completions(self, inputs)
        return _filled(self, inputs, draw, rounds)

    name = f"Filtered{trainer_class.__name__}"
    return type(name, (trainer_class,), {NEEDED[0]: generate, NEEDED[1]: calculate, "__doc__": trainer_class.__doc__})


def _kept(
    trainer: Any, groups: GroupFilter, per_function: Any, rows: list[Any], output: dict[str, Any]
) -> NDArray[np.bool_]:
    """Ask about every group of every process; return which to keep [groups of all processes]."""
    import torch

    weights = trainer.reward_weights.to(per_function.device).unsqueeze(0)
    unscored = per_function.isnan().all(dim=1)
    rewards = (per_function * weights).nansum(dim=1)
    rewards[unscored] = float("nan")
    table = rewards.double().cpu().numpy().reshape(-1, trainer.num_generations)
    lengths = output["completion_mask"].sum(dim=1).long()
    keys = torch.tensor([_key(row) for row in rows], device=lengths.device)
    told = trainer.accelerator.gather(torch.stack([keys, lengths], dim=1)).cpu().numpy()
    told = told.reshape(*table.shape, 2)
    return np.array(
        [
            groups.should_accept({"rewards": row, "lengths": about[:, 1]}, prompt=int(about[0, 0]))
            for row, about in zip(table, told, strict=True)
        ],
        dtype=np.bool_,
    )


def _key(row: Mapping[str, Any]) -> int:
    """Return a number that tells the prompt of a row apart; a number, so that processes can exchange it."""
    text = json.dumps(row.get("prompt", ""), default=str).encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


def _filled(trainer: Any, inputs: list[Any], draw: Any, rounds: int) -> dict[str, Any]:
    """Generate, replace what is rejected as far as `rounds` go, and leave out the rest."""
    size, processes = trainer.num_generations, trainer.accelerator.num_processes
    output, keep = draw(inputs)
    if len(inputs) % size:
        if rounds:
            raise InputError("A group is spread over processes; it cannot be replaced.", "Use rounds=0.")
    else:
        for number in range(rounds):
            if keep.all():
                break
            more, fresh = draw(_other_prompts(trainer, len(inputs) // size, size, number))
            output, keep = _replaced(trainer, output, more, keep, fresh, processes)
    return _left_out(trainer, output, keep, len(inputs))


def _other_prompts(trainer: Any, count: int, size: int, number: int) -> list[Any]:
    """Return rows of `count` prompts for this process, each repeated for its group; other ones in every process."""
    data = trainer.train_dataset
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):
        raise InputError("The data set is a stream: other prompts cannot be drawn from it.", "Use rounds=0.")
    seed = (int(trainer.args.seed), int(trainer.state.global_step), int(getattr(trainer, "_step", 0)), number)
    start = int(trainer.accelerator.process_index) * count
    drawn = np.random.default_rng(seed).integers(len(data), size=count * int(trainer.accelerator.num_processes))
    places: list[int] = drawn.tolist()
    return [dict(cast("Mapping[str, Any]", data[at])) for at in places[start : start + count] for _ in range(size)]


def _replaced(
    trainer: Any,
    output: dict[str, Any],
    more: dict[str, Any],
    keep: NDArray[np.bool_],
    fresh: NDArray[np.bool_],
    processes: int,
) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """Put kept groups of `more` where `output` has rejected ones, within each process; each reckons for all."""
    keep = keep.copy()
    count = len(keep) // processes
    size = trainer.num_generations
    for process in range(processes):
        mine = slice(process * count, (process + 1) * count)
        empty, found = np.flatnonzero(~keep[mine]), np.flatnonzero(fresh[mine])
        pairs = list(zip(empty.tolist(), found.tolist(), strict=False))
        keep[process * count + empty[: len(pairs)]] = True
        if process == trainer.accelerator.process_index and pairs:
            to = [at * size + k for at, _ in pairs for k in range(size)]
            source = [at * size + k for _, at in pairs for k in range(size)]
            output = _with_rows(output, more, to, source, int(trainer._tokenizer.pad_token_id))
    return output, keep


def _with_rows(
    output: dict[str, Any], more: dict[str, Any], to: Sequence[int], source: Sequence[int], pad: int
) -> dict[str, Any]:
    """Return `output` with rows `to` taken from rows `source` of `more`, padded to one width."""
    rows = output["completion_ids"].shape[0]
    merged = dict(output)
    for name, held in output.items():
        if not hasattr(held, "shape") or not held.ndim:
            continue  # the count of tokens: reckoned anew
        if name not in (*LEFT, *RIGHT, "advantages") or held.shape[0] != rows or name not in more:
            raise InputError(f"Rows of {name!r} cannot be replaced.", "Pictures are not supported: use rounds=0.")
        fill = pad if name.endswith("_ids") else 1 if name == "tool_mask" else 0
        width = max(held.shape[1], more[name].shape[1]) if held.ndim == 2 else 0
        column, other = (_widened(x, width, fill, left=name in LEFT) for x in (held, more[name]))
        merged[name] = column.clone()
        merged[name][list(to)] = other[list(source)].to(column.dtype)
    return merged


def _widened(column: Any, width: int, fill: int, *, left: bool) -> Any:
    from torch.nn.functional import pad

    more = width - column.shape[1] if column.ndim == 2 else 0
    return pad(column, (more, 0) if left else (0, more), value=fill) if more else column


def _left_out(trainer: Any, output: dict[str, Any], keep: NDArray[np.bool_], rows: int) -> dict[str, Any]:
    """Take rejected groups out of loss and KL (no token of them counts), and count the tokens anew."""
    import torch

    mask = output["completion_mask"]
    start = trainer.accelerator.process_index * rows
    mine = np.repeat(keep, trainer.num_generations)[start : start + rows]
    here = torch.as_tensor(mine, device=mask.device)
    mask = mask * here.unsqueeze(1).to(mask.dtype)
    counted = mask if output.get("tool_mask") is None else mask * output["tool_mask"]
    return {
        **output,
        "completion_mask": mask,
        "advantages": torch.where(here, output["advantages"], 0.0),
        "num_items_in_batch": trainer.accelerator.gather(counted.sum()).sum(),
    }
