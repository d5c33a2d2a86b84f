"""A callback for TRL's trainers: GRPO, RLOO, online DPO, PPO and those derived from them.

    watch(trainer, monitor)

It reads the numbers of every update out of the trainer, whatever `logging_steps` is, before the optimiser moves, and
adds what TRL does not log: the spread of rewards within groups, the advantages, the importance ratios with their KL to
the generating policy, which tokens the loss trains and whether it follows the reward, the temperature and the mass of
sampling, whether responses go on after their end, whether prompts, responses and the template are what they were,
whether advantages are those of their responses, what a step does to the weights, and whether the reference stays; of
an evaluation, whether it asks other prompts than training does, of the policy as it is and by the same scorer. A small
sample of weights stands for all. PPO, which TRL has up to 1.12, has a loop of its own (see `trl_ppo`).

What must hold by construction is computed again and compared (`trl_identities`): the gradient of the loss by tokens and
the advantages against the settings, scores of policy and reference against a forward pass of some responses, draws
against the policy, gradients from micro-batch to step, and rows and texts that are scored against data and tokens.

Nobody is asked twice for what comes again by itself: rows as they were drawn, asked and scored, a response with its
earlier score, and the batch as it was drawn and as it is trained (`trl_on_the_way`); settings in force are compared
with those of the first update (`trl_setup`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import torch

from ..tensors import Quantities, advantages, group_spread
from .parts.obeying import harmless
from .parts.trl.data import how_many, prompt_set
from .parts.trl.in_force import betas
from .parts.trl.loss import LossTap
from .parts.trl.ppo import PpoCallback, is_ppo, watch_ppo
from .parts.trl.rewards import RewardTap
from .parts.trl.scores import floats, weighted_rewards
from .parts.trl.setup import Setup
from .parts.weights.sampled_weights import SampledWeights
from .transformers import MonitorCallback as _Callback

if TYPE_CHECKING:
    from ..core import Monitor


SAID_BY_TRL = ("reward/train_mean", "reward/train_std")
"""Logged by TRL itself, under its own keys."""


class MonitorCallback(_Callback):
    """Feeds a monitor with every update of a TRL trainer and does what it says.

    A dropped update stays dropped for as long as the trainer reuses the same generated batch (`num_iterations` above
    1): that is the rest of what TRL makes of it. Without `trainer` only what TRL logs is seen, when it logs it.

    Args:
        monitor: Gets one row an update under TRL's own keys, at the trainer's `global_step`.
        trainer: The trainer this callback is added to.
        rescore_every: Generated batches between two looks at the reward functions (see `trl_rewards`); 0 for none,
            since a look scores up to 64 responses twice, and as many
            reference answers.
    """

    def __init__(self, monitor: Monitor, trainer: Any = None, *, rescore_every: int = 0) -> None:
        super().__init__(monitor, trainer)
        self._seen: dict[str, tuple[Any, int]] = {}
        self._fresh_batch = False
        self._reference: SampledWeights | None = None
        self._loss = LossTap(trainer, monitor) if trainer is not None else None
        self._rewards = RewardTap(trainer, monitor, rescore_every) if trainer is not None and rescore_every else None
        self._setup = Setup(trainer) if hasattr(trainer, "_generate_and_score_completions") else None

    def settings(self, args: Any) -> dict[str, Any]:
        """Add the names of the reward functions, those of weight 0 being measures only, and which prompts it has."""
        found = super().settings(args)
        names = getattr(self.trainer, "reward_func_names", None)
        prompts = None
        with harmless(self.monitor, "name the prompts"):
            prompts = prompt_set(getattr(self.trainer, "train_dataset", None))
            if self._loss is not None:
                self._loss.batches.prompts_in_all = how_many(self.trainer.train_dataset)
        found |= {"reward_funcs": list(names)} if names else {}
        return {**found, "prompt_set": prompts} if prompts else found

    def row(self, optimizer: Any) -> dict[str, Any]:
        """Return TRL's numbers of this update, and what it does not log."""
        numbers = self._numbers()
        row = {**numbers, **super().row(optimizer), **(self._loss.row() if self._loss else {})}
        row |= self._rewards.row() if self._rewards else {}
        with harmless(self.monitor, "read the optimiser's settings"):
            row |= betas(optimizer, self.trainer) if self._loss is not None else {}
        with harmless(self.monitor, "read the settings in force"):
            row |= self._setup.row(optimizer) if self._setup is not None else {}
        self._fresh_batch = "reward" in numbers
        with harmless(self.monitor, "watch the reference"):
            row |= self._anchor()
        if self._fresh_batch:
            row |= self._groups() | (self._rewards.success() if self._rewards else {})
            if "policy/ratio_mean" in row and self._starts_afresh():
                row["policy/ratio_first_minibatch"] = row["policy/ratio_mean"]
        return row

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take the logged row; to that of an evaluation, what was seen of it is added."""
        logs = cast("Mapping[str, Any]", kwargs.get("logs") or {})
        if any(key.startswith("eval_") for key in logs):
            with harmless(self.monitor, "read the evaluation"):
                found = self._loss.evaluations.row() if self._loss else {}
                found |= self._rewards.evaluated() if self._rewards else {}
                kwargs = {**kwargs, "logs": {**logs, **found}}
        super().on_log(args, state, control, **kwargs)

    def batch(self) -> dict[str, Any] | None:
        """Return the newest responses with their prompts, rewards and advantages, which TRL keeps for its tables."""
        logs: Mapping[str, Any] = getattr(self.trainer, "_logs", None) or {}
        rewards: Mapping[str, Any] = logs.get("rewards") or {}
        found = {name: [str(text) for text in logs.get(name) or ()] for name in ("prompt", "completion")}
        found |= {name: floats(values) for name, values in rewards.items()}
        return {**found, "advantages": floats(logs.get("advantages") or [])} if found["completion"] else None

    def leaves_out(self, update: int) -> bool:
        """Whether the batch of an update that was left out is still in use."""
        if self._fresh_batch or self.trainer is None:
            return False
        return bool(self.dropped) and self.dropped[-1] == update - 1

    def _numbers(self) -> dict[str, float]:
        """Return the mean of what each of the trainer's lists got since the last row, as TRL itself takes it.

        TRL empties or replaces its lists when it logs, so each is known by its identity.
        """
        row: dict[str, float] = {}
        for key, values in self._lists().items():
            known, used = self._seen.get(key, (None, 0))
            start = used if known is values and used <= len(values) else 0
            self._seen[key] = (values, len(values))
            fresh = [float(value) for value in values[start:] if value is not None]
            valid = [value for value in fresh if not math.isnan(value)]
            if fresh:
                row[key] = sum(valid) / len(valid) if valid else math.nan
        return row

    def _starts_afresh(self) -> bool:
        """Whether an update with new responses holds no older ones: then every ratio in it is 1 by construction."""
        args = self.trainer.args
        reuse = int(getattr(args, "steps_per_generation", 0) or 0) * int(getattr(args, "num_iterations", 1))
        return reuse > 0 and reuse % int(args.gradient_accumulation_steps) == 0

    def _anchor(self) -> dict[str, float]:
        """Return the coefficient of the KL term in force, and whether the reference is the model that it was."""
        beta, model = getattr(self.trainer, "beta", None), getattr(self.trainer, "ref_model", None)
        found = {"policy/kl_coef": float(beta)} if isinstance(beta, int | float) else {}
        if model is None:
            return found
        self._reference = self._reference or SampledWeights(model.parameters())
        change = self._reference.change()
        return found if change is None else {**found, "policy/ref_change_frac": float(change)}

    def _lists(self) -> Mapping[str, list[Any]]:
        metrics = getattr(self.trainer, "_metrics", None)
        if metrics is not None:
            return cast(Mapping[str, list[Any]], metrics["train"])
        return cast(Mapping[str, list[Any]], getattr(self.trainer, "stats", {}))

    def _groups(self) -> dict[str, float]:
        """Return the spread of the newest generated batch, which TRL keeps for its tables, groups in a row."""
        rewards = weighted_rewards(self.trainer)
        if rewards is None:
            return {}
        quantities = Quantities()
        scored = ~rewards.isnan()
        quantities.add(group_spread(rewards.nan_to_num(), int(self.trainer.num_generations), mask=scored))
        quantities.add(advantages(torch.tensor(floats(self.trainer._logs["advantages"]), device="cpu")))
        row = {key: value for key, value in quantities.numbers().items() if key not in SAID_BY_TRL}
        # TRL's number is 0 or 1 where it scales over the whole batch; of groups it always means the same.
        row["frac_reward_zero_std"] = row.pop("group/zero_std_fraction")
        return row


def watch(trainer: Any, monitor: Monitor, *, rescore_every: int = 0) -> MonitorCallback | PpoCallback:
    """Add a callback that sees every update of `trainer` before it is taken, and return it.

    With `rescore_every`, the reward functions are asked again at every so many generated batches what they gave to the
    first one: a scorer that changes, rolls dice, pays for wrong answers or for those of other prompts shows. PPO, whose
    reward is a network, is not asked again.
    """
    if is_ppo(trainer):
        return watch_ppo(trainer, monitor)
    callback = MonitorCallback(monitor, trainer, rescore_every=rescore_every)
    trainer.add_callback(callback)
    return callback
