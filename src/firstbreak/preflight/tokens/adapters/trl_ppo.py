"""TRL's `PPOTrainer` as token pieces; TRL holds one up to 1.12, in `trl.experimental.ppo`.

Its loss is written inside `train()`, so the pieces run `train()` up to the gradient of one batch (`trl_ppo_loop`).
TRL pays the score in the column after the last token, which is a step of its own with a value of its own, as in
lm-human-preferences. That column is folded into the last token here, so that a batch reads like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...invariants.torch_types import Tensor, load_torch
from ..pieces import PADDING, PROMPT, SAMPLED, TokenBatch, TokenPieces
from .trl_ppo_loop import up_to_the_gradient

COLUMNS = {
    "old_logprobs": "old",
    "ref_logprobs": "ref",
    "values": "values",
    "advantages": "advantages",
}
"""Canonical columns, and what the loop is given for them."""


def is_ppo(target: Any) -> bool:
    """Whether `target` is a PPO trainer of TRL; TRL need not be imported for others."""
    return any(c.__module__.startswith("trl.") and c.__name__ == "PPOTrainer" for c in type(target).__mro__)


class Ppo:
    """Translates between canonical batches and those of a PPO trainer."""

    def __init__(self, trainer: Any) -> None:
        self.trainer = trainer
        self.pad = int(trainer.processing_class.pad_token_id)
        self.end = int(trainer.processing_class.eos_token_id)

    def pieces(self) -> TokenPieces:
        """Return the pieces."""
        t = self.trainer
        return TokenPieces(
            model=t.accelerator.unwrap_model(t.model).policy,
            loss=self.loss,
            batch=self.batch,
            logprobs=lambda batch: self.computed(batch, "new_logprobs"),
            reference=t.ref_model,
            reference_logprobs=self.reference_logprobs,
            optimiser=t.optimizer,
            split_loss=self.split_loss,
            token_rewards=self.token_rewards,
            gae=self.gae,
            whiten=self.whiten,
            values=lambda batch: self.computed(batch, "vpred"),
            algorithm="PPO",
            settings=self.settings(),
        )

    def settings(self) -> dict[str, Any]:
        """The canonical settings of the trainer."""
        args = self.trainer.args
        return {
            "temperature": float(args.temperature) + 1e-7,
            "clip_low": float(args.cliprange),
            "clip_high": float(args.cliprange),
            "kl_coef": float(args.kl_coef),
            "kl_in": "reward",
            "normalisation": "local-token",
            "max_completion_tokens": int(args.response_length),
            "gamma": float(args.gamma),
            "gae_lambda": float(args.lam),
            "end_token_id": self.end,
            "pad_token_id": self.pad,
        }

    def batch(self) -> TokenBatch:
        """Generate and score one batch as training does, and lay it out canonically."""
        torch = load_torch()
        found = up_to_the_gradient(self.trainer, {})
        queries, responses = found["queries"], found["responses"]
        width, ids = queries.shape[1], found["query_responses"]
        trained = ~found["padding_mask"]
        ends, pads = (responses == self.end).long(), responses == self.pad
        after = (ends.cumsum(1) > ends) | ((pads & (ends < 1)).cumsum(1) > 0)  # a pad that is drawn ends it as well
        written = torch.where(after, PADDING, SAMPLED)
        asked = [str(row) for row in cast(list[list[int]], queries.tolist())]
        numbers = {prompt: i for i, prompt in enumerate(dict.fromkeys(asked))}

        def wide(column: Tensor) -> Tensor:
            return torch.nn.functional.pad(column.masked_fill(~trained, 0), (width, 0))

        return {
            "input_ids": ids,
            "attention_mask": (ids != self.pad).long(),
            "loss_mask": torch.nn.functional.pad(trained.long(), (width, 0)),
            "roles": torch.cat([(queries != self.pad) * PROMPT, written], 1),
            "advantages": wide(found["advantages"]),
            "old_logprobs": wide(found["logprobs"]),
            "ref_logprobs": wide(found["ref_logprobs"]),
            "values": wide(found["values"]),
            "value_targets": wide(found["returns"]),
            "rewards": found["scores"],
            "prompt": torch.tensor([numbers[prompt] for prompt in asked]),
            "start": torch.full((len(ids),), width),
        }

    def given(self, batch: TokenBatch) -> dict[str, Tensor]:
        """A canonical batch as the columns of the response that the loop is given."""
        torch = load_torch()
        columns = torch.arange(batch["input_ids"].shape[1]).expand_as(batch["input_ids"])
        width = int(torch.where(batch["roles"] == SAMPLED, columns, columns.shape[1]).min())
        found = {theirs: batch[ours][:, width:].float() for ours, theirs in COLUMNS.items() if ours in batch}
        if found.get("advantages") is not None and "value_targets" in batch:
            found["rewards"] = self.paying(batch["value_targets"][:, width:] - found["values"], found["values"])
        scores = batch["rewards"] if "rewards" in batch else torch.zeros(len(columns))
        ids = batch["input_ids"]
        return found | {"queries": ids[:, :width], "responses": ids[:, width:], "scores": scores.float()}

    def paying(self, raw: Tensor, values: Tensor) -> Tensor:
        """Token rewards [B, T] of which GAE makes the advantages `raw`: its recursion read backwards."""
        torch = load_torch()
        args = self.trainer.args
        ahead = [torch.nn.functional.pad(x[:, 1:], (0, 1)) for x in (raw, values)]
        return raw - args.gamma * args.lam * ahead[0] - args.gamma * ahead[1] + values

    def loss(self, batch: TokenBatch) -> dict[str, Tensor]:
        """The terms of the trainer's loss of one batch."""
        found = up_to_the_gradient(self.trainer, self.given(batch))
        if "pg_loss" not in found or "vf_loss" not in found:
            return {"policy": found["loss"]}
        return {"policy": found["loss"] - self.trainer.args.vf_coef * found["vf_loss"],
                "value": self.trainer.args.vf_coef * found["vf_loss"]}  # fmt: skip

    def split_loss(self, parts: Sequence[TokenBatch]) -> Tensor:
        """The loss of one step accumulated over `parts`: accelerate divides by their number."""
        losses = [sum(self.loss(part).values()) for part in parts]
        return sum(losses[1:], losses[0]) / len(parts)

    def computed(self, batch: TokenBatch, name: str) -> Tensor:
        """A column that the loop computes in the batch's update [B, L], 0 where nothing is trained."""
        torch = load_torch()
        found = up_to_the_gradient(self.trainer, self.given(batch))
        column = found[name].masked_fill(found["padding_mask"], 0)
        return torch.nn.functional.pad(column, (found["queries"].shape[1], 0))

    def reference_logprobs(self, batch: TokenBatch) -> Tensor:
        """The reference's log-probs of every token [B, L]."""
        torch = load_torch()
        given = {name: column for name, column in self.given(batch).items() if name != "ref"}
        found = up_to_the_gradient(self.trainer, given)
        column = found["ref_logprobs"].masked_fill(found["padding_mask"], 0)
        return torch.nn.functional.pad(column, (found["queries"].shape[1], 0))

    def token_rewards(self, scores: Tensor, batch: TokenBatch) -> Tensor:
        """The reward of each token [B, L]; what is paid in the column after the last token is the last token's."""
        torch = load_torch()
        given = {name: column for name, column in self.given(batch).items() if name not in ("rewards", "advantages")}
        found = up_to_the_gradient(self.trainer, given | {"scores": scores.float()})
        rewards, trained = found["token_rewards"], ~found["padding_mask"]
        after = torch.nn.functional.pad(trained[:, :-1], (1, 0)) & ~trained
        rewards = rewards + torch.nn.functional.pad((rewards * after)[:, 1:], (0, 1))
        return torch.nn.functional.pad(rewards.masked_fill(after, 0), (found["queries"].shape[1], 0))

    def gae(self, rewards: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Raw advantages and value targets [B, L]; the column after the last token pays and is worth nothing."""
        torch = load_torch()
        given, width = self.made_up(mask)
        part = mask[:, width:] > 0
        after = torch.nn.functional.pad(part[:, :-1], (1, 0)) & ~part
        given |= {"rewards": rewards[:, width:], "values": values[:, width:].masked_fill(after, 0)}
        found = up_to_the_gradient(self.trainer, given)
        return (torch.nn.functional.pad(found["raw_advantages"], (width, 0)),
                torch.nn.functional.pad(found["returns"], (width, 0)))  # fmt: skip

    def whiten(self, advantages: Tensor, mask: Tensor) -> Tensor:
        """Normalised advantages [B, L]."""
        torch = load_torch()
        given, width = self.made_up(mask)
        found = up_to_the_gradient(self.trainer, given | {"raw": advantages[:, width:]})
        return torch.nn.functional.pad(found["advantages"], (width, 0))

    def made_up(self, mask: Tensor) -> tuple[dict[str, Tensor], int]:
        """Tokens that are trained just where `mask` says, and the width of their prompts."""
        torch = load_torch()
        columns = torch.arange(mask.shape[1]).expand_as(mask)
        width = int(torch.where(mask > 0, columns, mask.shape[1]).min())
        spare = next(token for token in range(3) if token not in (self.pad, self.end))
        ids = torch.where(mask > 0, spare, self.pad).long()
        ids[:, :width] = spare
        none = torch.zeros(len(mask), mask.shape[1] - width)
        return {"queries": ids[:, :width], "responses": ids[:, width:], "old": none, "ref": none, "values": none,
                "scores": torch.zeros(len(mask))}, width  # fmt: skip


def pieces_of(trainer: Any) -> TokenPieces:
    """The pieces of a PPO trainer."""
    return Ppo(trainer).pieces()
