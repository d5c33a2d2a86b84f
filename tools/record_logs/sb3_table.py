"""The recorded Stable-Baselines3 runs: HEALTHY, and FAULTS with the one fault each and the link where it sits.

The links were written down before any of the runs was diagnosed.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sb3_faults import Actions, Endings, Observations, Rewards, TwinSAC, from_step, nan_from, sometimes
from stable_baselines3 import A2C, DQN, PPO, SAC, TD3


@dataclass(frozen=True)
class Run:
    """One run. `inside` wraps the task below the Monitor, `outside` above it; `eval_wrap` only where it is evaluated.

    `faulty` gives the link for a run with a fault; `sure` is False where the log may not be able to show it.
    """

    algorithm: type
    env: str
    steps: int
    args: dict[str, Any] = field(default_factory=dict)
    n_envs: int = 1
    seed: int = 0
    normalise: bool = False
    inside: Callable[[Any], Any] | None = None
    outside: Callable[[Any], Any] | None = None
    limit: int | None = None
    evaluate: bool = False
    eval_wrap: Callable[[Any], Any] | None = None
    extra: bool = False
    resume: str = ""
    after: Callable[[Any], None] | None = None
    log_interval: int = 1
    verdict: str = "healthy"
    link: str = ""
    note: str = ""


ZOO_CARTPOLE = {
    "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20, "learning_rate": 1e-3
}  # fmt: skip
PLAIN = {"n_steps": 256, "batch_size": 128, "n_epochs": 6, "learning_rate": 1e-3}
ACROBOT = {"n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4, "batch_size": 256}
PENDULUM = {"n_steps": 512, "gamma": 0.9, "n_epochs": 8, "learning_rate": 1e-3, "batch_size": 256}
NET = {"net_arch": [64, 64]}
SMALL_SAC = {"learning_starts": 200, "train_freq": 2, "batch_size": 128, "learning_rate": 1e-3, "policy_kwargs": NET}
SMALL_TD3 = {**SMALL_SAC, "learning_starts": 400}
DQN_CARTPOLE = {
    "learning_rate": 2.3e-3, "batch_size": 64, "buffer_size": 50_000, "learning_starts": 1000, "train_freq": 256,
    "gradient_steps": 128, "target_update_interval": 10, "exploration_fraction": 0.16, "exploration_final_eps": 0.04,
    "policy_kwargs": {"net_arch": [128, 128]},
}  # fmt: skip
DQN_CAR = {
    "learning_rate": 4e-3, "batch_size": 128, "buffer_size": 10_000, "learning_starts": 1000, "gamma": 0.98,
    "train_freq": 16, "gradient_steps": 8, "target_update_interval": 600, "exploration_fraction": 0.2,
    "exploration_final_eps": 0.07, "policy_kwargs": {"net_arch": [128, 128]},
}  # fmt: skip
UNSURE = "healthy or undecided"

HEALTHY: dict[str, Run] = {
    "ppo_cartpole": Run(PPO, "CartPole-v1", 40_000, ZOO_CARTPOLE, n_envs=8, seed=1),
    "ppo_cartpole_seed2": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, seed=2),
    "ppo_cartpole_long": Run(PPO, "CartPole-v1", 70_000, ZOO_CARTPOLE, n_envs=8, seed=3, note="long after solved"),
    "ppo_cartpole_eval": Run(PPO, "CartPole-v1", 25_000, PLAIN, n_envs=4, seed=4, evaluate=True),
    "ppo_cartpole_extra": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, seed=5, extra=True),
    "ppo_tiny_lr": Run(PPO, "CartPole-v1", 15_000, {**PLAIN, "learning_rate": 1e-5}, n_envs=4, verdict=UNSURE,
                       note="learning rate 1e-5: slow, not faulty"),
    "ppo_target_kl": Run(PPO, "CartPole-v1", 30_000, {**PLAIN, "target_kl": 0.01}, n_envs=4),
    "ppo_few_rows": Run(PPO, "CartPole-v1", 8_000, {"n_steps": 2048}, verdict=UNSURE, note="four rows"),
    "ppo_resumed": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, seed=6, resume="same logger",
                       note="saved, loaded and trained on with reset_num_timesteps=False"),
    "ppo_resumed_folder": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, seed=7, resume="new logger", verdict=UNSURE,
                              note="the resumed half wrote progress.csv anew; monitor.csv holds both halves"),
    "ppo_acrobot": Run(PPO, "Acrobot-v1", 40_000, ACROBOT, n_envs=8, normalise=True),
    "ppo_mountaincar": Run(PPO, "MountainCar-v0", 20_000, PLAIN, n_envs=4, verdict="undecided or broken",
                           link="reward_signal", note="never reaches the goal: the return is -200 throughout"),
    "ppo_pendulum": Run(PPO, "Pendulum-v1", 40_000, PENDULUM, n_envs=4),
    "ppo_pendulum_short": Run(PPO, "Pendulum-v1", 20_000, {"n_steps": 1024}, verdict=UNSURE,
                              note="default settings do not solve it in this budget"),
    "ppo_corridor": Run(PPO, "Corridor", 20_000, {**PLAIN, "n_steps": 128}, n_envs=4,
                        note="entropy falls because the task is solved"),
    "ppo_point": Run(PPO, "PointMass", 30_000, PENDULUM, n_envs=4, note="return negative throughout"),
    "a2c_cartpole": Run(A2C, "CartPole-v1", 40_000, {"n_steps": 5}, n_envs=8, log_interval=20),
    "a2c_acrobot": Run(A2C, "Acrobot-v1", 40_000, {}, n_envs=8, normalise=True, log_interval=20),
    "a2c_pendulum": Run(A2C, "Pendulum-v1", 30_000, {"gamma": 0.95, "use_rms_prop": False}, n_envs=8, normalise=True,
                        log_interval=20, verdict=UNSURE, note="not solved in this budget"),
    "dqn_cartpole": Run(DQN, "CartPole-v1", 40_000, DQN_CARTPOLE, log_interval=10),
    "dqn_cartpole_eval": Run(DQN, "CartPole-v1", 30_000, DQN_CARTPOLE, seed=1, log_interval=10, evaluate=True),
    "dqn_mountaincar": Run(DQN, "MountainCar-v0", 40_000, DQN_CAR, log_interval=10, verdict=UNSURE,
                           note="sparse: -200 for a long while"),
    "dqn_acrobot": Run(DQN, "Acrobot-v1", 30_000, {**DQN_CARTPOLE, "target_update_interval": 250}, log_interval=4),
    "sac_pendulum": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, seed=1),
    "sac_pendulum_extra": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, seed=2, extra=True),
    "sac_point": Run(SAC, "PointMass", 4_000, SMALL_SAC, log_interval=2, note="return negative throughout"),
    "sac_mountaincar": Run(SAC, "MountainCarContinuous-v0", 12_000, {
        "batch_size": 256, "ent_coef": 0.1, "train_freq": 32, "gradient_steps": 16, "gamma": 0.9999, "tau": 0.01,
        "use_sde": True, "policy_kwargs": {"net_arch": [64, 64], "log_std_init": -3.67}}, verdict=UNSURE,
        note="sparse reward"),
    "td3_pendulum": Run(TD3, "Pendulum-v1", 4_000, SMALL_TD3, seed=1),
    "td3_point": Run(TD3, "PointMass", 4_000, SMALL_TD3, log_interval=2),
}  # fmt: skip


def scaled(factor: float) -> Callable[[Any], Any]:
    """Return a wrapper that multiplies the reward."""
    return lambda env: Rewards(env, lambda reward, step, rng: factor * reward)


def _critic_lr(model: Any) -> None:
    """Set the critic's learning rate to 0.3 for good: SB3 resets it from the schedule at each update."""
    for group in model.critic.optimizer.param_groups:
        group["lr"] = 0.3
    model._update_learning_rate = lambda optimisers: None


