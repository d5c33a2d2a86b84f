"""Exact checks of a trainer's code, in seconds and without training: log-probs, advantages, losses, targets, steps.

`pieces` says what is taken hold of, `adapters` fill it in, `bench` measures, `checks` ask one question each.
"""
