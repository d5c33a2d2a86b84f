"""Scores a few responses with the trainer's own model, by itself, and holds what the trainer has against it.

By construction, whatever the task: the log-probabilities in the loss are those of the model, those of the reference are
the reference's, at the same prompts; and responses are draws from the policy. Of a draw, log-probability plus entropy
is 0 in the mean at every token, and so is "it ended" less the probability of the end: sums of martingale differences,
whose variance the model says. Two responses of a group are alike as often as the policy is likely to repeat itself.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from ....tensors.token_loss import BASES, signatures
from ..obeying import harmless
from ..weights.stepping import APART
from ..weights.untouched import untouched
from .draws import Draws, Scored, Sum, bernstein, drawn, score

if TYPE_CHECKING:
    from ....core import Monitor

ROWS = 16
"""Responses that are scored at a look, whole groups if they fit. Engineering default: a sixteenth of a usual update."""
EVERY = 2
"""Generated batches from one look to the next. Engineering default."""
GROUPS, KEPT = 24, 96
"""Groups from which repeats are judged, at least and at most."""
GAP, REFERENCE = "policy/logprob_recomputed_gap", "policy/ref_logprob_recomputed_gap"
UNLIKE, END, REPEATS = "sample/unlike_policy_z", "sample/end_unlike_policy_z", "sample/repeats_z"
EXCESS, SHIFT = "sample/repeats_excess_frac", "sample/unlike_policy_nats"
CHOSEN, CHOSEN_SHIFT = "sample/engine_choice_z", "sample/engine_choice_nats"
EVALUATED, EVALUATED_ENDS = "eval/unlike_policy_z", "eval/end_unlike_policy_z"
AGREED = 0.02
"""Mean distance of an engine's log-probabilities from the model's, in nats, up to which both are one policy: kernels of
16 bits stay below it. Engineering default."""
LONG = (8, 32)
"""Newest micro-batches of an engine's responses that are summed up; of both, the sum counts that stands out more."""
SUFFIXES = (1, 2, 4, 8)
"""Newest evaluations that are summed up: they are few, so that those from before a break would hide it for long."""
ASKED = 64
"""Responses of an evaluation that are scored at most."""


