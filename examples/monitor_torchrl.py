"""TorchRL: one hook on a `Trainer`. Every update of this PPO is judged before, during and after."""

import sys

import torch
from tensordict.nn import TensorDictModule as Module
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import Compose, GymEnv, RewardSum, StepCounter, TransformedEnv
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE
from torchrl.trainers import DefaultOptimizationStepper, Trainer

from firstbreak.monitor import Monitor
from firstbreak.monitor.adapters.torchrl import MonitorHook

torch.manual_seed(0), torch.set_num_threads(1)
env = TransformedEnv(GymEnv("CartPole-v1"), Compose(RewardSum(), StepCounter()))
logits = Module(nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2)), ["observation"], ["logits"])
actor = ProbabilisticActor(
    logits, in_keys=["logits"], distribution_class=OneHotCategorical, return_log_prob=True, spec=env.action_spec
)
critic = ValueOperator(nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)), in_keys=["observation"])
loss = ClipPPOLoss(actor, critic)
trainer = Trainer(
    collector=Collector(env, actor, frames_per_batch=256, total_frames=1536), total_frames=1536, frame_skip=1,
    loss_module=loss, optimizer=torch.optim.Adam(loss.parameters(), lr=3e-3), num_epochs=4, optim_steps_per_batch=1,
    optimization_stepper=DefaultOptimizationStepper(), progress_bar=False,
)  # fmt: skip
trainer.register_op("pre_epoch", GAE(gamma=0.99, lmbda=0.95, value_network=critic))
with Monitor(sys.argv[1] if len(sys.argv) > 1 else "runs/monitor_torchrl", config={"gamma": 0.99}) as monitor:
    MonitorHook(monitor).register(trainer)
    trainer.train()
print(f"{monitor.rows} rows judged; the last: KL {monitor.latest['policy/kl_old']:.4f} nats, ", end="")
print(f"explained variance {monitor.latest['critic/explained_variance']:.2f}")
for alarm in monitor.alarms:
    print(f"step {alarm.at:.0f} {alarm.finding.severity} {alarm.finding.name}: {alarm.finding.message}")
