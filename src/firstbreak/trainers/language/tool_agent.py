"""GRPO for an agent that calls tools over several turns, in the world of `tool_world`.

Tokens that a tool wrote are read by the policy and are not in the loss: it did not choose them. Success is a property
of the world's state; rewards are functions of an episode, by name, and can be replaced from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from .experience import Experience
from .grpo import GRPO
from .grpo_config import GRPOConfig
from .loop import Log
from .measures import pass_at_k
from .model import TinyLM
from .sampling import Sampling, write_one
from .symbols import ID
from .tasks import dice
from .tool_samples import Record, as_sample
from .tool_world import KINDS, Episode, answer_call, begin, errands, expert
from .warm_start import ERRORS_FRAC, imitate

EpisodeReward = Callable[[Episode], float]
HELD_OUT, TRIES, K = 16, 4, 2
"""Held-out errands of an evaluation, tries at each, the k of pass@k. Engineering default."""


@dataclass(frozen=True)
class ToolAgentConfig(GRPOConfig):
    """Settings of `ToolAgent`, beside those of GRPO. Engineering defaults."""

    kinds: tuple[str, ...] = KINDS
    """Errands: set, get, copy, add; they need one, one, two and three calls."""
    learning_rate: float = 5e-4
    """Of Adam, constant."""
    max_turns: int = 6
    """Turns after which an episode is cut."""
    max_new_tokens: int = 24
    """Tokens that the agent may write in one episode."""
    success_weight: float = 1.0
    """Weight of the reward for success."""
    call_weight: float = 0.0
    """Weight of the reward for each call; above 0 it pays for show."""
    tool_failure_frac: float = 0.0
    """Share of calls at which the tool is out of order."""


class ToolAgent(GRPO):
    """A GRPO trainer whose rollouts are episodes with tools."""

    config: ToolAgentConfig

    def __init__(
        self,
        *,
        seed: int = 0,
        config: ToolAgentConfig | None = None,
        model: TinyLM | None = None,
        record: Record | None = None,
    ) -> None:
        super().__init__(seed=seed, config=config or ToolAgentConfig(), model=model)
        self.episode_rewards: dict[str, EpisodeReward] = {
            "success": lambda episode: float(episode.success),
            "calls": lambda episode: float(len(episode.calls)),
        }
        self.record = record

    def weights(self) -> dict[str, float]:
        """Name of a reward function -> its weight."""
        return {"success": self.config.success_weight, "calls": self.config.call_weight}

    def started(self, seed: int) -> TinyLM:
        """A model that has seen episodes played with slips, until `pass_rate` of its own succeed."""
        model, chance = TinyLM(), dice(seed)
        draws = torch.Generator().manual_seed(seed)

        def good_enough() -> bool:
            episodes = [begin(errand, 0) for errand in errands(64, chance, self.config.kinds)]
            self.play(model, episodes, draws)
            return sum(episode.success for episode in episodes) / len(episodes) >= self.config.pass_rate

        imitate(
            model,
            lambda dice: expert(errands(1, dice, self.config.kinds)[0], dice, errors_frac=ERRORS_FRAC / 2).row,
            good_enough=good_enough,
            seed=seed,
        )
        return model

    # ---- data ---------------------------------------------------------------------------------------------------

    def play(self, model: TinyLM, episodes: list[Episode], draws: torch.Generator, version: int = 0) -> None:
        """Play every episode to its end."""
        sampling: Sampling = self.sampling()
        while going := [episode for episode in episodes if not (episode.row.ended or episode.row.stopped)]:
            write_one(model, [episode.row for episode in going], sampling, draws, version)
            for episode in going:
                row = episode.row
                if row.tokens[-1] != ID["]"] or row.stopped:
                    continue
                broken = self.chance.random() < self.config.tool_failure_frac
                answer_call(episode, broken=broken, version=version)
                row.stopped = episode.turns > self.config.max_turns

    def generate(self) -> Experience:
        """Draw errands, a group of episodes of each, and their rewards."""
        copies = self.config.num_generations
        drawn = errands(self.config.prompts_per_update, self.chance, self.config.kinds)
        episodes = [begin(errand, self.groups + i) for i, errand in enumerate(drawn) for _ in range(copies)]
        self.groups += len(drawn)
        with self.stopwatch("time/generate"):
            self.play(self.model, episodes, self.draws, self.updates)
        with self.stopwatch("time/reward"):
            components = {
                name: torch.tensor([float(reward(episode)) for episode in episodes])
                for name, reward in self.episode_rewards.items()
            }
        weights = self.weights()
        total = torch.stack([weights.get(name, 1.0) * values for name, values in components.items()]).sum(0)
        solved = torch.tensor([episode.success for episode in episodes])
        self.say(episodes, total, components)
        return Experience([e.row for e in episodes], total, components, solved, tool_measures(episodes))

    def say(self, episodes: list[Episode], total: torch.Tensor, components: dict[str, torch.Tensor]) -> None:
        """Give the episodes to `record`."""
        if self.record is None:
            return
        self.record(
            [
                as_sample(
                    episode,
                    reward=float(total[i]),
                    step=self.updates,
                    scores={name: float(values[i]) for name, values in components.items()},
                )
                for i, episode in enumerate(episodes)
            ]
        )

    def evaluate(self) -> dict[str, float]:
        """Success on held-out errands, always the same."""
        wanted = errands(HELD_OUT, dice(0), self.config.kinds, held_out=True)
        episodes = [begin(errand, i) for i, errand in enumerate(wanted) for _ in range(TRIES)]
        self.play(self.model, episodes, torch.Generator().manual_seed(0))
        right = [sum(episode.success for episode in episodes[TRIES * i :][:TRIES]) for i in range(HELD_OUT)]
        return {
            "reward/eval_mean": sum(right) / len(episodes),
            "reward/eval_pass_at_k": sum(pass_at_k(count, TRIES, K) for count in right) / HELD_OUT,
        }


def tool_measures(episodes: list[Episode]) -> dict[str, float]:
    """Turns, calls, failed calls, and episodes in which a tool was out of order."""
    turns = [episode.turns for episode in episodes]
    calls = [call for episode in episodes for call in episode.calls]
    measures = {
        "env/turns_mean": sum(turns) / len(turns),
        "env/turns_max": float(max(turns)),
        "env/error_fraction": sum(episode.broken for episode in episodes) / len(episodes),
        "tool/calls_mean": len(calls) / len(episodes),
    }
    return measures | ({"tool/failure_fraction": sum(call.failed for call in calls) / len(calls)} if calls else {})


def train(
    *,
    updates: int,
    seed: int,
    config: ToolAgentConfig | None = None,
    model: TinyLM | None = None,
    log: Log | None = None,
    record: Record | None = None,
) -> ToolAgent:
    """Train the agent for this many updates; `record` gets every episode."""
    trainer = ToolAgent(seed=seed, config=config, model=model, record=record)
    trainer.learn(updates, log)
    return trainer
