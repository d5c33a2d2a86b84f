"""Records the labelled Stable-Baselines3 runs of `sb3_table`: `python sb3_runs.py OUT [NAME ...]`.

Each folder holds progress.csv, monitor.csv and config.json, as a user's own script would leave them.
"""

import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from sb3_faults import Corridor, PointMass
from sb3_table import FAULTS, HEALTHY, Run
from stable_baselines3.common.callbacks import BaseCallback, CallbackList, EvalCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

CPU_SECONDS = 20.0
MONITOR_BYTES = 30_000
OWN = {"Corridor": Corridor, "PointMass": PointMass}


class Budget(BaseCallback):
    """Ends the training when it has used its share of CPU time."""

    def _on_step(self) -> bool:
        return time.process_time() - self.model.started < CPU_SECONDS


class Extra(BaseCallback):
    """What a careful user logs besides: gradient norms, advantages, Q values."""

    def _on_training_start(self) -> None:
        self.norms: dict[str, list[float]] = {}
        parts = {"grad_norm": self.model.policy} if hasattr(self.model.policy, "optimizer") else {}
        if hasattr(self.model, "critic") and hasattr(self.model, "actor"):
            parts = {"actor_grad_norm": self.model.actor, "critic_grad_norm": self.model.critic}
        for name, part in parts.items():
            part.optimizer.register_step_pre_hook(self._hook(name))

    def _hook(self, name: str):
        def note(optimiser, *_):
            grads = [p.grad for group in optimiser.param_groups for p in group["params"] if p.grad is not None]
            norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in grads]))
            self.norms.setdefault(name, []).append(float(norm))

        return note

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        for name, values in self.norms.items():
            if values:
                self.logger.record(f"train/{name}", float(np.mean(values)))
                values.clear()
        buffer = getattr(self.model, "rollout_buffer", None)
        if buffer is not None:
            for name, value in (("std", buffer.advantages.std()), ("abs_max", abs(buffer.advantages).max())):
                self.logger.record(f"train/advantage_{name}", float(value))
        elif self.model.num_timesteps > self.model.learning_starts:
            self._q_values()

    def _q_values(self) -> None:
        data = self.model.replay_buffer.sample(64)
        with torch.no_grad():
            if hasattr(self.model, "critic"):
                for name, q in zip(
                    ("q_mean", "q2_mean"), self.model.critic(data.observations, data.actions), strict=True
                ):
                    self.logger.record(f"train/{name}", float(q.mean()))
            else:
                q = self.model.q_net(data.observations)
                self.logger.record("train/q_mean", float(q.gather(1, data.actions.long()).mean()))
                self.logger.record("train/q_max", float(q.max()))


def make_env(run: Run, out: Path) -> Any:
    """Build the vectorised, monitored environment."""

    def one(index: int):
        limit = {} if run.limit is None else {"max_episode_steps": run.limit}
        env = OWN[run.env]() if run.env in OWN else gym.make(run.env, **limit)
        env = run.inside(env) if run.inside else env
        env = Monitor(env, str(out / f"{index}"))
        return run.outside(env) if run.outside else env

    env = DummyVecEnv([lambda i=i: one(i) for i in range(run.n_envs)])
    return VecNormalize(env, gamma=run.args.get("gamma", 0.99)) if run.normalise else env


def eval_callback(run: Run) -> EvalCallback:
    """Build the evaluation, in an environment of its own."""
    env = gym.make(run.env)
    env = Monitor(run.eval_wrap(env) if run.eval_wrap else env)
    return EvalCallback(env, n_eval_episodes=5, eval_freq=max(1, run.steps // 15 // run.n_envs), verbose=0)


def train(run: Run, out: Path) -> str:
    """Train and return how it ended: `""` or the error that stopped it."""
    env = make_env(run, out)
    model = run.algorithm("MlpPolicy", env, seed=run.seed, device="cpu", **run.args)
    model.started = time.process_time()
    model.set_logger(configure(str(out), ["csv"]))
    if run.after:
        run.after(model)
    calls = [Budget()] + ([eval_callback(run)] if run.evaluate else []) + ([Extra()] if run.extra else [])
    try:
        first = run.steps // 2 if run.resume else run.steps
        model.learn(first, callback=CallbackList(calls), log_interval=run.log_interval)
        if run.resume:
            resume(run, model, env, out)
    except ValueError as error:
        return str(error).splitlines()[0]
    finally:
        model.logger.close()
        env.close()
    return ""


def resume(run: Run, model: Any, env: Any, out: Path) -> None:
    """Save, load and train the second half."""
    saved = out / "model.zip"
    model.save(saved, exclude=["started"])
    custom = {"learning_rate": 0.1, "lr_schedule": lambda _: 0.1} if run.resume == "lr x100" else {}
    again = run.algorithm.load(saved, env=env, device="cpu", custom_objects=custom)
    if custom:
        again.policy.optimizer = torch.optim.Adam(again.policy.parameters(), lr=0.1, eps=1e-5)
    saved.unlink()
    again.started = model.started
    again.set_logger(configure(str(out), ["csv"]) if run.resume == "new logger" else model.logger)
    again.learn(run.steps // 2, callback=Budget(), reset_num_timesteps=False, log_interval=run.log_interval)


def compact(out: Path, run: Run) -> None:
    """Round the numbers to seven digits, thin out the monitors, and write the configuration."""
    progress = out / "progress.csv"
    rows = list(csv.reader(progress.open(encoding="utf-8")))
    with progress.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[_short(cell) for cell in row] for row in rows])
    for monitor in sorted(out.glob("*.monitor.csv")):
        lines = monitor.read_text("utf-8").splitlines()
        every = 1 + int(sum(map(len, lines)) * run.n_envs // MONITOR_BYTES)
        monitor.write_text("\n".join(lines[:2] + lines[2::every]) + "\n", "utf-8")
    algorithm = "SAC" if run.algorithm.__name__ == "TwinSAC" else run.algorithm.__name__
    config = {"env_id": run.env, "algo": algorithm, "total_timesteps": run.steps, "n_envs": run.n_envs,
              "seed": run.seed, **run.args}  # fmt: skip
    (out / "config.json").write_text(json.dumps(config, indent=1) + "\n", "utf-8")


def _short(cell: str) -> str:
    try:
        return f"{float(cell):.7g}" if "." in cell else cell
    except ValueError:
        return cell


def main(place: str, *names: str) -> None:
    torch.set_num_threads(1)
    table = HEALTHY | FAULTS
    for name in names or table:
        out = Path(place) / name
        if out.exists():
            continue
        out.mkdir(parents=True)
        began = time.process_time()
        ended = train(table[name], out)
        compact(out, table[name])
        print(f"{name}: {time.process_time() - began:.0f} s {ended}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
