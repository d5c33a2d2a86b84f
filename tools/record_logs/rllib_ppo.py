"""Records a short PPO run of RLlib's new stack on CartPole-v1 (result.json, progress.csv, params.json, TensorBoard)."""

import shutil
import sys
from pathlib import Path

import ray
from ray import tune
from ray.rllib.algorithms.ppo import PPOConfig


def main(out: str) -> None:
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200_000_000)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .training(lr=3e-4, train_batch_size_per_learner=2000, minibatch_size=128, num_epochs=8)
        .debugging(seed=0)
    )
    work = Path(out).resolve().parent / "ray-work"
    tuner = tune.Tuner(
        "PPO",
        param_space=config,
        run_config=tune.RunConfig(storage_path=str(work), name="run", stop={"training_iteration": 20}, verbose=0),
    )
    tuner.fit()
    trial = next(p.parent for p in work.glob("run/*/result.json"))
    Path(out).mkdir(parents=True, exist_ok=True)
    for name in ("result.json", "progress.csv", "params.json"):
        shutil.copy(trial / name, Path(out) / name)
    for events in trial.glob("events.out.tfevents.*"):
        shutil.copy(events, Path(out) / events.name)
    shutil.rmtree(work)


if __name__ == "__main__":
    main(sys.argv[1])