FAULTY = "broken"
HIDDEN = "broken or undecided"
FAULTS: dict[str, Run] = {
    "ppo_lr_x100": Run(PPO, "CartPole-v1", 20_000, {**PLAIN, "learning_rate": 0.1}, n_envs=4, verdict=FAULTY,
                       link="policy_update", note="learning rate 0.1"),
    "ppo_acrobot_lr_x100": Run(PPO, "Acrobot-v1", 40_000, {**ACROBOT, "learning_rate": 0.03}, n_envs=8, normalise=True,
                               verdict=FAULTY, link="policy_update", note="learning rate 0.03"),
    "ppo_lr_x30_extra": Run(PPO, "CartPole-v1", 20_000, {**PLAIN, "learning_rate": 0.03}, n_envs=4, extra=True,
                            verdict=FAULTY, link="policy_update", note="learning rate 0.03"),
    "ppo_epochs_x8": Run(PPO, "CartPole-v1", 8_000, {**PLAIN, "n_epochs": 48, "batch_size": 16, "n_steps": 128},
                         n_envs=4, verdict=FAULTY, link="policy_update", note="48 epochs of minibatches of 16"),
    "ppo_clip_100": Run(PPO, "CartPole-v1", 25_000, {**PLAIN, "clip_range": 100.0}, n_envs=4, verdict=HIDDEN,
                        link="policy_update", note="clip range 100: no clipping"),
    "ppo_pendulum_clip_100": Run(PPO, "Pendulum-v1", 30_000, {**PENDULUM, "clip_range": 100.0}, n_envs=4,
                                 verdict=HIDDEN, link="policy_update", note="clip range 100: no clipping"),
    "ppo_reward_x1000": Run(PPO, "Pendulum-v1", 30_000, PENDULUM, n_envs=4, outside=scaled(1000), verdict=FAULTY,
                            link="reward_signal", note="training reward x1000 above the Monitor"),
    "sac_reward_x100": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, outside=scaled(100), verdict=FAULTY,
                           link="reward_signal", note="training reward x100 above the Monitor"),
    "sac_reward_x1000_extra": Run(SAC, "PointMass", 4_000, SMALL_SAC, log_interval=2, outside=scaled(1000), extra=True,
                                  verdict=FAULTY, link="reward_signal", note="training reward x1000"),
    "ppo_reward_constant": Run(PPO, "Pendulum-v1", 20_000, PENDULUM, n_envs=4, verdict=FAULTY, link="reward_signal",
                               inside=lambda env: Rewards(env, lambda r, s, g: 1.0), note="the reward is always 1"),
    "dqn_reward_constant": Run(DQN, "Acrobot-v1", 20_000, DQN_CARTPOLE, log_interval=4, verdict=FAULTY,
                               link="reward_signal", inside=scaled(0.0), note="the reward is always 0"),
    "ppo_reward_flipped": Run(PPO, "CartPole-v1", 25_000, PLAIN, n_envs=4, inside=scaled(-1.0), verdict=HIDDEN,
                              link="reward_signal", note="sign of the reward flipped: it learns to fall at once"),
    "sac_reward_flipped": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, outside=scaled(-1.0), verdict=HIDDEN,
                              link="reward_signal", note="sign flipped above the Monitor"),
    "ppo_reward_outliers": Run(PPO, "CartPole-v1", 25_000, PLAIN, n_envs=4, verdict=HIDDEN, link="reward_signal",
                               inside=lambda env: Rewards(env, sometimes(0.002, 10_000.0)),
                               note="1 step in 500 pays plus or minus 10,000"),
    "ppo_reward_nan": Run(PPO, "CartPole-v1", 25_000, PLAIN, n_envs=4, verdict=FAULTY, link="reward_signal",
                          inside=lambda env: Rewards(env, from_step(3000, float("nan"))), note="NaN from step 12,000"),
    "dqn_reward_nan": Run(DQN, "CartPole-v1", 20_000, DQN_CARTPOLE, log_interval=10, verdict=FAULTY,
                          link="reward_signal", inside=lambda env: Rewards(env, from_step(8000, float("nan"))),
                          note="NaN from step 8,000"),
    "sac_reward_inf": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, verdict=FAULTY, link="reward_signal",
                          inside=lambda env: Rewards(env, from_step(2000, float("-inf"))), note="-inf from step 2,000"),
    "dqn_observation_nan": Run(DQN, "CartPole-v1", 20_000, DQN_CARTPOLE, log_interval=10, verdict=HIDDEN,
                               link="environment_data", inside=lambda env: Observations(env, nan_from(8000)),
                               note="an observation is NaN from step 8,000"),
    "ppo_lr_0": Run(PPO, "CartPole-v1", 20_000, {**PLAIN, "learning_rate": 0.0}, n_envs=4, verdict=FAULTY,
                    link="policy_update", note="learning rate 0"),
    "dqn_learning_starts": Run(DQN, "CartPole-v1", 20_000, {**DQN_CARTPOLE, "learning_starts": 50_000},
                               log_interval=10, verdict=FAULTY, link="data_freshness",
                               note="learning_starts 50,000 of 20,000 steps"),
    "ppo_minibatch_of_one": Run(PPO, "CartPole-v1", 15_000, {**PLAIN, "n_steps": 65, "batch_size": 64}, verdict=HIDDEN,
                                link="numerics", note="65 samples in minibatches of 64"),
    "dqn_gamma_0": Run(DQN, "CartPole-v1", 30_000, {**DQN_CARTPOLE, "gamma": 0.0}, log_interval=10, verdict=HIDDEN,
                       link="critic", note="discount factor 0"),
    "dqn_unmasked": Run(DQN, "CartPole-v1", 30_000, DQN_CARTPOLE, log_interval=10, extra=True, verdict=HIDDEN,
                        inside=lambda env: Endings(env, "unmasked"), link="environment_data",
                        note="failures are reported as time limits and bootstrapped through"),
    "ppo_ent_coef_10": Run(PPO, "CartPole-v1", 25_000, {**PLAIN, "ent_coef": 10.0}, n_envs=4, verdict=FAULTY,
                           link="exploration", note="entropy coefficient 10"),
    "ppo_pendulum_ent_coef": Run(PPO, "Pendulum-v1", 30_000, {**PENDULUM, "ent_coef": 1.0}, n_envs=4, verdict=FAULTY,
                                 link="exploration", note="entropy coefficient 1: the standard deviation grows"),
    "sac_ent_coef_10": Run(SAC, "PointMass", 4_000, {**SMALL_SAC, "ent_coef": 10.0}, log_interval=2, verdict=HIDDEN,
                           link="exploration", note="ent_coef fixed at 10 where a step costs about 1"),
    "sac_target_entropy": Run(SAC, "Pendulum-v1", 4_000, {**SMALL_SAC, "target_entropy": 5.0}, verdict=FAULTY,
                              link="exploration", note="target entropy 5 nats; one action in [-1, 1] has 0.69 at most"),
    "sac_tau_0": Run(SAC, "Pendulum-v1", 4_000, {**SMALL_SAC, "tau": 0.0}, verdict=HIDDEN, link="critic",
                     note="tau 0: the target network never moves"),
    "sac_twin_identical": Run(TwinSAC, "Pendulum-v1", 4_000, SMALL_SAC, extra=True, verdict=FAULTY, link="critic",
                              note="the second critic is a copy of the first"),
    "dqn_no_exploration": Run(DQN, "MountainCar-v0", 40_000, {**DQN_CAR, "exploration_fraction": 0.001,
                              "exploration_final_eps": 0.0}, log_interval=10, verdict=HIDDEN, link="exploration",
                              note="epsilon is 0 after 40 steps"),
    "ppo_stuck_done": Run(PPO, "CartPole-v1", 15_000, PLAIN, n_envs=4, inside=lambda env: Endings(env, "stuck"),
                          verdict=FAULTY, link="environment_data", note="every step ends the episode"),
    "dqn_time_limit": Run(DQN, "Acrobot-v1", 20_000, DQN_CARTPOLE, log_interval=20, limit=40, verdict=HIDDEN,
                          link="environment_data", note="time limit of 40 steps: the goal is out of reach"),
    "sac_action_scale": Run(SAC, "Pendulum-v1", 4_000, SMALL_SAC, outside=lambda env: Actions(env, 0.01),
                            verdict=HIDDEN, link="environment_data", note="actions reach the task times 0.01"),
    "ppo_eval_reward": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, evaluate=True, verdict=HIDDEN,
                           eval_wrap=scaled(0.05), link="evaluation_protocol", note="evaluated with the reward x0.05"),
    "ppo_eval_observation": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, evaluate=True, verdict=FAULTY,
                                eval_wrap=lambda env: Observations(env, lambda obs, _: obs[::-1].copy()),
                                link="evaluation_protocol", note="evaluated with the observation in reverse order"),
    "ppo_resume_lr_jump": Run(PPO, "CartPole-v1", 30_000, PLAIN, n_envs=4, resume="lr x100", verdict=FAULTY,
                              link="policy_update", note="resumed with a new optimiser and learning rate 0.1"),
    "ppo_no_advantage_norm": Run(PPO, "Pendulum-v1", 30_000, {**PENDULUM, "normalize_advantage": False,
                                 "max_grad_norm": 1e9}, n_envs=4, inside=scaled(100.0), verdict=HIDDEN,
                                 link="reward_signal", note="rewards x100 with advantages not normalised"),
    "ppo_vf_coef_0": Run(PPO, "CartPole-v1", 25_000, {**PLAIN, "vf_coef": 0.0}, n_envs=4, verdict=FAULTY,
                         link="critic", note="vf_coef 0: the critic does not learn"),
    "td3_critic_lr": Run(TD3, "Pendulum-v1", 4_000, SMALL_TD3, after=_critic_lr, verdict=FAULTY, link="critic",
                         note="critic's learning rate 0.3"),
    "ppo_value_clip_tiny": Run(PPO, "Pendulum-v1", 30_000, {**PENDULUM, "clip_range_vf": 0.001}, n_envs=4,
                               verdict=FAULTY, link="critic", note="value clip 0.001 with returns of hundreds"),
    "a2c_lr_x100": Run(A2C, "CartPole-v1", 25_000, {"learning_rate": 0.1}, n_envs=8, log_interval=20, verdict=HIDDEN,
                       link="policy_update", note="learning rate 0.1"),
    "dqn_lr_huge": Run(DQN, "CartPole-v1", 20_000, {**DQN_CARTPOLE, "learning_rate": 0.5}, log_interval=10,
                       verdict=HIDDEN, link="critic", note="learning rate 0.5"),
}  # fmt: skip
