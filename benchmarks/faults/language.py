"""The reference trainers of language models, with what they hand to their own `log`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from copy import deepcopy
from typing import Any

import torch

from benchmarks.faults import planting
from benchmarks.faults.catalogue import Task
from benchmarks.faults.guarding import Guarded
from benchmarks.faults.plans import Plan
from benchmarks.faults.recording import Recording
from firstbreak.monitor.adapters.reference import OF_LANGUAGE, log_to
from firstbreak.trainers.language.async_grpo import AsyncGRPO, AsyncGRPOConfig
from firstbreak.trainers.language.evaluation import evaluate
from firstbreak.trainers.language.grpo import GRPO
from firstbreak.trainers.language.grpo_config import GRPOConfig
from firstbreak.trainers.language.model import TinyLM
from firstbreak.trainers.language.reward_model import RewardModel, train_reward_model
from firstbreak.trainers.language.rlhf_config import RLHFPPOConfig
from firstbreak.trainers.language.rlhf_ppo import PUZZLES, RLHFPPO
from firstbreak.trainers.language.tasks import Puzzles
from firstbreak.trainers.language.tool_agent import ToolAgent, ToolAgentConfig

MAKES: dict[str, tuple[Any, Any]] = {
    "grpo": (GRPO, GRPOConfig),
    "async_grpo": (AsyncGRPO, AsyncGRPOConfig),
    "rlhf_ppo": (RLHFPPO, RLHFPPOConfig),
    "tool_agent": (ToolAgent, ToolAgentConfig),
}
SCORE_EVERY = 5
"""Updates between two looks at the true score, on problems that were never trained on. The trainers' own evaluation is
part of the log, and may be what is broken; this one is not."""
OUTSIDE = ("reward/true_objective",)
"""Rows that no user would have: they stay out of the log."""

_STARTED: dict[str, Any] = {}
"""Warm-started models by what they were started with; a process makes many runs from a few of them."""


def train(task: Task, plan: Plan, switch_frac: float | None, recording: Recording) -> None:
    """Train once."""
    with Guarded(recording, OF_LANGUAGE[MAKES[plan.subject][0].__name__], "", "updates") as guard:
        train_guarded(task, plan, switch_frac, recording, guard)


def train_guarded(task: Task, plan: Plan, switch_frac: float | None, recording: Recording, guard: Guarded) -> None:
    """Train once, with a monitor that only watches."""
    settings, options = deepcopy(task.settings), deepcopy(task.options)
    planting.change_settings(plan.name, plan.subject, settings, options, task.total)
    total = int(options.pop("total", task.total))
    with ExitStack() as undone:
        trainer = built(plan, settings, options)
        trainer.undone, trainer.run_total = undone, total
        at = None if switch_frac is None else round(switch_frac * total)
        scorer = true_score(trainer)

        def switch() -> None:
            nonlocal at
            at = None
            recording.start_step = float(trainer.updates)
            if (plan.name, plan.subject) in planting.TRAINER:
                planting.TRAINER[plan.name, plan.subject](trainer)

        def on_row(metrics: Mapping[str, Any], step: int) -> None:
            row = {key: value for key, value in metrics.items() if key not in OUTSIDE}
            recording.log(row, step)
            tell(row, step)
            if step % SCORE_EVERY == 0:
                recording.scores.append((float(step), scorer()))
                if at is None:  # from the switch on; all of a run that has none
                    evaluation_gap(metrics, recording, step)
            if at is not None and step >= at:
                switch()

        if at == 0:
            switch()
        tell = log_to(guard.monitor, trainer)
        recording.config = settings_of(trainer, plan, total)
        trainer.learn(total, on_row)


def built(plan: Plan, settings: dict[str, Any], options: dict[str, Any]) -> Any:
    """The trainer, from a warm start that runs of one seed share."""
    make, config_of = MAKES[plan.subject]
    config = config_of(**settings)
    if plan.subject == "tool_agent":
        return make(seed=plan.seed, config=config, model=started(plan, config, None))
    puzzles = puzzles_of(plan.subject, options)
    model = started(plan, config, puzzles)
    if plan.subject != "rlhf_ppo":
        return make(seed=plan.seed, config=config, puzzles=puzzles, model=model)
    key = f"reward model/{plan.seed}"
    if key not in _STARTED:
        sampling = RLHFPPO.sampling(_Holder(config))  # pyright: ignore[reportArgumentType]
        _STARTED[key] = train_reward_model(model, puzzles, sampling, seed=plan.seed, pairs=1024, epochs=4)
    judge: RewardModel = deepcopy(_STARTED[key])
    return make(seed=plan.seed, config=config, puzzles=puzzles, model=model, reward_model=judge)


class _Holder:
    """Something with a config, for methods that ask for no more."""

    def __init__(self, config: Any) -> None:
        self.config = config


def puzzles_of(subject: str, options: Mapping[str, Any]) -> Puzzles:
    """Where problems come from."""
    if "kinds" in options:
        return Puzzles(tuple(options["kinds"]), tuple(options["levels"]))
    return PUZZLES if subject == "rlhf_ppo" else Puzzles()


def started(plan: Plan, config: Any, puzzles: Puzzles | None) -> TinyLM:
    """The model from which a run of this seed starts, made once in a process."""
    key = f"{plan.seed}/{puzzles}/{config.pass_rate}" if puzzles else f"{plan.seed}/tools"
    if key not in _STARTED:
        from firstbreak.trainers.language.warm_start import started_model

        torch.manual_seed(plan.seed)
        if puzzles is None:
            _STARTED[key] = deepcopy(ToolAgent(seed=plan.seed, config=config).model)
        else:
            _STARTED[key] = started_model(puzzles, config.pass_rate, plan.seed)
    return deepcopy(_STARTED[key])


def true_score(trainer: Any) -> Any:
    """Pass rate on held-out problems with the tokens, the tools and the verifier as they should be."""
    if isinstance(trainer, ToolAgent):
        # The whole trainer may be changed by a fault; what plays for the truth is a copy of before, with its weights.
        aside = deepcopy_light(trainer)

        def of_tools() -> float:
            aside.model = trainer.model
            return float(aside.evaluate()["reward/eval_mean"])

        return of_tools
    puzzles, tokens = trainer.puzzles, trainer.config.max_new_tokens
    return lambda: evaluate(trainer.model, puzzles, tokens)["reward/eval_mean"]


def deepcopy_light(trainer: ToolAgent) -> ToolAgent:
    """A tool agent of the same settings, which nothing is planted in."""
    return ToolAgent(seed=0, config=trainer.config, model=trainer.model)


def evaluation_gap(metrics: Mapping[str, Any], recording: Recording, step: int) -> None:
    """Keep how far the trainer's own evaluation is from the right one, made at the same step."""
    if "reward/eval_mean" in metrics:
        recording.oracle.append((step, abs(float(metrics["reward/eval_mean"]) - recording.scores[-1][1])))


def settings_of(trainer: Any, plan: Plan, total: int) -> dict[str, Any]:
    """The trainer's settings, and what a script adds."""
    found = {k: v for k, v in vars(trainer.config).items() if isinstance(v, (int, float, str, bool))}
    name = {"rlhf_ppo": "PPO"}.get(plan.subject, "GRPO")
    return {"algorithm": name, **found, "updates": total, "seed": plan.seed}
