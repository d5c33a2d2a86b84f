"""rsl_rl's PPO on a point that is to reach 0, guarded (5.x; pip install rsl-rl-lib)."""

import sys

import torch
from rsl_rl.env import VecEnv
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.rsl_rl import watch_runner


class Reach(VecEnv):
    """Sixteen points that are to reach 0."""

    num_envs, num_actions, max_episode_length, device, cfg = 16, 1, 20, "cpu", {}
    episode_length_buf, at = torch.zeros(16, dtype=torch.long), torch.ones(16, 1)

    def get_observations(self):
        """Return where they are."""
        return TensorDict({"policy": self.at.clone()}, batch_size=[16])

    def step(self, actions):
        """Move them; after 20 steps they begin anew."""
        self.episode_length_buf = (self.episode_length_buf + 1) % self.max_episode_length
        done = self.episode_length_buf == 0
        self.at = torch.where(done[:, None], torch.randn(16, 1), self.at + 0.3 * actions.clamp(-1, 1))
        return self.get_observations(), -self.at.abs().squeeze(-1), done.long(), {"time_outs": done.float()}


net, noise = {"class_name": "MLPModel", "hidden_dims": [16]}, {"class_name": "GaussianDistribution"}
settings = {"num_steps_per_env": 24, "save_interval": 50, "obs_groups": {}, "critic": net}
models = {"actor": {**net, "distribution_cfg": noise}, "algorithm": {"class_name": "PPO"}}
folder = sys.argv[1] if len(sys.argv) > 1 else "runs/rsl_rl"
with Monitor(folder, act={"numerics": "stop_training"}) as monitor:
    runner = OnPolicyRunner(Reach(), {**settings, **models}, folder)
    watch_runner(runner, monitor)
    runner.learn(20)  # a verdict to stop leaves it with TrainingStopped
print(f"{monitor.rows} iterations judged, alarms: {[alarm.finding.name for alarm in monitor.alarms]}")
