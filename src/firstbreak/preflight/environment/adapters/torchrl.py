"""TorchRL environments seen through the interface of Gymnasium."""

from __future__ import annotations

import importlib
from typing import Any

from ....errors import InputError

BOOKKEEPING = ("step_count", "episode_reward")
"""What StepCounter and RewardSum add for the log: numbers that grow by themselves, and no policy reads."""


class TorchRL:
    """An unbatched TorchRL environment as one of Gymnasium; several observation entries are put into one vector."""

    def __init__(self, env: Any) -> None:
        spaces = importlib.import_module("gymnasium.spaces")
        self.env = env
        leaves = [k for k in env.observation_spec.keys(True, True) if env.observation_spec[k].dtype.is_floating_point]
        leaves = [k for k in leaves if k not in BOOKKEEPING] or leaves
        self.keys = leaves or list(env.observation_spec.keys(True, True))
        width = sum(int(env.observation_spec[k].shape.numel()) for k in self.keys)
        self.observation_space = spaces.Box(-float("inf"), float("inf"), (width,))
        self.one_hot = type(env.action_spec).__name__ == "OneHot"
        self.action_space = self._actions(spaces)
        self.spec = None

    def _actions(self, spaces: Any) -> Any:
        spec = self.env.action_spec
        if hasattr(spec.space, "n"):
            return spaces.Discrete(int(spec.space.n))
        low, high = (b.reshape(-1).numpy() for b in (spec.space.low, spec.space.high))
        return spaces.Box(low, high, dtype=low.dtype)

    def reset(self, *, seed: int | None = None, **options: Any) -> tuple[Any, dict[str, Any]]:
        """Seed and start over."""
        del options
        if seed is not None:
            self.env.set_seed(seed)
        self.now = self.env.reset()
        return self._vector(self.now), {}

    def step(self, action: Any) -> tuple[Any, ...]:
        """Step; `action` is an index or a flat vector."""
        torch = importlib.import_module("torch")
        spec = self.env.action_spec
        if self.one_hot:
            given = torch.nn.functional.one_hot(torch.tensor(int(action)), int(spec.space.n)).to(spec.dtype)
        else:
            given = torch.as_tensor(action, dtype=spec.dtype).reshape(spec.shape)
        after = self.env.step(self.now.set(self.env.action_key, given))["next"]
        self.now = after.exclude("reward")
        terminated, done = bool(after["terminated"]), bool(after["done"])
        return self._vector(after), float(after["reward"]), terminated, done and not terminated, {}

    def _vector(self, data: Any) -> Any:
        torch = importlib.import_module("torch")
        return torch.cat([data[k].reshape(-1).float() for k in self.keys]).numpy().copy()

    def close(self) -> None:
        """Close the environment inside."""
        self.env.close()


def adapt(env: Any) -> TorchRL:
    """Return an unbatched environment behind the Gymnasium API.

    Raises:
        InputError: it steps a batch of environments at once.
    """
    if len(env.batch_size):
        hint = "Let the factory return one environment without batch dimensions."
        raise InputError(f"The TorchRL environment has batch size {tuple(env.batch_size)}.", hint)
    if hasattr(env.action_spec, "keys"):
        hint = "Return the PettingZoo parallel environment itself, or an environment with one agent and one action."
        raise InputError("The TorchRL environment has several actions, or agents.", hint)
    return TorchRL(env)
