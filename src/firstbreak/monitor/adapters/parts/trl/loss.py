"""What the loss of a TRL trainer is made of and what it does, seen from outside while it is computed.

TRL's trainers score tokens in one method and make the loss of them in another; both are looked at, and so are the
responses as they were generated and rewarded. What the loss does is read from its gradient, so that it does not matter
by which masks, advantages and clips, of TRL or of a class derived from it, it came about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....tensors import Quantities, Responses, importance_ratios, mixed_prompts, prompt_variety, shares, token_gradients
from ..obeying import harmless
from .advantages import against_rewards
from .batches import Batches, Template
from .clipping import bounds, past_the_clip
from .drawing import Drawing
from .evaluation import Evaluations
from .identities import Identities
from .normalised import beside, scale_of
from .on_the_way import OnTheWay
from .paid import Paid
from .pairs import Pairs
from .prefill import Prefill
from .sampling import past_end, sampling_temperature, truncation
from .scores import weighted_rewards
from .trained import row_signatures

if TYPE_CHECKING:
    from ....core import Monitor


class LossTap:
    """Looks at the loss of `trainer`, if it makes it of log-probabilities of tokens; else `row` is empty.

    Args:
        trainer: Its methods are wrapped; they return what they did.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._scored: list[tuple[Any, Any, Any]] = []
        """Of each micro-batch: log-probabilities now and when generated, and which count; all flat."""
        self._per_token = True
        self._logps: Any = None
        self._inputs: Mapping[str, Any] = {}
        self._sums: dict[str, Tensor] = {}
        self._paid: tuple[Tensor, Tensor] | None = None
        """Of the responses generated last: what tells each apart, and its reward less the mean of its group."""
        self._groups: dict[str, Tensor] = {}
        self._drawn: dict[str, float] = {}
        self.batches, self._template = Batches(), Template(trainer)
        self.identities = Identities(trainer, monitor)
        self._pairs, self._drawing, self._way = Pairs(trainer), Drawing(trainer, monitor), OnTheWay(trainer, monitor)
        self._prefill = Prefill(trainer, monitor)
        self._in_all = Paid(trainer)
        self.evaluations = Evaluations(trainer, monitor, self.identities.scores, self._drawing)
        self._largest: list[Tensor] = []
        """Of each micro-batch, the largest advantage."""
        self._past: Tensor | None = None
        """Tokens past the clip, and those of them that have a gradient."""
        self._ends: dict[Any, Tensor] = {}
        self._anchored: list[bool] = []
        """Of each micro-batch of an update that may reuse responses, whether their old log-probabilities came along."""
        names = "_get_per_token_logps_and_entropies", "_compute_loss"
        if all(hasattr(trainer, name) for name in names):
            trainer._get_per_token_logps_and_entropies = self._scoring(trainer._get_per_token_logps_and_entropies)
            trainer._compute_loss = self._losing(trainer._compute_loss)
            if hasattr(trainer, "_generate_and_score_completions"):
                trainer._generate_and_score_completions = self._generating(trainer._generate_and_score_completions)

    def row(self) -> dict[str, float]:
        """Return what the loss of this update was like, and forget it."""
        reach = {**shares(self._sums), **self._weight(), **self._unclipped()} if self._sums else {}
        quantities = Quantities()
        quantities.add({**self._ratios(), **self._groups, **reach})
        row = {**quantities.numbers(), **self._drawn, **self._drawing.row(), **self.identities.row()}
        row |= self._way.row()
        if self._anchored:
            row["policy/old_logprob_frac"] = sum(self._anchored) / len(self._anchored)
        self._sums, self._groups, self._drawn, self._anchored = {}, {}, {}, []
        return {name: value for name, value in row.items() if not math.isnan(value)}

    # ---- what is looked at -----------------------------------------------------------------------------------

    def _scoring(self, score: Any) -> Any:
        def scored(*args: Any, **kwargs: Any) -> Any:
            found = score(*args, **kwargs)
            self._logps = None
            if found[0].requires_grad:
                self._logps = found[0].detach()
                self.identities.entropies = found[1] if len(found) > 1 else None
                with harmless(self.monitor, "follow the gradient of the loss"):
                    found[0].register_hook(self._following(self._inputs, self._logps))
                    self.identities.follow_entropies()
            else:
                self._in_all.note(args[0] if args else None, found[0])
            return found

        return scored

    def _losing(self, loss: Any) -> Any:
        def lost(model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            self._inputs = inputs
            self.identities.before_loss()
            self._way.trained(inputs, self._special_ids()[0])
            result = loss(model, inputs, *args, **kwargs)
            self._inputs = {}
            with harmless(self.monitor, "read the importance ratios"):
                self._note_ratios(inputs)
            return result

        return lost

    def _generating(self, generate: Any) -> Any:
        def generated(*args: Any, **kwargs: Any) -> Any:
            inputs, pad = args[0] if args else (), self._special_ids()[0]
            if not self.trainer.model.training:
                with self._drawing.evaluating():
                    found = generate(*args, **kwargs)
                self.evaluations.note(inputs, found, pad, self._end())
                return found
            self._pairs.begin(pad)
            self._in_all.begin()
            self._way.begin(inputs)
            with self._drawing.watched(), self._prefill.watched():
                found = generate(*args, **kwargs)
            self._way.end(found, pad)
            with harmless(self.monitor, "read the groups"):
                self._note_groups(found)
            with harmless(self.monitor, "compare with the batches before"):
                self._note_batch(inputs, found)
            with harmless(self.monitor, "read the settings of sampling"):
                self._note_sampling(found)
            with harmless(self.monitor, "compare with what was scored"):
                self._drawn |= self._pairs.end(found) | self._prefill.end(found)
            self.identities.generated(found, *self._special_ids(), self._end())
            return found

        return generated

    # ---- what is made of it ----------------------------------------------------------------------------------

    def _note_ratios(self, inputs: Mapping[str, Any]) -> None:
        new, self._logps = self._logps, None
        if new is None:
            return
        if self._reuses():
            self._anchored.append(any(inputs.get(name) is not None for name in ("old_per_token_logps", "old_logps")))
        mask = inputs["completion_mask"] * inputs.get("tool_mask", 1)
        tokens, sequences = inputs.get("old_per_token_logps"), inputs.get("old_logps")
        self._per_token = tokens is not None
        if tokens is not None and tokens.shape == new.shape:
            self._scored.append((new.flatten(), tokens.flatten(), mask.flatten()))
        elif sequences is not None:
            self._scored.append(((new * mask).sum(1), sequences, mask.any(1)))

    def _ratios(self) -> dict[str, Any]:
        """Return what the importance ratios of this update are like; nothing where TRL needs none (they are all 1)."""
        if not self._scored:
            return {}
        new, old, mask = (torch.cat(parts) for parts in zip(*self._scored, strict=True))
        self._scored.clear()
        row = importance_ratios(new, old, mask=mask)
        if self._per_token:
            return dict(row)
        return {key: row[key] for key in row if key.startswith(("policy/ratio", "policy/ess"))}

    def _following(self, inputs: Mapping[str, Any], logps: Tensor | None = None) -> Any:
        """Return what autograd calls with the derivative of the loss by the log-probability of each token."""
        responses, a = self._responses(inputs), inputs.get("advantages")

        def follow(gradient: Tensor) -> None:
            with harmless(self.monitor, "follow the gradient of the loss"):
                if responses is None or gradient.shape[1] < responses.ids.shape[1]:
                    return
                limits = bounds(self.trainer)
                past = None if limits is None or logps is None else past_the_clip(gradient, logps, inputs, limits)
                if past is not None:
                    self._past = past if self._past is None else self._past + past
                if logps is not None:
                    self.identities.followed(gradient.detach(), logps, inputs, responses.pad)
                if isinstance(a, Tensor):
                    self._largest.append(a.detach().abs().max().float())
                for name, value in token_gradients(gradient.detach(), responses).items():
                    self._sums[name] = self._sums[name] + value if name in self._sums else value

        return follow

    def _responses(self, inputs: Mapping[str, Any]) -> Responses | None:
        ids = inputs.get("completion_ids")
        pad, ends = self._special_ids()
        if not isinstance(ids, Tensor) or pad is None or not ends:
            return None
        return Responses(ids, self._on(ids.device, ends), pad, self._paid_for(inputs, pad))

    def _on(self, device: torch.device, ends: list[int]) -> Tensor:
        """Return the tokens that end a response as a tensor; it is kept, since to make it waits for the device."""
        key = device, tuple(ends)
        if key not in self._ends:
            self._ends = {key: torch.tensor(ends, device=device)}
        return self._ends[key]

    def _paid_for(self, inputs: Mapping[str, Any], pad: int) -> Tensor:
        """Reward of each response less the mean of its group [B], found again among those generated last."""
        ids = inputs["completion_ids"]
        if self._paid is None:
            return torch.zeros(len(ids), device=ids.device)
        known, paid = self._paid
        same = row_signatures(inputs["prompt_ids"], ids, pad)[:, None] == known
        low, high = torch.where(same, paid, math.inf).amin(1), torch.where(same, paid, -math.inf).amax(1)
        return torch.where(low == high, low, 0.0)  # one text that was paid twice, and differently, says nothing

    def _note_groups(self, found: Mapping[str, Any]) -> None:
        prompts, ids = found["prompt_ids"], found["completion_ids"]
        size, (pad, _) = int(self.trainer.num_generations), self._special_ids()
        if len(prompts) % size == 0:
            self._groups = {
                **mixed_prompts(prompts, size),
                **prompt_variety(prompts, size, self.batches.prompts_in_all),
            }
        self._groups["seq/prompt_len_mean"] = found["prompt_mask"].sum(1, dtype=torch.float32).mean()
        self._paid, rewards = None, weighted_rewards(self.trainer)
        rewards = None if rewards is None else self._in_all.in_all(rewards, found)
        first = int(self.trainer.accelerator.process_index) * len(prompts)
        if pad is None or rewards is None or len(rewards) % size or len(rewards) < first + len(prompts):
            return
        groups = rewards.reshape(-1, size)
        paid = (groups - groups.nanmean(1, keepdim=True)).nan_to_num().reshape(-1)[first : first + len(prompts)]
        self._paid = row_signatures(prompts, ids, pad), paid.to(ids.device)
        own = rewards[first : first + len(prompts)].to(ids.device)
        if found["advantages"].shape == own.shape and not own.isinf().any():
            self._groups |= against_rewards(found["advantages"], own, found["completion_mask"].sum(1), size)
            scale = scale_of(self.trainer)
            self._groups |= {} if scale is None else beside(found["advantages"], own, size, scale)

    def _note_batch(self, inputs: Any, found: Mapping[str, Any]) -> None:
        pad, _ = self._special_ids()
        if pad is not None:
            self._drawn |= self.batches.note(found, int(self.trainer.num_generations), pad)
        if inputs:
            self._drawn |= self._template.note(inputs)

    def _reuses(self) -> bool:
        """Whether TRL's loss needs the log-probabilities that responses were drawn with, by its own settings."""
        args = getattr(self.trainer, "args", None)
        iterations, steps, micro = (
            int(getattr(args, name, None) or 1)
            for name in ("num_iterations", "steps_per_generation", "gradient_accumulation_steps")
        )
        return iterations > 1 or steps > micro

    def _unclipped(self) -> dict[str, Tensor]:
        past, self._past = self._past, None
        return {} if past is None else {"policy/clip_ignored_frac": past[1] / past[0]}  # NaN where none is past it

    def _weight(self) -> dict[str, Tensor]:
        """Sum over tokens of |derivative of the loss|, over the largest advantage: at most about 1 for a mean.

        Not read where a scaler multiplies the loss (16-bit floats), which is undone after the gradient.
        """
        largest, self._largest = self._largest, []
        if not largest or getattr(self.trainer.accelerator, "scaler", None) is not None:
            return {}
        return {"policy/loss_weight": self._sums["all"] / torch.stack(largest).max()}

    def _note_sampling(self, found: Mapping[str, Any]) -> None:
        if getattr(self.trainer, "rollout_func", None) is not None:
            return  # it samples by settings of its own, and several turns may lie in one response
        self._drawn |= sampling_temperature(self.trainer) | truncation(self.trainer)
        end, (pad, _) = self._end(), self._special_ids()
        if end is not None and pad is not None and "tool_mask" not in found:  # answers of tools follow an end
            self._groups["seq/past_end_frac"] = past_end(found["completion_ids"], pad, end)

    def _end(self) -> int | None:
        """Return the token that the tokenizer calls the end."""
        tokenizer = getattr(self.trainer, "processing_class", None)
        return getattr(getattr(tokenizer, "tokenizer", tokenizer), "eos_token_id", None)

    def _special_ids(self) -> tuple[int | None, list[int]]:
        """Return the padding and the tokens that end a response, as the trainer knows them."""
        tokenizer = getattr(self.trainer, "processing_class", None)
        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        ends: Any = getattr(self.trainer, "eos_token_ids", None) or getattr(self.trainer, "eos_token_id", None)
        ends = self._end() if ends is None else ends
        pad = getattr(self.trainer, "pad_token_id", None)
        pad = getattr(tokenizer, "pad_token_id", None) if pad is None else pad
        several = cast("list[Any]", ends if isinstance(ends, (list, tuple)) else [ends])
        return pad, [int(end) for end in several if end is not None]
