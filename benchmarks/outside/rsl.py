"""rsl_rl's runner and its own TensorBoard log, on many small worlds at once, as legged robots are trained."""

from __future__ import annotations

import contextlib
import io
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from tensordict import TensorDict

from benchmarks.outside.switches import PlannedStop, Planted, Truth

WORLDS, STEPS = 64, 60
SETTINGS: dict[str, Any] = {
    "num_steps_per_env": 24, "iterations": 120, "learning_rate": 1e-3, "schedule": "adaptive", "desired_kl": 0.01,
    "gamma": 0.98, "lam": 0.95, "entropy_coef": 0.005, "num_learning_epochs": 5, "num_mini_batches": 4,
    "clip_param": 0.2, "value_loss_coef": 1.0, "max_grad_norm": 1.0,
}  # fmt: skip


class Hover:
    """A mass on a line under a steady wind must stay near its goal; outside of the walls it falls.

    A step pays how near it is, less effort; the episode ends at the wall, or by its time limit.
    """

    def __init__(self, planted: Planted, truth: Truth, seed: int) -> None:
        self.num_envs, self.num_actions, self.max_episode_length = WORLDS, 1, STEPS
        self.device, self.cfg = "cpu", {}
        self.planted, self.truth = planted, truth
        self.chance = torch.Generator().manual_seed(seed)
        self.state = torch.zeros(WORLDS, 3)
        self.total = torch.zeros(WORLDS)
        self.episode_length_buf = torch.zeros(WORLDS, dtype=torch.long)
        self.begin(torch.ones(WORLDS, dtype=torch.bool))

    def begin(self, rows: torch.Tensor) -> None:
        """Begin an episode in `rows` [WORLDS]."""
        n = int(rows.sum())
        place, speed = torch.empty(n).uniform_(-0.8, 0.8, generator=self.chance), torch.zeros(n)
        wind = torch.empty(n).uniform_(-0.4, 0.4, generator=self.chance)
        self.state[rows] = torch.stack([place, speed, wind], 1)
        self.total[rows], self.episode_length_buf[rows] = 0.0, 0

    def get_observations(self) -> TensorDict:
        seen = self.state.clone()
        if self.planted.on("sensor-offset"):
            seen[:, 0] += 1.0
        return TensorDict({"policy": seen}, batch_size=[WORLDS])

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        on = self.planted.on
        push = (actions[:, 0] * (-1 if on("actuator-reversed") else 1)).clamp(-1, 1)
        place, speed, wind = self.state.unbind(1)
        speed = 0.95 * speed + 0.1 * (push + wind)
        place = place + 0.2 * speed
        self.state = torch.stack([place, speed, wind], 1)
        self.episode_length_buf += 1
        paid = 1 - place.abs().clamp(max=1) - 0.05 * push.square()
        fallen, late = place.abs() > 1.5, self.episode_length_buf >= STEPS
        self.total += paid
        done = fallen | late
        self.truth.steps += WORLDS
        self.truth.episodes += [(self.truth.steps, float(x)) for x in self.total[done]]
        reward = paid * 1000 if on("reward-x1000") else -paid if on("cost-as-reward") else paid
        self.begin(done)
        extras = {"time_outs": late & ~fallen, "log": {"/effort": push.square().mean()}}
        return self.get_observations(), reward, done, extras


def configuration(given: dict[str, Any]) -> dict[str, Any]:
    """Return rsl_rl's configuration."""
    own = {**SETTINGS, **given}
    steps = own.pop("num_steps_per_env")
    own.pop("iterations", None)
    own.pop("stop_at", None)
    net = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "elu"}
    noise = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    return {
        "num_steps_per_env": steps, "save_interval": 10**9, "logger": "tensorboard",
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**net, "distribution_cfg": noise}, "critic": dict(net), "algorithm": {"class_name": "PPO", **own},
    }  # fmt: skip


def no_model(path: str, infos: Any = None) -> None:
    """Keep no weights: logs only are kept."""


def train(given: dict[str, Any], seed: int, planted: Planted, folder: Path) -> None:
    """Train once; the log lands in `folder`."""
    from rsl_rl.runners import OnPolicyRunner
    from rsl_rl.utils.logger import Logger

    Logger._store_code_state = lambda self: []  # type: ignore[method-assign]  # no copy of the source tree beside the log
    torch.manual_seed(seed)
    own = {**SETTINGS, **given}
    runner: Any = OnPolicyRunner(Hover(planted, planted.truth, seed), deepcopy(configuration(given)), str(folder))
    runner.save = no_model
    update = runner.alg.update

    def watched() -> Any:
        told = update()
        if planted.truth.steps >= own.get("stop_at", float("inf")):
            raise PlannedStop
        return told

    runner.alg.update = watched
    with contextlib.redirect_stdout(io.StringIO()):
        runner.learn(own["iterations"])