class OwnScores:
    """Looks at some responses of every second generated batch of `trainer`.

    Args:
        trainer: Of one device or plainly copied to several; models that are spread over devices are left alone.
        monitor: Told where something could not be read.
    """

    def __init__(self, trainer: Any, monitor: Monitor) -> None:
        self.trainer, self.monitor = trainer, monitor
        self._batches = 0
        self._draws_of, self._evaluated = Draws(), Draws(SUFFIXES)
        self._chosen: deque[tuple[Sum, float]] = deque(maxlen=max(LONG))
        self._repeats: deque[tuple[float, float]] = deque(maxlen=KEPT)
        """Of each group: the share of its pairs that are alike, and the share that the policy expects."""
        self._fresh: tuple[Tensor, Scored] | None = None
        """Of the batch generated last, while no step has been taken since: what tells responses apart, and scores."""
        self._gaps: list[Tensor] = []
        """Of each micro-batch [2]: distance summed over the tokens that both scored, and how many those are."""
        self._pairs: list[Tensor] = []
        """Of each micro-batch [3, B]: pairs of each prompt that are alike, that the policy expects, and all."""
        self._engine: list[Tensor] = []
        """Of each micro-batch [5]: what `_note_chosen` sums up. All three are read with the row, in one transfer."""
        self._new = False
        """Whether no step has been taken since the batch was generated."""

    def look(self, found: Mapping[str, Any], pad: int, end: int) -> dict[str, float]:
        """Return what a few responses of a generated batch say."""
        due, self._batches = self._batches % EVERY == 0, self._batches + 1
        self._fresh, self._new = None, True
        self._pairs, self._engine = [], []
        if not due or not self._readable(found):
            return {}
        size, rows = int(self.trainer.num_generations), len(found["completion_ids"])
        first = self._batches % max(1, rows // size) * size
        some = [(first + i) % rows for i in range(min(rows, max(size, ROWS // size * size)))][: max(ROWS, 2)]
        part = {name: found[name][some] for name in ("prompt_ids", "prompt_mask", "completion_ids", "completion_mask")}
        scored = self._scored(self.trainer.model, part, pad, end)
        self._fresh = signed(part, pad), scored
        row = self._against(found, some, scored, "old_per_token_logps", GAP)
        reference = getattr(self.trainer, "ref_model", None)
        if reference is not None and found.get("ref_per_token_logps") is not None:
            theirs = self._scored(reference, part, pad, end)
            row |= self._against(found, some, theirs, "ref_per_token_logps", REFERENCE)
        return row | self._draws(part, scored, end)

    def evaluated(self, found: Mapping[str, Any], pad: int, end: int) -> dict[str, float]:
        """Return whether the responses of an evaluation are draws from the policy as it is now."""
        if not self._readable(found) or self._transformed() or not len(found["completion_ids"]):
            return {}
        names = "prompt_ids", "prompt_mask", "completion_ids", "completion_mask"
        part = {name: found[name][:ASKED] for name in names}
        drawn, ended, _ = self._evaluated.add(
            self._scored(self.trainer.model, part, pad, end), part["completion_ids"], end
        )
        return {EVALUATED: drawn, EVALUATED_ENDS: ended}

    def in_the_loss(self, logps: Tensor, inputs: Mapping[str, Any], pad: int, entropies: Any = None) -> None:
        """Compare the log-probabilities of a micro-batch's loss, before any step, with those of the look."""
        if self._new:
            self._note_alike(logps, inputs, pad)
            self._note_chosen(logps, entropies, inputs)
        if self._fresh is None or not self._plain():
            return
        known, scored = self._fresh
        same = signed(inputs, pad)[:, None] == known
        mine, width = same.int().argmax(1), min(logps.shape[1], scored.logps.shape[1])
        # Whether any is there is not asked: the answer would make the step wait for the device.
        there, mask = same.any(1) & inputs["completion_mask"].any(1), scored.mask[mine, :width]
        gap = ((logps[:, :width].float() - scored.logps[mine, :width]).abs() * mask).sum(1)
        sums = torch.where(there, gap, 0.0).sum(), torch.where(there, mask.sum(1), 0).sum().float()
        self._gaps.append(torch.stack(sums).detach())

    def stepped(self) -> None:
        """Say that the weights are about to move."""
        self._fresh, self._new = None, False

    def row(self) -> dict[str, float]:
        """Return the distance in the loss since the last call."""
        gaps, self._gaps = self._gaps, []
        self._read()
        alike = {**self._alike(), **self._choice()} if self._new else {}
        pairs = _table(torch.stack(gaps)) if gaps else []
        apart = [off / tokens for off, tokens in pairs if tokens]
        return {**alike, GAP: sum(apart) / len(apart)} if apart else alike

    def _readable(self, found: Mapping[str, Any]) -> bool:
        kind = getattr(getattr(self.trainer, "accelerator", None), "distributed_type", "")
        apart = str(getattr(kind, "name", kind)).upper().split(".")[-1] in APART
        own = any(getattr(self.trainer, name, None) for name in ("tools", "rollout_func", "environment_factories"))
        return not apart and not own and "pixel_values" not in found

    def _plain(self) -> bool:
        """Whether the loss scores without dropout: then both ways of scoring are one."""
        parts = self.trainer.model.modules()
        return not any(getattr(part, "p", 0.0) for part in parts if isinstance(part, torch.nn.Dropout))

    def _scored(self, model: Any, part: Mapping[str, Any], pad: int, end: int) -> Scored:
        model = self.trainer.accelerator.unwrap_model(model)
        ids = torch.cat([part["prompt_ids"], part["completion_ids"]], 1)
        seen, size = torch.cat([part["prompt_mask"], drawn(part, pad, end)], 1), part["completion_ids"].shape[1]
        with untouched(model), self.trainer.accelerator.autocast():
            return score(model, ids, seen, size, float(getattr(self.trainer, "temperature", 1.0) or 1.0), end)

    def _against(
        self, found: Mapping[str, Any], some: list[int], scored: Scored, name: str, metric: str
    ) -> dict[str, float]:
        theirs = found.get(name)
        if theirs is None or not self._plain():
            return {}
        mask = scored.mask * found["completion_mask"][some].any(1, keepdim=True)  # what is left out has no score
        gap = (theirs[some].float() - scored.logps).abs() * mask
        return {metric: float(gap.sum() / mask.sum())}

    def _draws(self, part: Mapping[str, Any], scored: Scored, end: int) -> dict[str, float]:
        """Hold the responses against the policy that they should be drawn from, over the last looks."""
        if self._transformed():
            return {}
        of_draws, of_ends, nats = self._draws_of.add(scored, part["completion_ids"], end)
        return {UNLIKE: of_draws, END: of_ends, SHIFT: nats}

    def _note_chosen(self, logps: Tensor, entropies: Any, inputs: Mapping[str, Any]) -> None:
        """Hold the responses of an engine against the policy, where by its own log-probabilities it is the same.

        All of a micro-batch, since the loss has scored them. What the policy says of the variance is not known then: it
        is taken as what it was, and at least as that of two tokens with the same entropy H, about H (1 + log 1/H). What
        was never drawn would else seem certain.
        """
        theirs, mask = inputs.get("sampling_per_token_logps"), inputs["completion_mask"]
        if not isinstance(entropies, Tensor) or theirs is None or not self._engine_is_plain():
            return
        if not theirs.shape == entropies.shape == logps.shape == mask.shape:
            return
        gap = (theirs.float().nan_to_num() - logps.float()).abs() * mask
        off = (logps.float() + entropies.detach().float()) * mask
        h = entropies.detach().float().clamp(min=1e-9) * mask
        least = (h * (1 - h.clamp(min=1e-9, max=1.0).log())).sum()
        sums = [off.sum(), torch.maximum(off.square().sum(), least), off.abs().max(), gap.sum(), mask.sum()]
        self._engine.append(torch.stack([s.float() for s in sums]))

    def _read(self) -> None:
        """Bring over what micro-batches left on the device."""
        pairs, engine = self._pairs, self._engine
        self._pairs, self._engine = [], []
        for total, variance, largest, apart, tokens in _table(torch.stack(engine)) if engine else []:
            if tokens and apart / tokens <= AGREED:
                self._chosen.append((Sum(total, variance, max(1.0, largest)), tokens))
        for alike, wanted, count in _table(torch.cat(pairs, 1).T) if pairs else []:
            if count > 0:
                self._repeats.append((alike / count, wanted / count))

    def _choice(self) -> dict[str, float]:
        if not self._chosen:
            return {}
        z, nats = 0.0, 0.0
        for size in LONG:
            newest = list(self._chosen)[-size:]
            here = bernstein([one for one, _ in newest])
            if abs(here) >= abs(z):
                z, nats = here, sum(one.total for one, _ in newest) / sum(tokens for _, tokens in newest)
        return {CHOSEN: z, CHOSEN_SHIFT: nats}

    def _engine_is_plain(self) -> bool:
        """Whether an engine draws, at the temperature that is scored, from all tokens."""
        engine = getattr(self.trainer, "vllm_generation", None)
        source = engine if hasattr(engine, "temperature") else getattr(self.trainer, "args", None)
        over = cast("dict[str, Any]", getattr(source, "generation_kwargs", None) or {})
        warm = float(getattr(source, "temperature", None) or 1.0)
        neutral = {
            "top_p": (None, 1.0),
            "top_k": (None, 0, -1),
            "min_p": (None, 0.0),
            "repetition_penalty": (None, 1.0),
        }
        return (
            bool(getattr(self.trainer, "use_vllm", False))
            and not over
            and abs(warm - float(getattr(self.trainer, "temperature", None) or 1.0)) < 1e-6
            and all(getattr(source, name, None) in values for name, values in neutral.items())
        )

    def _note_alike(self, logps: Tensor, inputs: Mapping[str, Any], pad: int) -> None:
        """Take, of each prompt in a micro-batch, the share of its pairs that are alike and what the policy expects.

        Of two independent draws, the second is like the first with the first one's probability.
        """
        ids, mask = inputs["completion_ids"], inputs["completion_mask"]
        if ids.shape != logps.shape or self._transformed():
            return
        asked = signatures((inputs["prompt_ids"] - pad).flip(1), BASES[0])
        said = signatures((ids + 1) * mask, BASES[1])
        chance = (logps.float() * mask).sum(1).exp()
        pairs = (asked[:, None] == asked).float().triu(1)
        alike = pairs * (said[:, None] == said)
        wanted = pairs * (chance[:, None] + chance) / 2
        # One row of the table for each prompt: pairs are counted at the first response of theirs.
        first = (asked[:, None] == asked).int().argmax(1)
        sums = torch.zeros(3, len(ids), device=ids.device).index_add_(
            1, first, torch.stack([alike.sum(1), wanted.sum(1), pairs.sum(1)])
        )
        self._pairs.append(sums)

    def _alike(self) -> dict[str, float]:
        """Return how much more often pairs of a group were alike than independent draws, over the last groups."""
        if len(self._repeats) < GROUPS:
            return {}
        size = int(self.trainer.num_generations)
        off = torch.tensor([a - b for a, b in self._repeats], device="cpu")
        spread = float(off.std() / math.sqrt(len(off)))
        # No smaller than what the expected share alone spreads by, for pairs that were independent.
        least = math.sqrt(max(sum(b * (1 - b) for _, b in self._repeats), 0.0) / (size * (size - 1) / 2)) / len(off)
        return {EXCESS: float(off.mean()), REPEATS: float(off.mean()) / max(spread, least, 1e-3)}

    def _transformed(self) -> bool:
        """Whether settings say that responses are drawn from another distribution than is scored, or by an engine."""
        if getattr(self.trainer, "use_vllm", False):
            return True  # its own log-probabilities are compared by TRL itself
        settings = getattr(self.trainer, "generation_config", None)
        if settings is None or not getattr(settings, "do_sample", False):
            return True
        warm = getattr(settings, "temperature", None)
        scored = float(getattr(self.trainer, "temperature", 1.0) or 1.0)
        narrow = [
            (getattr(settings, "top_p", None) or 1.0) < 1.0,
            (getattr(settings, "top_k", None) or 0) > 0,
            (getattr(settings, "min_p", None) or 0.0) > 0.0,
            abs((1.0 if warm is None else float(warm)) - scored) > 1e-6,
            (getattr(settings, "repetition_penalty", None) or 1.0) != 1.0,
        ]
        return any(narrow)


def signed(batch: Mapping[str, Any], pad: int) -> Tensor:
    """A number [B] for each prompt with its response that does not change with the padding."""
    prompt = signatures((batch["prompt_ids"] - pad).flip(1), BASES[0])
    return prompt + signatures(batch["completion_ids"] - pad, BASES[1])


def _table(values: Tensor) -> list[list[float]]:
    return cast("list[list[float]]", cast(Any, values).tolist())


def watched(trainer: Any, monitor: Monitor) -> OwnScores | None:
    """Return what looks at `trainer`, where it scores tokens in TRL's way."""
    with harmless(monitor, "score responses by itself"):
        if hasattr(trainer, "_generate_and_score_completions") and hasattr(trainer, "num_generations"):
            return OwnScores(trainer, monitor)
    return None
