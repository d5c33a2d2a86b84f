"""Looks made before a run: environment, policy, reward, task, data, memory plan, and the trainer's code.

`firstbreak.preflight(...)` and `firstbreak preflight` go through the checklist; each room has an `api` of its own.
"""
