"""RLlib's PPO on CartPole with a step size 1,000 times too large; the monitor ends the run. Needs ray[rllib].

Run: python examples/monitor_rllib.py
"""

from functools import partial

import ray
from ray.rllib.algorithms.ppo import PPOConfig

from firstbreak.monitor.adapters.rllib import OWN, MonitorCallback
from firstbreak.monitor.adapters.rllib_learner import PPOLearner

if __name__ == "__main__":
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000, log_to_driver=False)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0)
        .training(lr=0.3, train_batch_size_per_learner=512, minibatch_size=128, num_epochs=4)
        .callbacks(partial(MonitorCallback, algorithm="PPO", act={"*": "stop_training"}))
        .learners(num_learners=0, learner_class=PPOLearner)  # adds advantages and importance ratios
        .reporting(log_gradients=True)  # adds gradient norms
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    for _ in range(10):
        result = algorithm.train()
        returned = result["env_runners"].get("episode_return_mean", float("nan"))
        print(f"iteration {result['training_iteration']}: return {returned:.1f} {result.get(OWN, '')}")
        if result["done"]:
            break
    algorithm.stop()
    ray.shutdown()
