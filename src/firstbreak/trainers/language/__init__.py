"""Reference trainers of a tiny local language model: GRPO, RLHF-PPO, an asynchronous GRPO and a tool-using agent.

Nothing is downloaded: `model` is a causal transformer of 60,000 weights over 32 symbols, `tasks` are puzzles that a
few lines can verify, and `warm_start` teaches the model in seconds to solve about half of them. Like the reference
trainers for control, each has a class that owns models and optimiser, a frozen dataclass of settings with their
sources, equations that are methods of their own, and a function that trains:

    from firstbreak.trainers.language.grpo import train

    trainer = train(updates=120, seed=0, log=lambda metrics, update: print(metrics["reward/train_mean"]))

`log(metrics, update)` gets firstbreak's canonical names; training ends when its answer has a true `stop_training`.
Every part can be replaced from outside while training goes (`trainer.rewards["correct"] = ...`,
`trainer.config = replace(trainer.config, temperature=4.0)`), which is how faults are planted.

A seed fixes a run bit for bit on one machine and one number of threads; it seeds torch's global generator.
"""
