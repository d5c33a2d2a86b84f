"""The mutants of the reference GRPO trainer, by id with underscores; what each changes is in token_mutants.toml."""

from __future__ import annotations

from typing import Any

import torch

from .planting import edited
from .token_model import END, LETTERS, Body, TinyLanguageModel
from .token_reference import Grpo

# ---- what is trained ------------------------------------------------------------------------------------------------

MASK = 'batch["loss_mask"].float()'

prompt_in_loss = edited(Grpo, mask_of=(MASK, '(batch["roles"] != 3).float() * batch["attention_mask"].float()'))


class padding_in_loss(Grpo):  # noqa: N801
    """Every column after the prompts."""

    def mask_of(self, batch: Any) -> Any:
        """All columns from the first completion on."""
        written = batch["roles"] >= 2
        columns = torch.arange(written.shape[1])[None].expand_as(written)
        first = torch.where(written, columns, written.shape[1]).min()
        return (columns >= first).float() * (batch["roles"] != 3).float()


class tool_output_in_loss(Grpo):  # noqa: N801
    """All of the completion."""

    def loss_mask(self, batch: Any) -> Any:
        """1 for everything behind the prompt."""
        return (batch["roles"] >= 2).long()


def _shifted_by(places: int) -> type:
    class Shifted(Grpo):
        def mask_of(self, batch: Any) -> Any:
            return torch.roll(super().mask_of(batch), places, dims=1)

    return Shifted


mask_shifted_left = _shifted_by(-1)
mask_shifted_right = _shifted_by(1)


class end_token_dropped(Grpo):  # noqa: N801
    """Padding and end share an id, and the mask goes by it."""

    pad = END

    def loss_mask(self, batch: Any) -> Any:
        """Everything sampled that is not the padding token."""
        return super().loss_mask(batch) * (batch["input_ids"] != self.pad).long()


class first_token_dropped(Grpo):  # noqa: N801
    """A slice one too far."""

    def mask_of(self, batch: Any) -> Any:
        """All but the first trained column of each row."""
        mask = super().mask_of(batch)
        return mask * (mask.cumsum(1) > 1).float()


# ---- which log-prob -------------------------------------------------------------------------------------------------

logits_not_shifted = edited(
    Grpo,
    logprobs=(
        "self.scores(logits[:, :-1]).gather(-1, ids[:, 1:, None])",
        "self.scores(logits[:, 1:]).gather(-1, ids[:, 1:, None])",
    ),
)


class logits_shifted_twice(Grpo):  # noqa: N801
    """Logits of column t score the token of column t + 2, which stands where that of t + 1 should."""

    def logprobs(self, batch: Any, model: Any = None) -> Any:
        """Shift labels that are shifted already."""
        ids = batch["input_ids"]
        logits = (model or self.model)(ids, batch["attention_mask"])
        picked = self.scores(logits[:, :-2]).gather(-1, ids[:, 2:, None])[..., 0]
        return torch.nn.functional.pad(picked, (1, 1))


class _CountsColumns(Body):
    def positions(self, attention_mask: Any) -> Any:
        return torch.arange(attention_mask.shape[1])[None].expand_as(attention_mask)


class _CountingModel(TinyLanguageModel):
    body_class = _CountsColumns


class positions_ignore_left_padding(Grpo):  # noqa: N801
    """Positions are columns."""

    model_class = _CountingModel


temperature_missing_in_loss = edited(Grpo, scores=(" / self.temperature", ""))


class old_logprobs_without_temperature(Grpo):  # noqa: N801
    """Stored log-probs are those at temperature 1."""

    def finish(self, batch: Any) -> Any:
        """Score the batch once more, at temperature 1."""
        with torch.no_grad():
            logits = self.model(batch["input_ids"], batch["attention_mask"])
            picked = logits[:, :-1].log_softmax(-1).gather(-1, batch["input_ids"][:, 1:, None])[..., 0]
        batch["old_logprobs"] = torch.nn.functional.pad(picked, (1, 0)) * batch["loss_mask"]
        return batch


class dropout_in_loss(Grpo):  # noqa: N801
    """The loss takes the model in training mode."""

    dropout = 0.1


class old_logprobs_in_half_precision(Grpo):  # noqa: N801
    """The sampler's logits are rounded."""

    def sampling_scores(self, logits: Any) -> Any:
        """Log-probs from logits in bfloat16."""
        return (logits.bfloat16() / self.temperature).log_softmax(-1).float()


class old_logprobs_with_gradient(Grpo):  # noqa: N801
    """Recomputed inside the loss."""

    def old_logprobs(self, batch: Any, logprobs: Any) -> Any:
        """The log-probs themselves."""
        return torch.where(batch["loss_mask"] > 0, logprobs, logprobs.detach())


class ids_tokenised_again(Grpo):  # noqa: N801
    """Two equal letters side by side come back as one token; an empty place is left before the next."""

    def trained_ids(self, ids: Any, real: Any) -> Any:
        """Merge what the tokenizer would merge."""
        changed = ids.clone()
        for row in range(len(ids)):
            for t in range(ids.shape[1] - 1):
                if real[row, t + 1] and int(ids[row, t]) in LETTERS and int(ids[row, t + 1]) in LETTERS:
                    changed[row, t] = LETTERS[(int(ids[row, t]) + int(ids[row, t + 1])) % len(LETTERS)]
                    break
        return changed


