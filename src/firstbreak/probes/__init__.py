"""Probes: a ladder of tiny environments with known answers, on which a trainer's code is tried, part by part.

`firstbreak.probes.api:probe` climbs the ladder with one trainer. Each rung adds one component to those below it, knows
the closed-form answer, and knows which mistake leads to which wrong answer. The environments are plain factories in
`firstbreak.probes.environments.factories` and Gymnasium environments after `firstbreak.probes.register.register()`.
"""
