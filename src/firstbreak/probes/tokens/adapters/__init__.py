"""Trainers that are known, as `train(task, *, steps, seed, beta)`."""
