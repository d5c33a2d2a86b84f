"""Reference trainers: PPO, DQN, SAC and MM-RKHS, each small, correct and in one readable file, on TorchRL.

They are subjects known to be good, for the probes and the invariants to be tested on, and examples to compare one's own
trainer with. Each module has a class that owns environments, networks, optimisers and (off-policy) a replay buffer, a
frozen dataclass of settings with their sources, and a function that trains:

    from firstbreak.trainers import log_jsonl
    from firstbreak.trainers.ppo import train

    log = log_jsonl("run/metrics.jsonl", algorithm="PPO")
    agent = train(lambda: gymnasium.make("CartPole-v1"), total_steps=100_000, seed=0, log=log)
    agent.act(obs, deterministic=True), agent.value(obs)

Each equation is a method that can be called alone: `collect`, then `advantages` or `sample` and `td_target`, then
`loss`, whose terms add up to what `step` descends. `log(metrics, env_steps)` gets firstbreak's canonical names.

A seed fixes a run bit for bit on one machine; it seeds torch's global generator. Importing this package is light:
torch and TorchRL are imported by the modules of the trainers.
"""

from .jsonl_log import log_jsonl

__all__ = ["log_jsonl"]
