"""Measuring control trainers: `train(make_env, *, total_steps, seed) -> agent`, SB3 and TorchRL, on Gymnasium tasks.

Whatever is done to the reward, the observations or the trainer in an arm, agents are scored on the task as it is.
"""
