"""TRL's `GRPOTrainer` as token pieces; `trl_rloo` reads its `RLOOTrainer`. TRL 1.16 has no PPO trainer any more."""

from __future__ import annotations

import copy
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from ...invariants.torch_types import Tensor, load_torch
from ..pieces import PADDING, PROMPT, SAMPLED, TOOL, TokenBatch, TokenPieces

NORMALISATION = {
    "grpo": "sequence",
    "sapo": "sequence",
    "bnpo": "local-token",
    "dr_grpo": "constant",
    "dapo": "token",
    "cispo": "token",
    "vespo": "token",
    "luspo": "sequence-sum",
}
"""What TRL's documentation says of each `loss_type`."""


def is_grpo(target: Any) -> bool:
    """Whether `target` is a GRPO trainer of TRL; TRL need not be imported for others."""
    return any(c.__module__.startswith("trl.") and c.__name__ == "GRPOTrainer" for c in type(target).__mro__)


class Grpo:
    """Translates between canonical batches and those of a GRPO trainer."""

    algorithm = "GRPO"

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self.rewards: Any = None
        self.given: Any = None
        if not hasattr(trainer, "current_gradient_accumulation_steps"):
            trainer.current_gradient_accumulation_steps = 1

    def pieces(self) -> TokenPieces:
        """Return the pieces."""
        t = self.trainer
        return TokenPieces(
            model=t.accelerator.unwrap_model(t.model),
            loss=self.loss,
            batch=self.batch,
            logprobs=self.logprobs,
            reference=t.ref_model,
            reference_logprobs=None if t.ref_model is None else lambda batch: self.logprobs(batch, t.ref_model),
            split_loss=self.split_loss,
            advantages=self.advantages,
            algorithm=self.algorithm,
            settings=self.settings(),
        )

    def settings(self) -> dict[str, Any]:
        """The canonical settings of the trainer."""
        t, args = self.trainer, self.trainer.args
        clips = t.loss_type in ("grpo", "bnpo", "dr_grpo", "dapo", "luspo") and args.delta is None
        found: dict[str, Any] = {
            "temperature": float(t.temperature),
            "kl_coef": float(t.beta),
            "kl_in": "loss",
            "normalisation": NORMALISATION.get(t.loss_type, t.loss_type),
            "max_completion_tokens": int(t.max_completion_length),
            "advantage_scale": t.scale_rewards,
            "groups_adjacent": True,
            "group_size": int(t.num_generations),
            "loss_type": t.loss_type,
            "end_token_id": t._tokenizer.eos_token_id,
            "pad_token_id": t._tokenizer.pad_token_id,
        }
        if clips:
            found |= {"clip_low": float(t.epsilon_low), "clip_high": float(t.epsilon_high)}
        if t.importance_sampling_level == "sequence":
            found["ratio_level"] = "sequence"
        if args.mask_truncated_completions:
            found["truncated_masked"] = True
        return found

    @contextmanager
    def aside(self, accumulation: int = 1) -> Generator[None, None, None]:
        """Keep what a look logs out of the trainer's own log, and put its accumulation back."""
        t = self.trainer
        kept = copy.deepcopy((t._metrics, t._logs))
        steps = t.current_gradient_accumulation_steps, t.args.steps_per_generation
        t.current_gradient_accumulation_steps = t.args.steps_per_generation = accumulation
        was = t.model.training
        t.model.train()
        try:
            yield
        finally:
            t._metrics, t._logs = kept
            t.current_gradient_accumulation_steps, t.args.steps_per_generation = steps
            t.model.train(was)

    def prompts(self) -> list[dict[str, Any]]:
        """One generation batch of prompts, each repeated as training repeats it."""
        return next(iter(self.trainer.get_train_dataloader()))

    def batch(self) -> TokenBatch:
        """Generate and score one batch as training does, and lay it out canonically."""
        inputs = self.prompts()
        with self.aside(), self.noting():
            found = self.trainer._generate_and_score_completions(inputs)
        laid = self.canonical(found)
        names = [str(row.get("prompt")) for row in inputs]
        order = {name: i for i, name in enumerate(dict.fromkeys(names))}
        torch = load_torch()
        laid["prompt"] = torch.tensor([order[name] for name in names])
        laid["group"] = torch.arange(len(names)) // int(self.trainer.num_generations)
        if self.rewards is not None:
            weights = self.trainer.reward_weights.to(self.rewards.device)
            laid["rewards"] = (self.rewards * weights[None]).nansum(dim=1)
        return laid

    @contextmanager
    def noting(self) -> Generator[None, None, None]:
        """Note the rewards of a batch as they are calculated, or put the given ones in their place."""
        t = self.trainer
        inner = t._calculate_rewards

        def calculate(*args: Any, **kwargs: Any) -> Any:
            found = inner(*args, **kwargs)
            if self.given is not None:
                found = self.given[:, None].to(found) * 0 + self.given[:, None].to(found)
                found = found.expand(-1, len(t.reward_funcs)) / t.reward_weights.to(found).sum()
            self.rewards = found.detach().clone()
            return found

        t._calculate_rewards = calculate
        try:
            yield
        finally:
            del t._calculate_rewards

    def advantages(self, rewards: Tensor, group: Tensor) -> Tensor:
        """The trainer's advantages for given rewards; rows of a group are adjacent, as its sampler makes them."""
        torch = load_torch()
        inputs = self.prompts()
        size = int(self.trainer.num_generations)
        unused = torch.zeros(len(inputs))
        unused[: len(rewards)] = rewards
        del group
        self.given = unused
        try:
            with self.aside(), self.noting(), torch.no_grad():
                found = self.trainer._generate_and_score_completions(inputs)
        finally:
            self.given = None
        assert len(inputs) % size == 0
        return found["advantages"][: len(rewards)]

    def canonical(self, found: Any) -> dict[str, Tensor]:
        """TRL's batch (prompts padded on the left, completions on the right) on one row of columns."""
        torch = load_torch()
        width = found["prompt_ids"].shape[1]
        prompt, completion = found["prompt_mask"].long(), found["completion_mask"].long()
        tool = found.get("tool_mask")
        trained = completion if tool is None else completion * tool.long()
        written = torch.where(trained > 0, SAMPLED, completion * TOOL)
        if tool is None:
            written = written.masked_fill(self.beyond_the_end(found["completion_ids"]), PADDING)
        roles = torch.cat([prompt * PROMPT, written], dim=1)
        laid = {
            "input_ids": torch.cat([found["prompt_ids"], found["completion_ids"]], dim=1),
            "attention_mask": torch.cat([prompt, completion], dim=1),
            "loss_mask": torch.cat([torch.zeros_like(prompt), trained], dim=1),
            "roles": torch.where(roles > 0, roles, PADDING),
            "advantages": found["advantages"],
            "start": torch.full((len(prompt),), width),
        }
        for name in ("old", "ref", "sampling"):
            theirs, ours = f"{name}_per_token_logps", f"{'sampler' if name == 'sampling' else name}_logprobs"
            if theirs in found:
                laid[ours] = torch.nn.functional.pad(found[theirs], (width, 0)) * (laid["loss_mask"] > 0)
        return laid

    def beyond_the_end(self, ids: Tensor) -> Tensor:
        """What follows the first end token [B, T]: nobody wrote it, whatever the mask says.

        Only where no tool speaks: turns of an agent go on behind an end token.
        """
        ends = (ids == self.trainer._tokenizer.eos_token_id).long()
        return ends.cumsum(dim=1) > ends

    def theirs(self, batch: TokenBatch, items: Tensor | None = None) -> dict[str, Any]:
        """A canonical batch in TRL's layout; padding may have been added on either side."""
        torch = load_torch()
        columns = torch.arange(batch["input_ids"].shape[1]).expand_as(batch["input_ids"])
        written = (batch["roles"] == SAMPLED) | (batch["roles"] == TOOL)
        width = int(torch.where(written, columns, columns.shape[1]).min())
        inputs: dict[str, Any] = {
            "prompt_ids": batch["input_ids"][:, :width],
            "prompt_mask": batch["attention_mask"][:, :width],
            "completion_ids": batch["input_ids"][:, width:],
            "completion_mask": batch["attention_mask"][:, width:],
            "advantages": batch["advantages"],
            "num_items_in_batch": batch["loss_mask"].sum() if items is None else items,
        }
        if bool((batch["loss_mask"] != batch["attention_mask"])[:, width:].any()):
            inputs["tool_mask"] = batch["loss_mask"][:, width:]
        for ours, theirs in (("old_logprobs", "old_per_token_logps"), ("ref_logprobs", "ref_per_token_logps")):
            if ours in batch:
                inputs[theirs] = batch[ours][:, width:]
        return inputs

    def loss(self, batch: TokenBatch) -> Tensor:
        """The trainer's loss of one batch."""
        with self.aside():
            return self.trainer.compute_loss(self.trainer.model, self.theirs(batch))

    def split_loss(self, parts: Sequence[TokenBatch]) -> Tensor:
        """The loss of one step that is accumulated over `parts`."""
        items = sum(part["loss_mask"].sum() for part in parts)
        with self.aside(len(parts)):
            losses = [self.trainer.compute_loss(self.trainer.model, self.theirs(part, items)) for part in parts]
        return sum(losses[1:], losses[0])

    def logprobs(self, batch: TokenBatch, model: Any = None) -> Tensor:
        """The trainer's log-probs of every token [B, L]."""
        torch = load_torch()
        inputs = self.theirs(batch)
        ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
        mask = torch.cat([inputs["prompt_mask"], inputs["completion_mask"]], dim=1)
        keep = inputs["completion_ids"].shape[1]
        with self.aside():
            found = self.trainer._get_per_token_logps_and_entropies(model or self.trainer.model, ids, mask, keep)[0]
        return torch.nn.functional.pad(found, (ids.shape[1] - keep, 0))


def pieces_of(trainer: Any) -> TokenPieces:
    """The pieces of a GRPO trainer."""
    return Grpo(trainer).pieces()
