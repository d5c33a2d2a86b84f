"""PPO in one file, as CleanRL writes it: a command line, a TensorBoard log under `runs/`, and one mistake by name.

    python black_box_ppo.py --env-id ID --total-timesteps N [--seed S] [--mistake NAME] [--log FORMAT] [--hide]

Formats: tensorboard, csv, none. Mistakes: sign (the policy loss rises), nan (the value loss takes the root of a
negative number after some updates), leap (a learning rate of 3). `--hide` makes the environments as a process does
that does not inherit our environment.
"""

import argparse
import csv
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--env-id")
parser.add_argument("--total-timesteps", type=int)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--mistake", default="")
parser.add_argument("--log", default="tensorboard")
parser.add_argument("--hide", action="store_true")
args = parser.parse_args()
if args.hide:
    os.environ.pop("FIRSTBREAK_PROBE_RECORD", None)

import gymnasium as gym  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.distributions import Categorical, Independent, Normal  # noqa: E402

ROWS, EPOCHS, PARTS, GAMMA, LAMBDA = 256, 4, 4, 0.9, 0.95
torch.set_num_threads(1)
torch.manual_seed(args.seed)
env = gym.wrappers.RecordEpisodeStatistics(gym.make(args.env_id))
space = env.action_space
if isinstance(space, gym.spaces.MultiDiscrete):
    raise SystemExit("MultiDiscrete actions are not supported")
discrete = isinstance(space, gym.spaces.Discrete)
width = int(np.prod(env.observation_space.shape))
outs = int(space.n) if discrete else int(np.prod(space.shape))


def net(out: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, 32), nn.Tanh(), nn.Linear(32, out))


actor, critic = net(outs), net(1)
log_std = nn.Parameter(torch.zeros(outs))
rate = 3.0 if args.mistake == "leap" else 5e-3
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=rate, eps=1e-5)


class Log:
    """Scalars by step, in the format asked for."""

    def __init__(self) -> None:
        run = pathlib.Path("runs") / f"{args.env_id}__ppo__{args.seed}"
        self.writer = self.rows = None
        if args.log == "tensorboard":
            from torch.utils.tensorboard import SummaryWriter

            self.writer = SummaryWriter(str(run))
        elif args.log == "csv":
            run.mkdir(parents=True)
            self.file = (run / "progress.csv").open("w", newline="")
            self.rows = csv.writer(self.file)
            self.head = None

    def write(self, step: int, scalars: dict) -> None:
        if self.writer is not None:
            for key, value in scalars.items():
                self.writer.add_scalar(key, value, step)
        elif self.rows is not None:
            if self.head is None:
                self.head = ["global_step", *scalars]
                self.rows.writerow(self.head)
            self.rows.writerow([step, *(scalars[key] for key in self.head[1:])])

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        elif self.rows is not None:
            self.file.close()


def policy(seen: torch.Tensor):
    out = actor(seen)
    return Categorical(logits=out) if discrete else Independent(Normal(out, log_std.exp()), 1)


def to_env(action: torch.Tensor):
    if discrete:
        return int(action)
    middle, half = (space.high + space.low) / 2, (space.high - space.low) / 2
    return np.clip(middle + half * action.numpy(), space.low, space.high).astype(np.float32)


log, returns, step = Log(), [], 0
seen, _ = env.reset(seed=args.seed)
for update in range(max(args.total_timesteps // ROWS, 1)):
    rows = []
    for _ in range(ROWS):
        now = torch.as_tensor(seen, dtype=torch.float32).flatten()
        with torch.no_grad():
            distribution = policy(now)
            action = distribution.sample()
            logp, value = distribution.log_prob(action), critic(now)[0]
        seen, reward, terminated, truncated, info = env.step(to_env(action))
        with torch.no_grad():
            after = critic(torch.as_tensor(seen, dtype=torch.float32).flatten())[0] * (not terminated)
        rows.append((now, action, logp, value, float(reward), after, terminated or truncated))
        step += 1
        if terminated or truncated:
            returns.append(float(info["episode"]["r"]))
            seen, _ = env.reset()
    advantages, trace = [0.0] * ROWS, 0.0
    for t in reversed(range(ROWS)):
        _, _, _, value, reward, after, over = rows[t]
        trace = float(reward + GAMMA * after - value) + (0.0 if over else GAMMA * LAMBDA * trace)
        advantages[t] = trace
    observed, actions = torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])
    old, values = torch.stack([r[2] for r in rows]), torch.stack([r[3] for r in rows])
    advantage = torch.tensor(advantages)
    target = advantage + values
    for _ in range(EPOCHS):
        for part in torch.randperm(ROWS).chunk(PARTS):
            distribution = policy(observed[part])
            log_ratio = distribution.log_prob(actions[part]) - old[part]
            ratio = log_ratio.exp()
            scaled = (advantage[part] - advantage[part].mean()) / (advantage[part].std() + 1e-8)
            gain = torch.min(ratio * scaled, ratio.clamp(0.8, 1.2) * scaled).mean()
            error = critic(observed[part])[:, 0] - target[part]
            value_loss = 0.5 * (error**2).mean()
            if args.mistake == "nan" and update > 10:
                value_loss = (error - 10.0).sqrt().mean()
            policy_loss = gain if args.mistake == "sign" else -gain
            entropy = distribution.entropy().mean()
            optimiser.zero_grad()
            (policy_loss + 0.5 * value_loss - 0.005 * entropy).backward()
            if args.mistake != "leap":
                nn.utils.clip_grad_norm_([*actor.parameters(), log_std], 0.5)
            optimiser.step()
    varies = float(target.var())
    log.write(
        step,
        {
            "charts/episodic_return": float(np.mean(returns[-50:])) if returns else float("nan"),
            "losses/value_loss": float(value_loss),
            "losses/policy_loss": float(policy_loss),
            "losses/entropy": float(entropy),
            "losses/approx_kl": float((ratio - 1 - log_ratio).mean()),
            "losses/clipfrac": float(((ratio - 1).abs() > 0.2).float().mean()),
            "losses/explained_variance": 1.0 - float((target - values).var()) / varies if varies > 0 else float("nan"),
        },
    )
log.close()
