"""PettingZoo parallel environments: one agent's view, the others acting at random; what is wrong is written down."""

from __future__ import annotations

from typing import Any

from .other_agents import OtherAgent


class OneAgent:
    """The first agent of a parallel environment as a single environment.

    The other agents draw their actions from their own spaces, seeded with the episode, and what they are given is held
    to the contract. The episode ends when the first agent leaves. `complaints` holds breaches of the parallel contract
    not yet taken by the reader: (kind, sentence).
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.agent = env.possible_agents[0]
        self.observation_space, self.action_space = env.observation_space(self.agent), env.action_space(self.agent)
        self.spec = None
        self.others = [OtherAgent(a, env.observation_space(a)) for a in env.possible_agents if a != self.agent]
        self.complaints: list[tuple[str, str]] = []

    def reset(self, *, seed: int | None = None, **options: Any) -> tuple[Any, Any]:
        """Start all agents over and return the first one's observation."""
        observations, infos = self.env.reset(seed=seed, **options)
        for number, agent in enumerate(self.env.possible_agents):
            self.env.action_space(agent).seed(None if seed is None else seed + number)
        self._complete("observation", observations, self.env.agents)
        for other in self.others:
            self._held(other.wrong_start(observations))
        self.last = observations[self.agent]
        return self.last, infos.get(self.agent, {})

    def step(self, action: Any) -> tuple[Any, ...]:
        """Step all agents; the first takes `action`."""
        live = list(self.env.agents)
        actions = {a: action if a == self.agent else self.env.action_space(a).sample() for a in live}
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        parts = (
            ("observation", observations),
            ("reward", rewards),
            ("terminated", terminated),
            ("truncated", truncated),
        )
        for name, part in parts:
            self._complete(name, part, live)
        for other in self.others:
            self._held(other.wrong_step(observations, rewards, terminated, truncated))
        mine = self.agent
        self.last = observations.get(mine, self.last)
        ends = terminated.get(mine, mine not in live), truncated.get(mine, False)
        return self.last, rewards.get(mine, 0.0), *ends, infos.get(mine, {})

    def _complete(self, name: str, part: Any, live: list[Any]) -> None:
        missing = [a for a in live if a not in part]
        if missing:
            self.complaints.append(("agent-left-out", f"the {name} of live agent {missing[0]} is missing"))

    def _held(self, wrong: str) -> None:
        if wrong:
            self.complaints.append(("other-agent-malformed", wrong))

    def close(self) -> None:
        """Close the environment inside."""
        self.env.close()


def adapt(env: Any) -> OneAgent:
    """Return the first agent's view behind the Gymnasium API."""
    return OneAgent(env)