class end_token_appended(Grpo):  # noqa: N801
    """A completion that was cut off is closed."""

    def trained_ids(self, ids: Any, real: Any) -> Any:
        """Put an end token in the last place of full rows."""
        changed = ids.clone()
        full = real.sum(1) == self.longest
        changed[full, -1] = END
        return changed


# ---- normaliser -----------------------------------------------------------------------------------------------------

REDUCED = "mask.sum(1).clamp(min=1)).mean() / parts"

mean_over_padded_length = edited(Grpo, reduced=(REDUCED, "mask.shape[1]).mean() / parts"))


class constant_normaliser_by_sequence(edited(Grpo, reduced=('self.normalisation == "constant"', "False"))):  # type: ignore[misc]  # noqa: N801
    """Says constant, divides by each length."""

    normalisation = "constant"


class sequence_normaliser_by_token(Grpo):  # noqa: N801
    """Says sequence, takes one mean."""

    def reduced(self, by_token: Any, mask: Any, parts: int, step_tokens: Any) -> Any:
        """A mean over all tokens of the step."""
        return (by_token * mask).sum() / (mask.sum() if step_tokens is None else step_tokens)


class token_mean_by_microbatch(Grpo):  # noqa: N801
    """Says one mean over the step, takes one over each part."""

    normalisation = "token"

    def reduced(self, by_token: Any, mask: Any, parts: int, step_tokens: Any) -> Any:
        """A mean over the tokens of this part."""
        return (by_token * mask).sum() / mask.sum() / parts


accumulation_not_divided = edited(Grpo, reduced=(REDUCED, REDUCED.replace(" / parts", "")))

# ---- advantages -----------------------------------------------------------------------------------------------------

NORMAL = "(mine - mine.mean()) / (mine.std() + 1e-4)"

advantages_over_batch = edited(Grpo, advantages=(NORMAL, "(mine - rewards.mean()) / (rewards.std() + 1e-4)"))
std_over_batch = edited(Grpo, advantages=("mine.std()", "rewards.std()"))


class groups_interleaved(Grpo):  # noqa: N801
    """Rows come prompt by prompt in turn, groups are taken by place."""

    def order(self) -> list[int]:
        """Prompt 1, prompt 2, ..., prompt 1, prompt 2, ..."""
        return [p for _ in range(self.group_size) for p in range(len(self.prompts))]

    def groups(self, batch: Any) -> Any:
        """Rows side by side."""
        return torch.arange(len(batch["prompt"])) // self.group_size


class group_id_per_row(Grpo):  # noqa: N801
    """Each trajectory is a group of its own; a group of one is compared with the batch."""

    def groups(self, batch: Any) -> Any:
        """A number for each row."""
        return torch.arange(len(batch["prompt"]))

    def advantages(self, rewards: Any, group: Any) -> Any:
        """Rows alone in their group are normalised over all."""
        if len(group.unique()) < len(group):
            return super().advantages(rewards, group)
        return (rewards - rewards.mean()) / (rewards.std() + 1e-4)


advantage_without_mean = edited(Grpo, advantages=("(mine - mine.mean())", "mine"))
advantage_without_epsilon = edited(Grpo, advantages=("(mine.std() + 1e-4)", "mine.std()"))


class advantage_broadcast(Grpo):  # noqa: N801
    """[B] meets [B, 1] and gives [B, B]."""

    def by_token(self, advantages: Any, ratio: Any) -> Any:
        """The mean of all advantages for everyone."""
        return (torch.ones(len(ratio), 1) * advantages).mean(1, keepdim=True)


class advantage_of_next_row(Grpo):  # noqa: N801
    """Rows were shuffled, advantages were not."""

    def finish(self, batch: Any) -> Any:
        """Shuffle everything but the advantages."""
        order = torch.randperm(len(batch["prompt"]), generator=self.draws)
        return {k: v if k == "advantages" else v[order] for k, v in batch.items()}


loss_sign_flipped = edited(Grpo, loss=("-gain + ", "gain + "))
WHITE = '(batch["advantages"] - batch["advantages"].mean()) / (batch["advantages"].std() + 1e-4)'
advantage_normalised_twice = edited(Grpo, loss=('self.by_token(batch["advantages"]', f"self.by_token({WHITE}"))

# ---- KL and reference -----------------------------------------------------------------------------------------------

kl_sign_flipped = edited(Grpo, loss=("-gain + self", "-gain - self"))
kl_k1_as_loss = edited(Grpo, kl=("r.exp() - r - 1", "-r"))


class reference_follows_policy(Grpo):  # noqa: N801
    """The reference is the policy."""

    def make_reference(self) -> Any:
        """Not a copy."""
        return self.model


class reference_not_the_start(Grpo):  # noqa: N801
    """The reference is another draw."""

    def make_reference(self) -> Any:
        """A new model."""
        return self.model_class(1234).eval().requires_grad_(False)


class reference_carries_gradient(Grpo):  # noqa: N801
    """The reference is the policy's own body, with the graph on."""

    def reference_logprobs(self, batch: Any) -> Any:
        """Log-probs of the policy."""
        return self.logprobs(batch) * batch["loss_mask"]


# ---- clipping -------------------------------------------------------------------------------------------------------

GAIN = "torch.minimum(ratio * advantage, clipped * advantage)"

clip_on_wrong_side = edited(Grpo, loss=("torch.minimum(", "torch.maximum("))
clip_kills_correction = edited(Grpo, loss=(GAIN, "clipped * advantage"))
clip_missing_above = edited(Grpo, clamped=("(1 - self.clip, 1 + self.clip)", "(1 - self.clip, None)"))
