"""A readable GRPO trainer on token batches: what the token mutants are made from. Its PPO is in token_reference_ppo."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch

from firstbreak.preflight.tokens.pieces import PADDING, PROMPT, SAMPLED, TOOL, TokenPieces

from .token_model import BOS, CALL, END, LETTERS, PAD, TinyLanguageModel

Batch = dict[str, Any]
Reward = Callable[[Sequence[Sequence[int]], Sequence[Sequence[int]]], Sequence[float]]
PROMPTS = ((BOS, 4), (BOS, 5, 6), (BOS, 7, 7, 8), (BOS, 9))
"""Of different lengths, so that there is padding on the left."""


def share_of_first_letter(prompts: Sequence[Sequence[int]], completions: Sequence[Sequence[int]]) -> list[float]:
    """Reward how often a completion holds the second token of its prompt, and a little for its parity."""
    return [c.count(p[1]) / 8 + 0.1 * (sum(c) % 3) for p, c in zip(prompts, map(list, completions), strict=True)]


class Grpo:
    """Group-relative policy optimisation with a clipped ratio and a KL term in the loss."""

    temperature, clip, kl_coef, entropy_coef = 0.7, 0.2, 0.05, 0.0
    normalisation = "sequence"
    group_size, longest = 4, 8
    pad, dropout = PAD, 0.0
    learning_rate = 3e-3
    model_class: type[TinyLanguageModel] = TinyLanguageModel
    tools = True

    def __init__(
        self, reward: Reward = share_of_first_letter, prompts: Sequence[Sequence[int]] = PROMPTS, seed: int = 0
    ) -> None:
        self.reward, self.prompts = reward, [list(p) for p in prompts]
        self.model = self.model_class(seed, self.dropout)
        self.reference = self.make_reference()
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=self.learning_rate)
        self.draws = torch.Generator().manual_seed(seed)

    def make_reference(self) -> Any:
        """A frozen copy of the policy."""
        return copy.deepcopy(self.model).eval().requires_grad_(False)

    # ---- sampling ---------------------------------------------------------------------------------------------------

    def order(self) -> list[int]:
        """Which prompt each row answers: the rows of a prompt side by side."""
        return [p for p in range(len(self.prompts)) for _ in range(self.group_size)]

    @torch.no_grad()
    def sample(self, order: Sequence[int]) -> list[Batch]:
        """Draw one completion for each row: ids, roles, log-probs, each a list."""
        self.model.eval()
        rows: list[Batch] = [{"prompt": p, "ids": [], "roles": [], "logprobs": [], "over": False} for p in order]
        for _ in range(self.longest):
            ids, mask = self.left_padded([self.prompts[r["prompt"]] + r["ids"] for r in rows])
            scores = self.sampling_scores(self.model(ids, mask)[:, -1])
            drawn = torch.multinomial(scores.exp(), 1, generator=self.draws)[:, 0]
            for row, token, score in zip(rows, drawn.tolist(), scores, strict=True):
                if not row["over"]:
                    self.write(row, token, float(score[token]))
        return rows

    def sampling_scores(self, logits: Any) -> Any:
        """Log-probs at the sampling temperature [B, V]."""
        return (logits.float() / self.temperature).log_softmax(-1)

    def write(self, row: Batch, token: int, logprob: float) -> None:
        """Write one token; a tool answers a call with two tokens of its own, while there is room."""
        row["ids"].append(token)
        row["roles"].append(SAMPLED)
        row["logprobs"].append(logprob)
        if token == CALL and self.tools and len(row["ids"]) + 3 <= self.longest:
            row["ids"] += [LETTERS[len(row["ids"]) % len(LETTERS)], LETTERS[0]]
            row["roles"] += [TOOL, TOOL]
            row["logprobs"] += [0.0, 0.0]
        row["over"] = token == END or len(row["ids"]) >= self.longest

    def left_padded(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
        """Tokens and attention mask of rows that all end in the last column."""
        width = max(len(row) for row in rows)
        ids = torch.tensor([[self.pad] * (width - len(row)) + list(row) for row in rows])
        return ids, torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])

    def lay_out(self, rows: Sequence[Batch]) -> Batch:
        """Prompts padded on the left, completions on the right, in one row of columns."""
        prompts, prompt_mask = self.left_padded([self.prompts[row["prompt"]] for row in rows])
        width = max(len(row["ids"]) for row in rows)

        def column(key: str, fill: float) -> Any:
            return torch.tensor([row[key] + [fill] * (width - len(row[key])) for row in rows])

        real = torch.tensor([[1] * len(row["ids"]) + [0] * (width - len(row["ids"])) for row in rows])
        empty = torch.zeros_like(prompts)
        batch: Batch = {
            "input_ids": torch.cat([prompts, self.trained_ids(column("ids", self.pad), real)], 1),
            "attention_mask": torch.cat([prompt_mask, real], 1),
            "roles": torch.cat([prompt_mask * PROMPT, column("roles", PADDING)], 1),
            "sampled_ids": torch.cat([empty, column("ids", 0)], 1),
            "old_logprobs": torch.cat([empty.float(), column("logprobs", 0.0)], 1),
            "prompt": torch.tensor([row["prompt"] for row in rows]),
        }
        batch["loss_mask"] = self.loss_mask(batch)
        return batch

    def trained_ids(self, ids: Any, real: Any) -> Any:
        """The ids that go to training: those that were sampled."""
        del real
        return ids

    def loss_mask(self, batch: Batch) -> Any:
        """1 for tokens that the policy wrote."""
        return (batch["roles"] == SAMPLED).long()

    # ---- advantages -------------------------------------------------------------------------------------------------

    def groups(self, batch: Batch) -> Any:
        """What the rewards are normalised over."""
        return batch["prompt"]

    def advantages(self, rewards: Any, group: Any) -> Any:
        """(reward - mean) / std over the rows of the group."""
        result = torch.zeros_like(rewards)
        for one in group.unique():
            rows = group == one
            mine = rewards[rows]
            result[rows] = (mine - mine.mean()) / (mine.std() + 1e-4)
        return result

    def batch(self) -> Batch:
        """Sample, score and lay out one batch."""
        rows = self.sample(self.order())
        batch = self.lay_out(rows)
        completions = [row["ids"] for row in rows]
        batch["rewards"] = torch.tensor(self.reward([self.prompts[r["prompt"]] for r in rows], completions)).float()
        batch["group"] = self.groups(batch)
        batch["advantages"] = self.advantages(batch["rewards"], batch["group"])
        batch["ref_logprobs"] = self.reference_logprobs(batch)
        return self.finish(batch)

    def finish(self, batch: Batch) -> Batch:
        """Whatever else happens to a batch before it is trained on."""
        return batch

    # ---- log-probs --------------------------------------------------------------------------------------------------

    def scores(self, logits: Any) -> Any:
        """Log-probs of all tokens at the temperature of the loss."""
        return (logits.float() / self.temperature).log_softmax(-1)

    def logprobs(self, batch: Batch, model: Any = None) -> Any:
        """The log-prob of the token of each column, scored by the column before [B, L]."""
        ids = batch["input_ids"]
        logits = (model or self.model)(ids, batch["attention_mask"])
        picked = self.scores(logits[:, :-1]).gather(-1, ids[:, 1:, None])[..., 0]
        return torch.nn.functional.pad(picked, (1, 0))

    @torch.no_grad()
    def reference_logprobs(self, batch: Batch) -> Any:
        """Log-probs of the reference [B, L]."""
        return self.logprobs(batch, self.reference) * batch["loss_mask"]

    # ---- loss -------------------------------------------------------------------------------------------------------

    def loss(self, batch: Batch, parts: int = 1, step_tokens: Any = None) -> Any:
        """The loss of one micro-batch of `parts`."""
        self.model.train()
        mask = self.mask_of(batch)
        logprobs = self.logprobs(batch)
        ratio = (logprobs - self.old_logprobs(batch, logprobs)).exp()
        advantage = self.by_token(batch["advantages"], ratio)
        clipped = self.clamped(ratio)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        by_token = -gain + self.kl_coef * self.kl(logprobs, batch["ref_logprobs"])
        return self.reduced(by_token, mask, parts, step_tokens)

    def mask_of(self, batch: Batch) -> Any:
        """The mask that the loss uses."""
        return batch["loss_mask"].float()

    def old_logprobs(self, batch: Batch, logprobs: Any) -> Any:
        """Log-probs at the time of sampling; those of tokens nobody sampled do not matter."""
        return torch.where(batch["loss_mask"] > 0, batch["old_logprobs"], logprobs.detach())

    def by_token(self, advantages: Any, ratio: Any) -> Any:
        """Advantages in the shape of the ratio."""
        del ratio
        return advantages[:, None]

    def clamped(self, ratio: Any) -> Any:
        """The ratio within its bounds."""
        return ratio.clamp(1 - self.clip, 1 + self.clip)

    def kl(self, logprobs: Any, reference: Any) -> Any:
        """k3 (Schulman 2020): exp(r) - r - 1 with r = log p_ref - log p."""
        r = reference - logprobs
        return r.exp() - r - 1

    def reduced(self, by_token: Any, mask: Any, parts: int, step_tokens: Any) -> Any:
        """One number: divided as `normalisation` says."""
        total = torch.where(mask > 0, by_token * mask, 0.0)
        if self.normalisation == "token":
            return total.sum() / (mask.sum() if step_tokens is None else step_tokens)
        if self.normalisation == "constant":
            return total.sum() / (len(mask) * self.longest) / parts
        return (total.sum(1) / mask.sum(1).clamp(min=1)).mean() / parts

    def split_loss(self, parts: Sequence[Batch]) -> Any:
        """The loss of one step that is accumulated over `parts`."""
        tokens = sum(self.mask_of(part).sum() for part in parts)
        return sum(self.loss(part, len(parts), tokens) for part in parts)

    def update(self, batch: Batch) -> None:
        """One optimiser step."""
        self.optimiser.zero_grad()
        self.loss(batch).backward()
        self.optimiser.step()

    def learn(self, steps: int) -> Grpo:
        """Sample and update so many times."""
        for _ in range(steps):
            self.update(self.batch())
        return self

    def token_pieces(self) -> TokenPieces:
        """What the invariants take hold of."""
        return TokenPieces(
            model=self.model,
            loss=self.loss,
            batch=self.batch,
            logprobs=self.logprobs,
            reference=self.reference,
            reference_logprobs=self.reference_logprobs,
            optimiser=self.optimiser,
            update=self.update,
            split_loss=self.split_loss,
            advantages=self.advantages,
            algorithm="GRPO",
            settings=self.settings(),
        )

    def settings(self) -> dict[str, Any]:
        """Canonical settings."""
        return {
            "temperature": self.temperature,
            "clip_low": self.clip,
            "clip_high": self.clip,
            "kl_coef": self.kl_coef,
            "kl_in": "loss",
            "normalisation": self.normalisation,
            "max_completion_tokens": self.longest,
            "advantage_scale": "group",
            "entropy_coef": self.entropy_coef,
            "end_token_id": END,
            "pad_token_id": self.pad,
        }
